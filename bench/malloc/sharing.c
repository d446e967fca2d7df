/* SPDX-License-Identifier: MIT */
/*
 * False sharing: objects of several threads on one cache line.  In each round each thread has an
 * object of 8 bytes, writes it many times, frees it and allocates the next.
 *
 *     active   each thread allocates all of its objects itself
 *     passive  the first object of each thread is allocated by the main thread, one after the
 *              other, and freed by the thread, which may be given that place again
 *
 * The addresses say whether objects shared a line (shared_rounds: in how many rounds two did), the
 * time says what that cost, unless there are fewer processors than threads.
 *
 *     sharing [active|passive [THREADS [ROUNDS [WRITES]]]]
 */
#include <pthread.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { ACTIVE, PASSIVE };
enum { LINE_LOG = 6 };

struct job {
    int how;
    long threads, rounds, writes;
    pthread_barrier_t barrier;
    long shared_rounds;         /* of thread 0 */
};

static uint64_t *first[CLIENT_THREADS_MAX];

/* Of the threads' objects in this round, between two meetings. */
static uintptr_t lines[CLIENT_THREADS_MAX];

static uint64_t *make(void)
{
    return client_new(sizeof(uint64_t), 0);
}

static bool any_shared(long threads)
{
    for (long i = 0; i < threads; i++)
        for (long j = 0; j < i; j++)
            if (lines[i] == lines[j])
                return true;
    return false;
}

static void meet(struct job *job)
{
    if (job->threads > 1)
        pthread_barrier_wait(&job->barrier);
}

static void write_often(uint64_t *object, long writes)
{
    volatile uint64_t *p = object;

    for (long n = 0; n < writes; n++)
        *p += 1;
    if (*p != (uint64_t)writes)
        client_wrong("an object was written by another thread");
    *p = 0;
}

static uint64_t work(void *arg, long i)
{
    struct job *job = arg;
    uint64_t *object = first[i];

    for (long round = 0; round < job->rounds; round++) {
        if (object != NULL)
            client_free(object, sizeof *object, 0);
        object = make();
        lines[i] = (uintptr_t)object >> LINE_LOG;
        meet(job);
        if (i == 0 && any_shared(job->threads))
            job->shared_rounds++;
        write_often(object, job->writes);
        meet(job);
    }
    client_free(object, sizeof *object, 0);
    return (uint64_t)job->rounds;
}

int main(int argc, char **argv)
{
    struct job job = {
        .how = choice(argc, argv, 1, "active|passive"),
        .threads = argument(argc, argv, 2, 2, 1, CLIENT_THREADS_MAX),
        .rounds = argument(argc, argv, 3, 1000, 1, 1000000),
        .writes = argument(argc, argv, 4, 100000, 1, 1000000000),
    };
    struct client_run run;

    client_begin();
    client_need(pthread_barrier_init(&job.barrier, NULL, (unsigned)job.threads) == 0, "pthread_barrier_init");
    for (long i = 0; job.how == PASSIVE && i < job.threads; i++)
        first[i] = make();
    run = client_together(work, &job, job.threads);
    client_figure("shared_rounds", (double)job.shared_rounds, "rounds");
    return client_end(run, (double)job.rounds * (double)job.writes);
}
