/* SPDX-License-Identifier: MIT */
/*
 * Blocks that grow, and blocks with alignments.
 *
 *     large    one block grows to MEGABYTES by steps of 1 MB, and is written as it grows
 *     small    a thousand buffers grow by half of their size at random, from 32 bytes to 64 KB
 *     aligned  blocks of 16 to 8192 bytes, aligned to 32, 64, 128, 256 or 512: resident memory by
 *              what was asked for (waste)
 *
 *     resize [large|small|aligned [MEGABYTES]]
 */
#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { LARGE, SMALL, ALIGNED };
enum { MEGABYTE = 1 << 20, BUFFERS = 1000, BUFFER_LEAST = 32, BUFFER_MOST = 65536, ALIGNED_MOST = 8192 };

struct job {
    int how;
    size_t megabytes;
    double waste;
};

struct sized {
    void *block;
    size_t size;
};

static struct sized buffers[BUFFERS];

/* The tag of a megabyte is its number. */
static uint64_t grow_large(size_t megabytes)
{
    char *block = NULL;

    for (size_t n = 0; n < megabytes; n++) {
        char *grown = realloc(block, (n + 1) * MEGABYTE);

        if (grown == NULL)
            client_no_memory((n + 1) * MEGABYTE);
        block = grown;
        client_mark(block + n * MEGABYTE, MEGABYTE, n + 1);
    }
    for (size_t n = 0; n < megabytes; n++)
        if (!client_is_marked(block + n * MEGABYTE, MEGABYTE, n + 1))
            client_wrong("realloc lost a part of a block");
    free(block);
    return megabytes;
}

static void grow_buffer(struct sized *b, uint64_t tag)
{
    size_t size = b->size + b->size / 2;
    void *grown = realloc(b->block, size);

    if (grown == NULL)
        client_no_memory(size);
    if (!client_is_marked(grown, b->size, tag))
        client_wrong("realloc lost a part of a block");
    client_mark(grown, size, tag);
    *b = (struct sized){ grown, size };
}

/* As many bytes as that are allocated in all. */
static uint64_t grow_small(size_t megabytes)
{
    uint64_t state = client_seed(0), asked = 0;

    while (asked < megabytes * MEGABYTE) {
        size_t i = random_below(&state, BUFFERS);
        struct sized *b = &buffers[i];

        if (b->block != NULL && b->size > BUFFER_MOST) {
            client_free(b->block, b->size, i + 1);
            b->block = NULL;
        }
        if (b->block == NULL)
            *b = (struct sized){ client_new(BUFFER_LEAST, i + 1), BUFFER_LEAST };
        else
            grow_buffer(b, i + 1);
        asked += b->size;
    }
    for (size_t i = 0; i < BUFFERS; i++)
        if (buffers[i].block != NULL)
            client_free(buffers[i].block, buffers[i].size, i + 1);
    return asked;
}

struct aligned {
    struct aligned *next;
    size_t size;
};

static struct aligned *make_aligned(uint64_t *state, struct aligned *next)
{
    size_t alignment = (size_t)32 << random_below(state, 5);
    size_t size = 16 + random_below(state, ALIGNED_MOST - 16 + 1);
    void *block = NULL;

    if (posix_memalign(&block, alignment, size) != 0)
        client_no_memory(size);
    if ((uintptr_t)block % alignment != 0)
        client_wrong("posix_memalign returned a block that is not aligned");
    memset(block, 1, size);
    *(struct aligned *)block = (struct aligned){ next, size };
    return block;
}

static uint64_t allocate_aligned(struct job *job)
{
    uint64_t state = client_seed(0), asked = 0;
    double before = client_resident_mb();
    struct aligned *list = NULL;

    while (asked < job->megabytes * MEGABYTE) {
        list = make_aligned(&state, list);
        asked += list->size;
    }
    job->waste = (client_resident_mb() - before) * MEGABYTE / (double)asked;
    for (struct aligned *next; list != NULL; list = next) {
        next = list->next;
        free(list);
    }
    return asked;
}

static uint64_t work(void *arg, long i)
{
    struct job *job = arg;

    (void)i;
    if (job->how == LARGE)
        return grow_large(job->megabytes);
    return job->how == SMALL ? grow_small(job->megabytes) : allocate_aligned(job);
}

int main(int argc, char **argv)
{
    static const long megabytes[] = { 256, 4096, 256 };
    struct job job = { .how = choice(argc, argv, 1, "large|small|aligned") };
    struct client_run run;

    job.megabytes = (size_t)argument(argc, argv, 2, megabytes[job.how], 1, 1 << 20);
    client_begin();
    run = client_together(work, &job, 1);
    if (job.how == ALIGNED)
        client_figure("waste", job.waste, "times");
    return client_end(run, (double)job.megabytes);
}
