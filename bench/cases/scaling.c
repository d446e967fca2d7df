/* SPDX-License-Identifier: MIT */
/*
 * How much a second thread adds to allocation, beside how much it can add: caches and memory are shared, so two
 * threads that only write memory are not twice as fast as one either.  That is the control: the same bytes
 * written in the same order, objects one after the other, without an allocator.
 *
 * The control writes again and again to a buffer as large as what the collector let be allocated between two
 * collections (all threads together), so both go through the same caches.  Conservative objects are zeroed, and the
 * first word of each object is written, on both sides.
 *
 * Each thread is pinned to a processor, since those of a virtual machine are not alike, and what slows one comes and
 * goes in tenths of a second.  So a round is short: with the collector and without in turn, alone on each processor,
 * then on all at once.  Several cycles are run before, to learn how large the control's buffer is.  Medians of the rounds:
 *     scaling_gc, scaling_control     how many times the mean rate of one thread is the rate of all together
 *     scaling_relative                the first by the second
 *
 *     scaling [SIZE [conservative|pointer-free [THREADS [MEGABYTES [ROUNDS]]]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { CYCLES = 4, MOST_SLICES = 64 };

struct job {
    size_t size, cell;      /* requested; taken by an object of the control */
    int kind;
    size_t objects;         /* a thread */
    long first;             /* the processor of the first thread */
    size_t buffer;          /* bytes a thread */
    char **memory;          /* of each thread of the control */
};

static void pin(void *arg, long i)
{
    const struct job *job = arg;

    pin_thread(job->first + i);
}

/* ---- the two kinds of work ---- */

static void with_collector(void *arg, long i)
{
    const struct job *job = arg;

    (void)i;
    for (size_t n = job->objects; n > 0; n--)
        *(size_t volatile *)obtained(allocate(job->size, job->kind)) = n;
}

static void without(void *arg, long i)
{
    const struct job *job = arg;
    size_t cells = job->buffer / job->cell, next = 0;

    for (size_t n = job->objects; n > 0; n--) {
        char *p = job->memory[job->first + i] + next * job->cell;

        if (job->kind == CONSERVATIVE)
            memset(p, 0, job->cell);
        *(size_t volatile *)(void *)p = n;
        next = next + 1 < cells ? next + 1 : 0;
    }
}

/* ---- the control's memory ---- */

static size_t part(const struct job *job, long threads, size_t bytes)
{
    size_t each = bytes / (size_t)threads;

    return each < job->cell ? job->cell : each;
}

/* Memory the system has given already, as the heap's is by then. */
static void make_buffers(struct job *job, long threads, const size_t *cycle)
{
    size_t alone = part(job, 1, cycle[0]), together = part(job, threads, cycle[1]);
    size_t bytes = alone > together ? alone : together;

    for (long i = 0; i < threads; i++) {
        job->memory[i] = obtained(malloc(bytes));
        memset(job->memory[i], 1, bytes);
    }
}

/* What is allocated from one collection to the next by so many threads, all together. */
static size_t bytes_per_cycle(struct job *job, long threads)
{
    GC_word before = GC_get_gc_no();
    size_t collections, slices = 0;

    do {
        together_ns(pin, with_collector, job, threads);
        collections = (size_t)(GC_get_gc_no() - before);
        slices++;
    } while (collections < CYCLES && slices < MOST_SLICES);
    return slices * (size_t)threads * job->objects * job->cell / (collections > 0 ? collections : 1);
}

/* ---- rates ---- */

/* Slices of one thread in a nanosecond. */
static double rate(part_fn *work, struct job *job, long threads)
{
    return (double)threads / together_ns(pin, work, job, threads);
}

struct sides {
    double gc, control;
};

static struct sides rates(struct job *job, long threads, size_t cycle)
{
    struct sides r = { .gc = rate(with_collector, job, threads) };

    job->buffer = part(job, threads, cycle);
    r.control = rate(without, job, threads);
    return r;
}

struct results {
    double *gc, *control, *relative;
};

static void one_round(struct job *job, long threads, const size_t *cycle, struct results *r, size_t i)
{
    struct sides one = { 0 }, all;

    for (job->first = 0; job->first < threads; job->first++) {
        struct sides here = rates(job, 1, cycle[0]);
        one.gc += here.gc / (double)threads;
        one.control += here.control / (double)threads;
    }
    job->first = 0;
    all = rates(job, threads, cycle[1]);
    r->gc[i] = all.gc / one.gc;
    r->control[i] = all.control / one.control;
    r->relative[i] = r->gc[i] / r->control[i];
}

static double *numbers(size_t n)
{
    return obtained(calloc(n, sizeof(double)));
}

int main(int argc, char **argv)
{
    struct job job = {
        .size = (size_t)argument(argc, argv, 1, 64, (long)sizeof(size_t), 1 << 24),
        .kind = choice(argc, argv, 2, KIND_WORDS),
    };
    long threads = argument(argc, argv, 3, 2, 2, 1000);
    size_t megabytes = (size_t)argument(argc, argv, 4, 32, 1, 1 << 20);
    size_t n = (size_t)argument(argc, argv, 5, 21, 1, 1000), cycle[2];
    struct results r = { numbers(n), numbers(n), numbers(n) };

    case_begin();
    job.cell = (job.size + 16) & ~(size_t)15;
    job.objects = (megabytes << 20) / job.size;
    job.memory = obtained(calloc((size_t)threads, sizeof *job.memory));
    cycle[0] = bytes_per_cycle(&job, 1);
    cycle[1] = bytes_per_cycle(&job, threads);
    make_buffers(&job, threads, cycle);
    for (size_t i = 0; i < n; i++)
        one_round(&job, threads, cycle, &r, i);
    figures("scaling_relative", r.relative, n, "times");
    figures("scaling_gc", r.gc, n, "times");
    figures("scaling_control", r.control, n, "times");
    figure("cycle_mb", (double)cycle[1] / 1048576.0, "MB");
    case_end();
    return 0;
}
