/* SPDX-License-Identifier: MIT */
/*
 * Mixed lives: each thread allocates a block in each step and frees those whose life is over.  Of
 * the lives 90 % are up to 16 steps, 5 % up to 2000 and 5 % up to LIFE_MAX.  Each doubling of size
 * from 48 bytes to 12 KB has as many blocks, and 1 block in 500 has 12 to 384 KB.  1 in 16 is of
 * calloc, which must be zero, 1 in 32 grows by realloc, which must keep its contents, and 1 in 500
 * is handed to another thread, which frees it.
 *
 *     mixed [THREADS [STEPS]]
 */
#include <stdatomic.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { THREADS_MAX = 16, LIFE_MAX = 1 << 18, SMALL = 48, LARGE = 12 << 10, HANDED = 64, ZERO_LOOKED_AT = 512 };

/* At the beginning of each block; the marked part is behind it. */
struct life {
    struct life *next;
    size_t size;                /* of the whole block */
    uint64_t tag, live;
};

struct job {
    long threads, steps;
};

/* The blocks whose life is over in the step that is i modulo LIFE_MAX; of one thread. */
static struct life *ends[THREADS_MAX][LIFE_MAX];

/* Blocks on their way to another thread: who puts one in takes out what was there, and frees it. */
static struct life *_Atomic handed[HANDED];

static size_t draw_size(uint64_t *state)
{
    size_t least = random_below(state, 500) == 0 ? (size_t)LARGE << random_below(state, 5)
                                                 : (size_t)SMALL << random_below(state, 8);

    return least + random_below(state, least);
}

static size_t draw_life(uint64_t *state)
{
    size_t kind = random_below(state, 100);
    size_t most = kind < 90 ? 16 : kind < 95 ? 2000 : LIFE_MAX - 1;

    return 1 + random_below(state, most);
}

static void check_zero(const struct life *block)
{
    const unsigned char *p = (const unsigned char *)block;
    size_t bytes = block->size < ZERO_LOOKED_AT ? block->size : ZERO_LOOKED_AT;

    for (size_t i = sizeof *block; i < bytes; i++)
        if (p[i] != 0)
            client_wrong("calloc returned a block that is not zero");
}

static void check(const struct life *block, size_t size)
{
    if (!client_is_marked(block + 1, size - sizeof *block, block->tag))
        client_wrong("a block does not contain what was written into it");
}

static struct life *grow(struct life *block)
{
    size_t before = block->size, size = before + before / 2;
    uint64_t tag = block->tag;
    struct life *grown;

    block->live = 0;
    grown = realloc(block, size);
    if (grown == NULL)
        client_no_memory(size);
    grown->live = client_live(grown);
    if (grown->size != before || grown->tag != tag)
        client_wrong("realloc lost the beginning of a block");
    check(grown, before);
    grown->size = size;
    client_mark(grown + 1, size - sizeof *grown, tag);
    return grown;
}

static struct life *make(uint64_t *state)
{
    size_t size = draw_size(state);
    bool zero = random_below(state, 16) == 0;
    struct life *volatile new = zero ? calloc(1, size) : malloc(size);  /* of unknown contents */
    struct life *block = new;

    if (block == NULL)
        client_no_memory(size);
    if (block->live == client_live(block))
        client_wrong("a block is in use already");
    block->live = client_live(block);
    block->size = size;
    if (zero)
        check_zero(block);
    block->tag = random_next(state);
    client_mark(block + 1, size - sizeof *block, block->tag);
    return random_below(state, 32) == 0 ? grow(block) : block;
}

static uint64_t destroy(struct life *block)
{
    uint64_t result = block->tag % 1000;

    check(block, block->size);
    block->live = 0;
    free(block);
    return result;
}

static uint64_t end_lives(struct life **list)
{
    uint64_t result = 0;

    for (struct life *block = *list, *next; block != NULL; block = next) {
        next = block->next;
        result += destroy(block);
    }
    *list = NULL;
    return result;
}

static uint64_t hand_over(struct life *block, size_t i)
{
    struct life *other = atomic_exchange(&handed[i], block);

    return other == NULL ? 0 : destroy(other);
}

static uint64_t work(void *arg, long i)
{
    const struct job *job = arg;
    uint64_t state = client_seed(i), result = 0;
    struct life **mine = ends[i];

    for (long step = 0; step < job->steps; step++) {
        struct life *block = make(&state);

        result += end_lives(&mine[step % LIFE_MAX]);
        if (random_below(&state, 500) == 0) {
            result += hand_over(block, random_below(&state, HANDED));
        } else {
            struct life **list = &mine[((size_t)step + draw_life(&state)) % LIFE_MAX];

            block->next = *list;
            *list = block;
        }
    }
    for (long end = 0; end < LIFE_MAX; end++)
        result += end_lives(&mine[end]);
    return result;
}

int main(int argc, char **argv)
{
    struct job job = {
        .threads = argument(argc, argv, 1, 1, 1, THREADS_MAX),
        .steps = argument(argc, argv, 2, 2000000, 1, 1000000000),
    };
    struct client_run run;

    client_begin();
    run = client_together(work, &job, job.threads);
    for (size_t i = 0; i < HANDED; i++)
        run.result += hand_over(NULL, i);
    return client_end(run, (double)job.steps);
}
