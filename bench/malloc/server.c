/* SPDX-License-Identifier: MIT */
/*
 * Server threads that hand over.  A chain of threads has a table of blocks of 8 to 1000 bytes.  The
 * thread at work replaces random ones; after ROUNDS of that it makes its successor, which takes the
 * table over, and ends.  So blocks are freed by another thread than the one that allocated them,
 * and that one is gone.  Several chains run at once, and each frees its own blocks only.
 *
 *     server [CHAINS [THREADS-OF-A-CHAIN [ROUNDS]]]
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { SLOTS = 5000, LEAST = 8, MOST = 1000 };

struct slot {
    void *block;
    size_t size;
    uint64_t tag;
};

/* A chain belongs to its thread at work. */
struct chain {
    struct slot slot[SLOTS];
    uint64_t state, result;
    long threads_left, rounds;
    pthread_t before;           /* the thread that handed over, which the next one joins */
    bool has_before;            /* there was one */
    sem_t over;                 /* posted by the last thread, which is `before` then */
};

static struct chain chains[CLIENT_THREADS_MAX];

struct job {
    long threads, rounds;
};

static void fill(struct chain *c, struct slot *s)
{
    s->size = LEAST + random_below(&c->state, MOST - LEAST + 1);
    s->tag = random_next(&c->state);
    s->block = client_new(s->size, s->tag);
}

static void empty(struct chain *c, struct slot *s)
{
    client_free(s->block, s->size, s->tag);
    c->result += s->tag % 1000;
}

static void replace(struct chain *c)
{
    for (long n = 0; n < c->rounds; n++) {
        struct slot *s = &c->slot[random_below(&c->state, SLOTS)];

        empty(c, s);
        fill(c, s);
    }
}

static void *serve(void *arg);

static void begin_thread(struct chain *c)
{
    pthread_t thread;

    errno = pthread_create(&thread, NULL, serve, c);
    client_need(errno == 0, "a thread cannot be created; use fewer chains");
}

/* The chain is not this thread's any more once the next has begun, or `over` is posted. */
static void *serve(void *arg)
{
    struct chain *c = arg;

    if (c->has_before)
        pthread_join(c->before, NULL);
    replace(c);
    c->before = pthread_self();
    c->has_before = true;
    if (--c->threads_left > 0)
        begin_thread(c);
    else
        sem_post(&c->over);
    return NULL;
}

static uint64_t work(void *arg, long i)
{
    const struct job *job = arg;
    struct chain *c = &chains[i];

    c->state = client_seed(i);
    c->threads_left = job->threads;
    c->rounds = job->rounds;
    client_need(sem_init(&c->over, 0, 0) == 0, "sem_init");
    for (size_t n = 0; n < SLOTS; n++)
        fill(c, &c->slot[n]);
    begin_thread(c);
    while (sem_wait(&c->over) != 0)
        client_need(errno == EINTR, "sem_wait");
    pthread_join(c->before, NULL);
    for (size_t n = 0; n < SLOTS; n++)
        empty(c, &c->slot[n]);
    return c->result;
}

int main(int argc, char **argv)
{
    long count = argument(argc, argv, 1, 2, 1, CLIENT_THREADS_MAX);
    struct job job = {
        .threads = argument(argc, argv, 2, 50, 1, 1000000),
        .rounds = argument(argc, argv, 3, 100000, 1, 1000000000),
    };
    struct client_run run;

    client_begin();
    run = client_together(work, &job, count);
    client_figure("threads_made", (double)(count * job.threads), "threads");
    return client_end(run, (double)job.threads * (double)job.rounds);
}
