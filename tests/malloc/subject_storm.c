/* SPDX-License-Identifier: MIT */
/*
 * A storm on any malloc: threads allocate in all ways, put the blocks into places that all of them
 * have, and free what was there, whoever allocated it.  Contents are checked.
 *
 *     subject_storm THREADS STEPS
 *
 * Prints how many bytes were asked for, which does not depend on the malloc nor on the order in
 * which threads run.  Exit status: 1 if something was wrong.  With one thread the process stays
 * without others.
 */

#include "tests/lib/random.h"
#include "tests/lib/threads.h"
#include "tests/malloc/conform.h"

enum { SLOTS = 512, THREADS_MAX = 16, SMALL = 600, LARGE = 200000, ONE_LARGE_IN = 200, WAYS = 4 };

/* Its size is at the beginning of a block. */
struct block {
    size_t size;
    unsigned char rest[];
};

struct job {
    uint64_t state;
    long steps;
    size_t bytes;               /* that were asked for */
};

static struct block *_Atomic shared[SLOTS];
/* ---- ways to allocate ---- */

static void *resized(size_t size)
{
    size_t before = size / 2 + 1;
    void *block = conform_new(before, 1), *after = block != NULL ? realloc(block, size) : NULL;

    conform_expect(after != NULL && conform_is_filled(after, before < size ? before : size, 1));
    return after;
}

static void *cleared(size_t size)
{
    void *block = calloc(1, size);

    conform_expect(block != NULL && all_zero(block, size));
    return block;
}

static void *aligned(size_t alignment, size_t size)
{
    void *block = NULL;

    conform_expect(posix_memalign(&block, alignment, size) == 0 && (uintptr_t)block % alignment == 0);
    return block;
}

static struct block *make(struct job *job)
{
    uint32_t most = random_below(&job->state, ONE_LARGE_IN) == 0 ? LARGE : SMALL;
    size_t size = sizeof(struct block) + random_below(&job->state, most);
    uint32_t way = random_below(&job->state, WAYS), power = random_below(&job->state, 8);
    struct block *block = way == 0   ? resized(size)
                          : way == 1 ? cleared(size)
                          : way == 2 ? aligned((size_t)32 << power, size)
                                     : malloc(size);

    job->bytes += size;
    conform_expect(block != NULL);
    if (block != NULL) {
        block->size = size;
        conform_fill(block->rest, size - sizeof *block, (unsigned)size);
    }
    return block;
}

static void destroy(struct block *block)
{
    if (block == NULL)
        return;
    conform_expect(conform_is_filled(block->rest, block->size - sizeof *block, (unsigned)block->size));
    free(block);
}

/* ---- threads ---- */

static void *storm(void *arg)
{
    struct job *job = arg;

    for (long step = 0; step < job->steps; step++)
        destroy(atomic_exchange(&shared[random_below(&job->state, SLOTS)], make(job)));
    return NULL;
}

static void run(struct job *job, long threads)
{
    pthread_t thread[THREADS_MAX];

    for (long i = 1; i < threads; i++)
        thread[i] = thread_start(storm, &job[i]);
    storm(&job[0]);
    threads_join(thread + 1, (int)threads - 1);
    for (int i = 0; i < SLOTS; i++)
        destroy(atomic_exchange(&shared[i], NULL));
}

int main(int argc, char **argv)
{
    long threads = argc == 3 ? strtol(argv[1], NULL, 10) : 0, steps = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    struct job job[THREADS_MAX];
    size_t bytes = 0;

    if (threads < 1 || threads > THREADS_MAX || steps < 1) {
        fprintf(stderr, "subject_storm: expected 1 to %d threads and a number of steps\n", THREADS_MAX);
        return 2;
    }
    for (long i = 0; i < threads; i++)
        job[i] = (struct job){ (uint64_t)i * 2 + 1, steps, 0 };
    run(job, threads);
    for (long i = 0; i < threads; i++)
        bytes += job[i].bytes;
    printf("bytes %zu\n", bytes);
    return atomic_load(&conform_wrong) == 0 ? 0 : 1;
}
