/* SPDX-License-Identifier: MIT */
/*
 * Time to stop: busy threads, collections one after the other; time to stop is reported apart, and the
 * parts of each pause must add up to it.
 *
 *     bench/stop [THREADS [COLLECTIONS]]
 */
#define GC_THREADS
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sgc.h"

#include "bench/measure.h"

static atomic_int done;
static atomic_ulong work;

static void *busy(void *arg)
{
    unsigned long n = 0;

    while (!atomic_load_explicit(&done, memory_order_relaxed)) {
        void *volatile *p = GC_malloc(48);

        *p = arg;
        n++;
    }
    atomic_fetch_add(&work, n);
    return NULL;
}

struct sums {
    struct SGC_stats before, after;
};

static int parts_add_up(const struct sums *s)
{
    return s->after.pause_ns - s->before.pause_ns ==
           (s->after.stop_ns - s->before.stop_ns) + (s->after.mark_ns - s->before.mark_ns) +
               (s->after.other_ns - s->before.other_ns);
}

static void report(const char *name, double *figure, size_t n)
{
    struct spread s = spread_of(figure, n);

    printf("%-14s median %8.3f   least %8.3f   most %8.3f ms\n", name, s.median, s.least, s.most);
}

int main(int argc, char **argv)
{
    long threads = argument(argc, argv, 1, 64, 1, 10000);
    size_t n = (size_t)argument(argc, argv, 2, 50, 1, 100000);
    pthread_t *thread = malloc((size_t)threads * sizeof *thread);
    double *stop = malloc(n * sizeof *stop), *pause = malloc(n * sizeof *pause);
    int wrong = 0;

    GC_INIT();
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, busy, NULL) != 0) {
            fprintf(stderr, "stop: thread %ld cannot be created\n", i);
            return 1;
        }
    for (size_t i = 0; i < n; i++) {
        struct sums s;

        SGC_get_stats(&s.before, sizeof s.before);
        GC_gcollect();
        SGC_get_stats(&s.after, sizeof s.after);
        wrong += !parts_add_up(&s);
        stop[i] = (double)(s.after.stop_ns - s.before.stop_ns) / 1e6 /
                  (double)(s.after.collections - s.before.collections);
        pause[i] = (double)(s.after.pause_ns - s.before.pause_ns) / 1e6 /
                   (double)(s.after.collections - s.before.collections);
    }
    atomic_store(&done, 1);
    for (long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    printf("%ld busy threads, %zu explicit collections, %lu allocations meanwhile\n", threads, n,
           atomic_load(&work));
    report("time to stop", stop, n);
    report("whole pause", pause, n);
    printf("pauses whose parts do not add up: %d\n", wrong);
    return wrong != 0;
}
