/* SPDX-License-Identifier: MIT */
/* A pause ends when all threads have been woken, not when they leave the collecting thread the processor again: with many
 * threads on one processor that takes some of the system's turns, of milliseconds each. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include "gc.h"
#include "gc/events/events.h"
#include "tests/lib/tap.h"
#include "tests/lib/white.h"

enum { THREADS = 6, CYCLES = 40 };

static const uint64_t SHORT_NS = 1000000;

static sgc_a32_t over;
static uint64_t resuming_ns[CYCLES];
static int cycles;

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    if (cycles < CYCLES)
        resuming_ns[cycles++] = record->times.phase_ns[SGC_PHASE_RESUME];
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

static void *work(void *arg)
{
    struct GC_stack_base base;

    (void)arg;
    sgc_verify(GC_get_stack_base(&base) == GC_SUCCESS && GC_register_my_thread(&base) == GC_SUCCESS);
    while (sgc_a32_load(&over) == 0)
        continue;
    sgc_verify(GC_unregister_my_thread() == GC_SUCCESS);
    return NULL;
}

static void on_one_processor(void)
{
    cpu_set_t all, one;
    int cpu = 0;

    sgc_verify(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sgc_verify(sched_setaffinity(0, sizeof one, &one) == 0);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

int main(void)
{
    pthread_t thread[THREADS];

    tap_plan(1);
    on_one_processor();
    white_init();
    GC_allow_register_threads();
    sgc_verify(sgc_listener_add(&listener));
    for (int i = 0; i < THREADS; i++)
        sgc_verify(pthread_create(&thread[i], NULL, work, NULL) == 0);
    for (int i = 0; i < CYCLES; i++)
        GC_gcollect();
    sgc_a32_store(&over, 1);
    for (int i = 0; i < THREADS; i++)
        sgc_verify(pthread_join(thread[i], NULL) == 0);
    qsort(resuming_ns, (size_t)cycles, sizeof *resuming_ns, compare);
    tap_ok(cycles == CYCLES && resuming_ns[CYCLES * 9 / 10] < SHORT_NS,
           "it takes no turn of the system's to let threads go on: half take at most %.3f ms, nine in ten %.3f",
           (double)resuming_ns[CYCLES / 2] / 1e6, (double)resuming_ns[CYCLES * 9 / 10] / 1e6);
    return tap_done();
}
