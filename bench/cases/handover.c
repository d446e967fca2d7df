/* SPDX-License-Identifier: MIT */
/*
 * How far apart two processors are: two threads, each pinned to one, hand a word to and fro.  A virtual machine's processors
 * are moved from time to time, to cores that share a cache or to such that do not; then whatever threads share takes several
 * times as long.  The best of several rounds counts, since either processor may be taken away meanwhile.
 *
 *     handover        to and fro once, in nanoseconds
 */
#include <stdatomic.h>

#include "bench/cases/case.h"

enum { ROUNDS = 5, TIMES = 500 };

static _Alignas(64) atomic_long word;

static void pin(void *arg, long i)
{
    (void)arg;
    pin_thread(i);
}

/* Thread 0 makes the word odd, thread 1 even again. */
static void hand_over(void *arg, long i)
{
    (void)arg;
    for (long turn = i; turn < 2 * TIMES; turn += 2) {
        while (atomic_load_explicit(&word, memory_order_acquire) != turn)
            continue;
        atomic_store_explicit(&word, turn + 1, memory_order_release);
    }
}

int main(void)
{
    double best = 0;

    case_begin();
    for (int round = 0; round < ROUNDS; round++) {
        double ns;

        atomic_store(&word, 0);
        ns = together_ns(pin, hand_over, NULL, 2) / TIMES;
        best = round == 0 || ns < best ? ns : best;
    }
    figure("handover_ns", best, "ns");
    case_end();
    return 0;
}
