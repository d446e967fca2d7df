/* SPDX-License-Identifier: MIT */
/*
 * What memory can do on this machine, without a collector: the limits that marking can come near to.
 *
 *     sequential      reading memory from one end to the other, 8 bytes at a time
 *     independent     loads at random addresses that are all known beforehand, prefetched a little ahead
 *     dependent       loads whose address the load before gave, all over the memory: nothing can be done ahead
 *
 * Each with one thread and with several, every thread with memory of its own.  The best of three rounds counts.
 *
 *     limits [THREADS [MEGABYTES]]        megabytes a thread
 */
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { AHEAD = 32, ROUNDS = 3, LINE_WORDS = 8 };

struct job {
    uint64_t **memory;          /* of each thread */
    size_t words, loads;
};

static uint64_t volatile sink;      /* what is read is used, or it would not be read */

static void sequential(void *arg, long i)
{
    const struct job *job = arg;
    const uint64_t *m = job->memory[i];
    uint64_t sum = 0;

    for (size_t w = 0; w < job->words; w++)
        sum += m[w];
    sink = sum;
}

static void independent(void *arg, long i)
{
    const struct job *job = arg;
    const uint64_t *m = job->memory[i];
    uint64_t ahead = 88172645463325252u, here = ahead, sum = 0;

    for (int k = 0; k < AHEAD; k++)
        __builtin_prefetch(&m[random_below(&ahead, job->words)]);
    for (size_t n = 0; n < job->loads; n++) {
        __builtin_prefetch(&m[random_below(&ahead, job->words)]);
        sum += m[random_below(&here, job->words)];
    }
    sink = sum;
}

static void dependent(void *arg, long i)
{
    const struct job *job = arg;
    const uint64_t *m = job->memory[i];
    uint64_t at = 0;

    for (size_t n = 0; n < job->loads / 8; n++)
        at = m[at];
    sink = at;
}

/* The first words of the lines form one ring in random order; the others are in nobody's way. */
static uint64_t *new_ring(size_t words)
{
    uint64_t *m = obtained(malloc(words * sizeof *m)), state = 88172645463325252u;

    for (size_t w = 0; w < words; w++)
        m[w] = w;
    for (size_t line = words / LINE_WORDS - 1; line > 0; line--) {
        size_t other = random_below(&state, line);
        uint64_t swapped = m[line * LINE_WORDS];

        m[line * LINE_WORDS] = m[other * LINE_WORDS];
        m[other * LINE_WORDS] = swapped;
    }
    return m;
}

static void report(struct job *job, long threads, const char *read, const char *independent_loads, const char *latency)
{
    double mb = (double)threads * (double)job->words * sizeof(uint64_t) / 1048576.0;
    double loads = (double)threads * (double)job->loads / 1e6;

    figure(read, mb / (best_ns(NULL, sequential, job, threads, ROUNDS) / 1e9), "MB/s");
    figure(independent_loads, loads / (best_ns(NULL, independent, job, threads, ROUNDS) / 1e9), "M/s");
    figure(latency, best_ns(NULL, dependent, job, threads, ROUNDS) / (double)(job->loads / 8), "ns");
}

int main(int argc, char **argv)
{
    long threads = argument(argc, argv, 1, 2, 1, 1000);
    size_t megabytes = (size_t)argument(argc, argv, 2, 256, 1, 1 << 20);
    struct job job = { .words = (megabytes << 20) / sizeof(uint64_t), .loads = megabytes << 15 };

    case_begin();
    job.memory = obtained(calloc((size_t)threads, sizeof *job.memory));
    for (long i = 0; i < threads; i++)
        job.memory[i] = new_ring(job.words);
    report(&job, 1, "sequential", "independent", "dependent");
    report(&job, threads, "sequential_all", "independent_all", "dependent_all");
    case_end();
    for (long i = 0; i < threads; i++)
        free(job.memory[i]);
    free(job.memory);
    return 0;
}
