/* SPDX-License-Identifier: MIT */
/*
 * GC_malloc and GC_free in pairs: what a program with explicit frees pays.
 *
 *     hot      each object is freed at once
 *     batch    1000 objects are allocated, then freed in the same order
 *     random   a table of 4096 objects, of which a random one is replaced by a new one
 *
 * The first word of each object is written.  Each thread has its own table and frees its own objects only.
 *
 *     pairs [hot|batch|random [SIZE [conservative|pointer-free [PAIRS [THREADS]]]]]
 */
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { HOT, BATCH, RANDOM };
enum { BATCH_OBJECTS = 1000, TABLE_OBJECTS = 4096 };

struct job {
    int pattern;
    size_t size;
    int kind;
    size_t pairs;
};

static void *make(const struct job *job, size_t n)
{
    size_t volatile *p = obtained(allocate(job->size, job->kind));

    *p = n;
    return (void *)(uintptr_t)p;
}

static void run_hot(const struct job *job)
{
    for (size_t n = 0; n < job->pairs; n++)
        GC_free(make(job, n));
}

static void run_batch(const struct job *job, void **table)
{
    for (size_t n = 0; n < job->pairs; n += BATCH_OBJECTS) {
        for (size_t i = 0; i < BATCH_OBJECTS; i++)
            table[i] = make(job, n);
        for (size_t i = 0; i < BATCH_OBJECTS; i++)
            GC_free(table[i]);
    }
}

/* The objects that fill the table at first are freed within the loop; those of the end stay behind. */
static void run_random(const struct job *job, void **table)
{
    uint64_t state = 88172645463325252u;

    for (size_t i = 0; i < TABLE_OBJECTS; i++)
        table[i] = make(job, i);
    for (size_t n = 0; n < job->pairs; n++) {
        size_t i = random_below(&state, TABLE_OBJECTS);

        GC_free(table[i]);
        table[i] = make(job, n);
    }
}

static void run(void *arg, long i)
{
    const struct job *job = arg;
    void **table = obtained(GC_malloc(TABLE_OBJECTS * sizeof *table));

    (void)i;
    if (job->pattern == HOT)
        run_hot(job);
    else if (job->pattern == BATCH)
        run_batch(job, table);
    else
        run_random(job, table);
    GC_reachable_here(table);
}

int main(int argc, char **argv)
{
    struct job job = {
        .pattern = choice(argc, argv, 1, "hot|batch|random"),
        .size = (size_t)argument(argc, argv, 2, 64, (long)sizeof(size_t), 1 << 30),
        .kind = choice(argc, argv, 3, KIND_WORDS),
        .pairs = (size_t)argument(argc, argv, 4, 10000000, BATCH_OBJECTS, 1000000000),
    };
    long threads = argument(argc, argv, 5, 1, 1, 10000);
    double ns;

    job.pairs -= job.pairs % BATCH_OBJECTS;
    case_begin();
    ns = together_ns(NULL, run, &job, threads);
    figure("ns_per_pair", ns / (double)job.pairs, "ns");
    figure("pairs", (double)threads * (double)job.pairs, "pairs");
    case_end();
    return 0;
}
