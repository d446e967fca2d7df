/* SPDX-License-Identifier: MIT */
/*
 * malloc and free in pairs, the common path and nothing else:
 *
 *     hot      A: 64 bytes, freed at once
 *     batch    B: 1000 blocks of 16 to 512 bytes, then freed in the same order
 *     random   C: a table of 10 000 blocks of 16 to 512 bytes, of which a random one is replaced
 *     medium   1000 blocks of 1 to 21 KB, then freed in the same order
 *     remote   as batch, but another thread frees, while the next 1000 are allocated
 *     resize   no pairs, but one realloc each: a block has 100 and 104 bytes in turn
 *
 * The first word of each block is written, and looked at before the block is freed.  Each thread
 * has its own table.  Sizes are drawn before the work begins, so that the loop is short.
 *
 *     pairs [hot|batch|random|medium|remote|resize [PAIRS [THREADS]]]
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { HOT, BATCH, RANDOM, MEDIUM, REMOTE, RESIZE };
enum { HOT_BYTES = 64, BATCH_BLOCKS = 1000, TABLE_BLOCKS = 10000, SIZES = 8192, AHEAD = 2 };

struct job {
    int pattern;
    size_t pairs;               /* of each thread: a multiple of BATCH_BLOCKS */
};

/* A batch is in the hands of the thread that allocates, or of the one that frees. */
struct remote {
    sem_t filled, freed;
    size_t **table;             /* of AHEAD batches */
    size_t pairs;
};

static uint16_t sizes[SIZES];
static size_t *tables[CLIENT_THREADS_MAX][TABLE_BLOCKS];

static size_t *make(size_t size, size_t n)
{
    size_t *block = malloc(size);

    if (block == NULL)
        client_no_memory(size);
    *(volatile size_t *)block = n;
    return block;
}

static void destroy(size_t *block, size_t n)
{
    if (*(volatile size_t *)block != n)
        client_wrong("a block does not contain what was written into it");
    free(block);
}

static void run_hot(size_t pairs)
{
    for (size_t n = 0; n < pairs; n++)
        destroy(make(HOT_BYTES, n), n);
}

static void run_batch(size_t **table, size_t pairs)
{
    for (size_t n = 0; n < pairs; n += BATCH_BLOCKS) {
        for (size_t i = 0; i < BATCH_BLOCKS; i++)
            table[i] = make(sizes[(n + i) % SIZES], i);
        for (size_t i = 0; i < BATCH_BLOCKS; i++)
            destroy(table[i], i);
    }
}

static void run_random(size_t **table, size_t pairs)
{
    uint64_t state = client_seed(0);

    for (size_t i = 0; i < TABLE_BLOCKS; i++)
        table[i] = make(sizes[i % SIZES], i);
    for (size_t n = 0; n < pairs; n++) {
        size_t i = random_below(&state, TABLE_BLOCKS);

        destroy(table[i], i);
        table[i] = make(sizes[n % SIZES], i);
    }
    for (size_t i = 0; i < TABLE_BLOCKS; i++)
        destroy(table[i], i);
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        client_need(errno == EINTR, "sem_wait");
}

static size_t **batch_of(const struct remote *r, size_t n)
{
    return r->table + n / BATCH_BLOCKS % AHEAD * BATCH_BLOCKS;
}

static void *free_batches(void *arg)
{
    struct remote *r = arg;

    for (size_t n = 0; n < r->pairs; n += BATCH_BLOCKS) {
        size_t **batch = batch_of(r, n);

        await(&r->filled);
        for (size_t i = 0; i < BATCH_BLOCKS; i++)
            destroy(batch[i], i);
        sem_post(&r->freed);
    }
    return NULL;
}

static void run_remote(size_t **table, size_t pairs)
{
    struct remote r = { .table = table, .pairs = pairs };
    pthread_t thread;

    client_need(sem_init(&r.filled, 0, 0) == 0 && sem_init(&r.freed, 0, AHEAD) == 0, "sem_init");
    errno = pthread_create(&thread, NULL, free_batches, &r);
    client_need(errno == 0, "a thread cannot be created");
    for (size_t n = 0; n < pairs; n += BATCH_BLOCKS) {
        size_t **batch = batch_of(&r, n);

        await(&r.freed);
        for (size_t i = 0; i < BATCH_BLOCKS; i++)
            batch[i] = make(sizes[(n + i) % SIZES], i);
        sem_post(&r.filled);
    }
    pthread_join(thread, NULL);
}

static void run_resize(size_t pairs)
{
    size_t *block = make(100, pairs);

    for (size_t n = 0; n < pairs; n++) {
        size_t *resized = realloc(block, n % 2 == 0 ? 104 : 100);

        if (resized == NULL)
            client_no_memory(104);
        block = resized;
    }
    destroy(block, pairs);
}

static uint64_t work(void *arg, long i)
{
    const struct job *job = arg;

    if (job->pattern == HOT)
        run_hot(job->pairs);
    else if (job->pattern == RANDOM)
        run_random(tables[i], job->pairs);
    else if (job->pattern == REMOTE)
        run_remote(tables[i], job->pairs);
    else if (job->pattern == RESIZE)
        run_resize(job->pairs);
    else
        run_batch(tables[i], job->pairs);
    return job->pairs;
}

static void draw_sizes(size_t least, size_t most)
{
    uint64_t state = client_seed(1);

    for (size_t i = 0; i < SIZES; i++)
        sizes[i] = (uint16_t)(least + random_below(&state, most - least + 1));
}

int main(int argc, char **argv)
{
    struct job job = { .pattern = choice(argc, argv, 1, "hot|batch|random|medium|remote|resize") };
    long pairs = argument(argc, argv, 2, 20000000, BATCH_BLOCKS, 1000000000);
    long threads = argument(argc, argv, 3, 1, 1, CLIENT_THREADS_MAX);
    struct client_run run;

    job.pairs = (size_t)(pairs - pairs % BATCH_BLOCKS);
    client_begin();
    if (job.pattern == MEDIUM)
        draw_sizes(1025, 21 << 10);
    else
        draw_sizes(16, 512);
    run = client_together(work, &job, threads);
    client_figure("pairs", (double)job.pairs * (double)threads, "pairs");
    return client_end(run, (double)job.pairs);
}
