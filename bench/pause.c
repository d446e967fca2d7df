/* SPDX-License-Identifier: MIT */
/*
 * What a pause contains beside marking: nothing that grows with the heap.
 *
 * Three heaps, each in a process of its own: an almost empty one, 4 GB of pointer-free objects that live in 1000 spans, and 1
 * GB of small objects that are all dead.  The world-stopped time, time to stop taken off, of the first collection of each
 * process and of the following ones, and the ratios to the empty heap's medians.  Before the first collection each process
 * writes memory that has nothing to do with the heap, so that all three begin it with cold caches.
 *
 *     bench/pause [ROUNDS [COLLECTIONS [MEGABYTES-PER-SPAN]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sgc.h"

#include "bench/measure.h"

enum { EMPTY, SPANS, DEAD, CASES };

static const char *const names[CASES] = { "almost empty", "1000 live spans", "1 GB dead small objects" };
static size_t span_bytes = 4 << 20;

static void **keep;

static void live_spans(void)
{
    for (int i = 0; i < 1000; i++) {
        keep[i] = GC_malloc_atomic(span_bytes - 1);
        if (keep[i] == NULL) {
            fprintf(stderr, "pause: no memory for %zu bytes; give a smaller span size\n", span_bytes);
            exit(1);
        }
        memset(keep[i], 1, span_bytes - 1);
    }
}

static void dead_objects(void)
{
    for (size_t i = 0; i < ((size_t)1 << 30) / 64; i++)
        *(void *volatile *)GC_malloc(63) = NULL;
}

static void cool_caches(void)
{
    size_t bytes = (size_t)256 << 20;
    char *elsewhere = malloc(bytes);

    if (elsewhere == NULL)
        return;
    memset(elsewhere, 1, bytes);
    __asm__ volatile("" : : "r"(elsewhere) : "memory");
    free(elsewhere);
}

static double pause_without_stop(void)
{
    struct SGC_stats before, after;

    SGC_get_stats(&before, sizeof before);
    GC_gcollect();
    SGC_get_stats(&after, sizeof after);
    return (double)(after.pause_ns - before.pause_ns - (after.stop_ns - before.stop_ns)) / 1e3;
}

/* Between collections the service thread gets time to finish, as it has in a program that runs. */
static void measure(double *figure, size_t n, long which)
{
    static const struct timespec while_serving = { 0, 60000000 };

    GC_INIT();
    keep = GC_malloc(1000 * sizeof *keep);
    GC_disable();
    if (which == SPANS)
        live_spans();
    else if (which == DEAD)
        dead_objects();
    GC_enable();
    cool_caches();
    for (size_t i = 0; i < n; i++) {
        figure[i] = pause_without_stop();
        nanosleep(&while_serving, NULL);
    }
}

/* Round by round in turn, so that a slow moment of the machine meets all cases. */
static void measure_all(double *first[CASES], double *rest[CASES], size_t rounds, size_t n)
{
    double *figure = malloc(n * sizeof *figure);

    if (figure == NULL)
        exit(1);
    for (size_t round = 0; round < rounds; round++) {
        for (long i = 0; i < CASES; i++) {
            in_child(measure, figure, n, i);
            first[i][round] = figure[0];
            memcpy(rest[i] + round * (n - 1), figure + 1, (n - 1) * sizeof *figure);
        }
    }
    free(figure);
}

static void print_case(int i, double *figures, size_t n, double *empty_median, const char *which)
{
    struct spread s = spread_of(figures, n);

    if (i == EMPTY)
        *empty_median = s.median;
    printf("%-26s %-6s %8.1f (%.1f to %.1f)   ratio %.2f\n", names[i], which, s.median, s.least, s.most,
           s.median / *empty_median);
}

int main(int argc, char **argv)
{
    size_t rounds = (size_t)argument(argc, argv, 1, 7, 1, 1000);
    size_t n = (size_t)argument(argc, argv, 2, 21, 2, 100000);
    double *first[CASES], *rest[CASES], empty_first = 0, empty_rest = 0;

    span_bytes = (size_t)argument(argc, argv, 3, 4, 1, 1024) << 20;
    for (int i = 0; i < CASES; i++) {
        first[i] = malloc(rounds * sizeof *first[i]);
        rest[i] = malloc(rounds * (n - 1) * sizeof *rest[i]);
        if (first[i] == NULL || rest[i] == NULL)
            return 1;
    }
    measure_all(first, rest, rounds, n);
    printf("world-stopped time without time to stop, microseconds: median (least to most)\n");
    for (int i = 0; i < CASES; i++) {
        print_case(i, first[i], rounds, &empty_first, "first");
        print_case(i, rest[i], rounds * (n - 1), &empty_rest, "later");
        free(first[i]);
        free(rest[i]);
    }
    return 0;
}
