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
 * Of each round: one thread and several with the collector, one and several without.  Medians of the rounds:
 *     scaling_gc, scaling_control     how many times the work of one thread is done in its time
 *     scaling_relative                the first by the second
 *
 *     scaling [SIZE [conservative|pointer-free [THREADS [MEGABYTES [ROUNDS]]]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

struct job {
    size_t size, cell;      /* requested; taken by an object of the control */
    int kind;
    size_t objects;         /* a thread */
    size_t buffer;          /* bytes a thread */
    char **memory;          /* of each thread of the control */
};

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
        char *p = job->memory[i] + next * job->cell;

        if (job->kind == CONSERVATIVE)
            memset(p, 0, job->cell);
        *(size_t volatile *)(void *)p = n;
        next = next + 1 < cells ? next + 1 : 0;
    }
}

/* Memory the system has given already, as the heap's is by then. */
static double control_ns(struct job *job, long threads, size_t bytes)
{
    double ns;

    job->buffer = bytes / (size_t)threads;
    if (job->buffer < job->cell)
        job->buffer = job->cell;
    for (long i = 0; i < threads; i++) {
        job->memory[i] = obtained(malloc(job->buffer));
        memset(job->memory[i], 1, job->buffer);
    }
    ns = together_ns(without, job, threads);
    for (long i = 0; i < threads; i++)
        free(job->memory[i]);
    return ns;
}

/* *cycle becomes what was allocated from one collection to the next. */
static double collector_ns(struct job *job, long threads, size_t *cycle)
{
    GC_word before = GC_get_gc_no();
    double ns = together_ns(with_collector, job, threads);
    size_t collections = (size_t)(GC_get_gc_no() - before);

    *cycle = (size_t)threads * job->objects * job->cell / (collections > 0 ? collections : 1);
    return ns;
}

struct results {
    double *gc, *control, *relative, *cycle_mb;
};

static void one_round(struct job *job, long threads, struct results *r, size_t i)
{
    size_t cycle_one, cycle_all;
    double one = collector_ns(job, 1, &cycle_one);
    double control_one = control_ns(job, 1, cycle_one);
    double all = collector_ns(job, threads, &cycle_all);
    double control_all = control_ns(job, threads, cycle_all);

    r->gc[i] = (double)threads * one / all;
    r->control[i] = (double)threads * control_one / control_all;
    r->relative[i] = r->gc[i] / r->control[i];
    r->cycle_mb[i] = (double)cycle_all / 1048576.0;
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
    size_t megabytes = (size_t)argument(argc, argv, 4, 128, 1, 1 << 20);
    size_t n = (size_t)argument(argc, argv, 5, 5, 1, 1000), unused;
    struct results r = { numbers(n), numbers(n), numbers(n), numbers(n) };

    case_begin();
    job.cell = (job.size + 16) & ~(size_t)15;
    job.objects = (megabytes << 20) / job.size;
    job.memory = obtained(calloc((size_t)threads, sizeof *job.memory));
    collector_ns(&job, threads, &unused);
    for (size_t i = 0; i < n; i++)
        one_round(&job, threads, &r, i);
    figures("scaling_relative", r.relative, n, "times");
    figures("scaling_gc", r.gc, n, "times");
    figures("scaling_control", r.control, n, "times");
    figures("cycle_mb", r.cycle_mb, n, "MB");
    case_end();
    return 0;
}
