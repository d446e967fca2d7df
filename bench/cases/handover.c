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

/* Whose number the word is has it. */
static void hand_over(void *arg, long i)
{
    (void)arg;
    for (int n = 0; n < TIMES; n++) {
        while (atomic_load_explicit(&word, memory_order_acquire) != i)
            continue;
        atomic_store_explicit(&word, 1 - i, memory_order_release);
    }
}

int main(void)
{
    case_begin();
    figure("handover_ns", best_ns(pin, hand_over, NULL, 2, ROUNDS) / TIMES, "ns");
    case_end();
    return 0;
}
