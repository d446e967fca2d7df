/* SPDX-License-Identifier: MIT */
/*
 * Producers and consumers: each block is allocated by one thread and freed by another, which is
 * alive.  Blocks of 16 to 512 bytes go through one queue in batches of 128; a producer waits while
 * the queue has QUEUE batches, so what lives at a time is bounded.
 *
 *     messages [PRODUCERS [CONSUMERS [BLOCKS-OF-A-PRODUCER]]]
 */
#include <pthread.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { BATCH = 128, QUEUE = 64, LEAST = 16, MOST = 512 };

struct batch {
    uint64_t tag;               /* of the first block; the next one has one more */
    void *block[BATCH];
    uint16_t size[BATCH];
};

/* All under the lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    struct batch batch[QUEUE];
    size_t put, taken;          /* how many there were of each */
    long producers;             /* that are not finished */
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .emptied = PTHREAD_COND_INITIALIZER };

struct job {
    long producers;
    size_t batches;
};

static void put(const struct batch *b)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.put - queue.taken == QUEUE)
        pthread_cond_wait(&queue.emptied, &queue.lock);
    queue.batch[queue.put++ % QUEUE] = *b;
    pthread_cond_signal(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
}

static void finish_producer(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.producers--;
    pthread_cond_broadcast(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
}

/* False: there will be no more. */
static bool take(struct batch *b)
{
    bool found;

    pthread_mutex_lock(&queue.lock);
    while (queue.put == queue.taken && queue.producers > 0)
        pthread_cond_wait(&queue.filled, &queue.lock);
    found = queue.put != queue.taken;
    if (found)
        *b = queue.batch[queue.taken++ % QUEUE];
    pthread_cond_signal(&queue.emptied);
    pthread_mutex_unlock(&queue.lock);
    return found;
}

static void produce(long i, size_t batches)
{
    uint64_t state = client_seed(i);
    struct batch b = { .tag = 0 };

    for (size_t n = 0; n < batches; n++) {
        b.tag = random_next(&state);
        for (size_t k = 0; k < BATCH; k++) {
            b.size[k] = (uint16_t)(LEAST + random_below(&state, MOST - LEAST + 1));
            b.block[k] = client_new(b.size[k], b.tag + k);
        }
        put(&b);
    }
    finish_producer();
}

static uint64_t consume(void)
{
    uint64_t result = 0;
    struct batch b = { .tag = 0 };

    while (take(&b))
        for (size_t k = 0; k < BATCH; k++) {
            client_free(b.block[k], b.size[k], b.tag + k);
            result += (b.tag + k) % 1000;
        }
    return result;
}

static uint64_t work(void *arg, long i)
{
    const struct job *job = arg;

    if (i >= job->producers)
        return consume();
    produce(i, job->batches);
    return 0;
}

int main(int argc, char **argv)
{
    long producers = argument(argc, argv, 1, 1, 1, CLIENT_THREADS_MAX / 2);
    long consumers = argument(argc, argv, 2, 1, 1, CLIENT_THREADS_MAX / 2);
    long blocks = argument(argc, argv, 3, 10000000, BATCH, 1000000000);
    struct job job = { producers, (size_t)blocks / BATCH };
    struct client_run run;

    queue.producers = producers;
    client_begin();
    run = client_together(work, &job, producers + consumers);
    client_figure("blocks", (double)producers * (double)job.batches * BATCH, "blocks");
    return client_end(run, (double)producers * (double)job.batches * BATCH);
}
