/* SPDX-License-Identifier: MIT */
/*
 * Pauses as a mutator sees them: a thread does nothing but look at the clock, and each time it finds that more has
 * passed than it can have used, it was away.  Why it was away it cannot know: the collector, or the system that gave the
 * processor to somebody else.  Hence the control: intervals in which the other thread does not collect but
 * walks the same heap for as long as the last collection took.  The longest gap of each interval counts.
 *
 * An interval ends a little after its collection, so that what the collector does afterwards on threads of its own
 * falls into it.
 *
 *     pauses [MEGABYTES [COLLECTIONS [WATCHERS]]]      a tree of so many megabytes lives
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/cases/case.h"
#include "bench/cases/shapes.h"
#include "bench/measure.h"

enum { MOST_COLLECTIONS = 100000 };

static struct node *root;
static atomic_ulong interval;               /* from 1: odd ones collect; 0: not begun */
static atomic_int end;
static atomic_ulong longest[2 * MOST_COLLECTIONS + 1];     /* gap of each interval, ns */

/* By several watchers; the one with the longest wins. */
static void note(unsigned long i, unsigned long gap)
{
    unsigned long known = atomic_load_explicit(&longest[i], memory_order_relaxed);

    while (gap > known && !atomic_compare_exchange_weak(&longest[i], &known, gap))
        ;
}

/* A gap belongs to the interval in which it ends: the thread that collects does not begin another before all run. */
static void *watch(void *arg)
{
    uint64_t last = now_ns();

    (void)arg;
    while (!atomic_load_explicit(&end, memory_order_relaxed)) {
        unsigned long i = atomic_load_explicit(&interval, memory_order_relaxed);
        uint64_t now = now_ns();

        note(i, now - last);
        last = now;
    }
    return NULL;
}

static void settle(void)
{
    static const struct timespec while_serving = { 0, 10000000 };

    nanosleep(&while_serving, NULL);
}

static size_t walk(const struct node *n, uint64_t until)
{
    if (n == NULL || now_ns() >= until)
        return 0;
    return 1 + walk(n->edge[0], until) + walk(n->edge[1], until);
}

/* A collection, then its control; the time of the collection as its caller sees it. */
static double one_of_each(unsigned long i)
{
    uint64_t began, took;

    atomic_store(&interval, 2 * i + 1);
    began = now_ns();
    GC_gcollect();
    took = now_ns() - began;
    settle();
    atomic_store(&interval, 2 * i + 2);
    began = now_ns();
    while (now_ns() < began + took)
        if (walk(root, began + took) == 0)
            break;
    settle();
    return (double)took / 1e6;
}

static void report(double *ms, size_t n)
{
    double *gap = obtained(malloc(n * sizeof *gap)), pause, control;

    figures("collection_ms", ms, n, "ms");
    for (size_t i = 0; i < n; i++)
        gap[i] = (double)atomic_load(&longest[2 * i + 1]) / 1e6;
    figures("pause_ms", gap, n, "ms");
    pause = gap[n / 2];
    for (size_t i = 0; i < n; i++)
        gap[i] = (double)atomic_load(&longest[2 * i + 2]) / 1e6;
    figures("control_ms", gap, n, "ms");
    control = gap[n / 2];
    figure("pause_net_ms", pause - control, "ms");
    free(gap);
}

int main(int argc, char **argv)
{
    size_t bytes = (size_t)argument(argc, argv, 1, 64, 1, 1 << 20) << 20, objects, edges;
    size_t n = (size_t)argument(argc, argv, 2, 30, 1, MOST_COLLECTIONS);
    long watchers = argument(argc, argv, 3, 1, 1, 1000);
    pthread_t *thread = obtained(malloc((size_t)watchers * sizeof *thread));
    double *ms = obtained(malloc(n * sizeof *ms));

    case_begin();
    GC_disable();
    root = build_shape(TREE, bytes, &objects, &edges);
    GC_enable();
    GC_gcollect();
    for (long i = 0; i < watchers; i++)
        if (pthread_create(&thread[i], NULL, watch, NULL) != 0) {
            fprintf(stderr, "pauses: watcher %ld cannot be created; use fewer\n", i + 1);
            return 1;
        }
    settle();
    for (size_t i = 0; i < n; i++)
        ms[i] = one_of_each(i);
    atomic_store(&end, 1);
    for (long i = 0; i < watchers; i++)
        pthread_join(thread[i], NULL);
    report(ms, n);
    case_end();
    free(ms);
    free(thread);
    return 0;
}
