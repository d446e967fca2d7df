/* SPDX-License-Identifier: MIT */
/*
 * How much more markers add to marking, beside how much they can add: processors share caches and memory, and those
 * of a virtual machine are not always there.  The control is the same marking by processes that share nothing: each marks
 * a heap of its own with one marker.  Done at once, they show what the machine gives to two markers that never meet.
 *
 * Each heap is built and collected by a process of its own, which is told when to collect.  Of each round: one process
 * with one marker by itself; as many as there are markers, each with one, at once; one process with all markers.
 * Medians of the rounds:
 *     marking_scaling, marking_control    how many times the marking of one marker is done in its time
 *     marking_relative                    the first by the second
 *
 *     markers [tree|graph|list|array|large [MARKERS [MEGABYTES [ROUNDS]]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/cases/case.h"
#include "bench/cases/shapes.h"
#include "bench/measure.h"

static void *volatile root;         /* volatile: nobody reads it but the collector */

/* A process that collects when it gets a byte, and answers with a byte. */
struct worker {
    int order, answer;
    pid_t pid;
};

static void build(enum shape shape, size_t bytes)
{
    size_t objects, edges;

    GC_INIT();
    GC_start_mark_threads();    /* else bdwgc has none until a thread is created */
    GC_disable();
    root = build_shape(shape, bytes, &objects, &edges);
    GC_enable();
    GC_gcollect();
}

/* Until nobody gives orders any more. */
static void obey(int order, int answer)
{
    char byte = 0;

    do {
        need(write(answer, &byte, 1) == 1, "markers: a pipe");
        if (read(order, &byte, 1) != 1)
            _exit(0);
        GC_gcollect();
    } while (1);
}

static void wait_for(const struct worker *w)
{
    char byte;

    need(read(w->answer, &byte, 1) == 1, "markers: a process that marks has failed");
}

static struct worker start(enum shape shape, size_t bytes, long markers)
{
    int order[2], answer[2];
    char number[32];
    pid_t pid;

    need(pipe(order) == 0 && pipe(answer) == 0, "markers: pipe");
    fflush(NULL);
    pid = fork();
    need(pid >= 0, "markers: fork");
    if (pid == 0) {
        close(order[1]);
        snprintf(number, sizeof number, "%ld", markers);
        setenv("GC_MARKERS", number, 1);
        build(shape, bytes);
        obey(order[0], answer[1]);
    }
    close(order[0]);
    close(answer[1]);
    return (struct worker){ order[1], answer[0], pid };
}

/* It ends when nobody can give it orders any more.  Those that were started after it could, so these go first.  Waiting for it
 * counts its time as this program's. */
static void stop(const struct worker *w)
{
    close(w->order);
    close(w->answer);
    need(waitpid(w->pid, NULL, 0) == w->pid, "markers: waiting for a process that marked");
}

/* The time in which the first n of them collect, all at once. */
static double collection_ms(const struct worker *w, long n)
{
    uint64_t began = now_ns();
    char byte = 0;

    for (long i = 0; i < n; i++)
        need(write(w[i].order, &byte, 1) == 1, "markers: a process that marks has failed");
    for (long i = 0; i < n; i++)
        wait_for(&w[i]);
    return (double)(now_ns() - began) / 1e6;
}

static double *numbers(size_t n)
{
    return obtained(calloc(n, sizeof(double)));
}

static void measure(const struct worker *alone, const struct worker *together, long markers, size_t n)
{
    double *scaling = numbers(n), *control = numbers(n), *relative = numbers(n), *one = numbers(n), *all = numbers(n);

    for (size_t i = 0; i < n; i++) {
        one[i] = collection_ms(alone, 1);
        all[i] = collection_ms(together, 1);
        scaling[i] = one[i] / all[i];
        control[i] = (double)markers * one[i] / collection_ms(alone, markers);
        relative[i] = scaling[i] / control[i];
    }
    figures("marking_relative", relative, n, "times");
    figures("marking_scaling", scaling, n, "times");
    figures("marking_control", control, n, "times");
    figures("one_marker_ms", one, n, "ms");
    figures("all_markers_ms", all, n, "ms");
}

int main(int argc, char **argv)
{
    enum shape shape = (enum shape)choice(argc, argv, 1, SHAPE_WORDS);
    long markers = argument(argc, argv, 2, 2, 2, 1000);
    size_t bytes = (size_t)argument(argc, argv, 3, 256, 1, 1 << 20) << 20;
    size_t rounds = (size_t)argument(argc, argv, 4, 9, 1, 100000);
    struct worker *alone = obtained(calloc((size_t)markers, sizeof *alone)), together;

    /* One after the other, so that none lies in the gaps of another's memory. */
    for (long i = 0; i < markers; i++) {
        alone[i] = start(shape, bytes, 1);
        wait_for(&alone[i]);
    }
    together = start(shape, bytes, markers);
    wait_for(&together);
    case_begin();
    measure(alone, &together, markers, rounds);
    case_end();
    stop(&together);
    while (markers-- > 0)
        stop(&alone[markers]);
    free(alone);
    return 0;
}
