/* SPDX-License-Identifier: MIT */
/*
 * Allocation by size: objects of one size, each dead as soon as the next one is there.
 *
 * Each thread allocates so many megabytes of requests; before that, the warm-up megabytes, in which the heap grows
 * and is used up once.  The first word of each object is written, of pointer-free ones too, since nobody allocates
 * what he does not write.
 *
 *     alloc [SIZE [conservative|pointer-free [THREADS [MEGABYTES [WARM-UP]]]]]
 */
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

struct job {
    size_t size;
    int kind;
    size_t objects;
};

static void run(void *arg, long i)
{
    const struct job *job = arg;

    (void)i;
    for (size_t n = job->objects; n > 0; n--)
        *(size_t volatile *)obtained(allocate(job->size, job->kind)) = n;
}

int main(int argc, char **argv)
{
    struct job job = {
        .size = (size_t)argument(argc, argv, 1, 64, (long)sizeof(size_t), 1 << 30),
        .kind = choice(argc, argv, 2, KIND_WORDS),
    };
    long threads = argument(argc, argv, 3, 1, 1, 10000);
    size_t measured = (size_t)argument(argc, argv, 4, 512, 1, 1 << 20) << 20;
    size_t warm = (size_t)argument(argc, argv, 5, 192, 0, 1 << 20) << 20;
    double ns;

    case_begin();
    job.objects = warm / job.size;
    together_ns(NULL, run, &job, threads);
    job.objects = measured / job.size + 1;
    ns = together_ns(NULL, run, &job, threads);
    figure("ns_per_object", ns / (double)job.objects, "ns");
    figure("mb_per_s", (double)threads * (double)job.objects * (double)job.size / 1048576.0 / (ns / 1e9), "MB/s");
    figure("objects", (double)threads * (double)job.objects, "objects");
    case_end();
    return 0;
}
