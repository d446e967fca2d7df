/* SPDX-License-Identifier: MIT */
/*
 * Batches of many sizes, freed in order and in reverse.  A batch has blocks of sizes from 8 to
 * 1000 bytes, many small and few large ones, allocated in turn.  It is freed when KEPT - 1 more
 * have been made: in the order of allocation, in reverse, or every second block in order and the
 * others in reverse.  Each thread has its own batches.
 *
 *     batches [THREADS [BATCHES]]
 */
#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { KEPT = 8, STEP = 8, MOST = 1000, SHARE = 2000, BLOCKS_MAX = 2000 };

struct blocks {
    uint64_t tag;               /* 0: there are none */
    void *block[BLOCKS_MAX];
};

/* The plan is that of each batch: the sizes in the order of allocation. */
static struct {
    size_t count;
    uint16_t size[BLOCKS_MAX];
} plan;

static struct blocks kept[CLIENT_THREADS_MAX][KEPT];

/* Of each size 1 + SHARE / size blocks, one of each size in turn while there are any. */
static void make_plan(void)
{
    for (size_t turn = 0; turn <= SHARE / STEP; turn++)
        for (size_t size = STEP; size <= MOST; size += STEP)
            if (turn < 1 + SHARE / size && plan.count < BLOCKS_MAX)
                plan.size[plan.count++] = (uint16_t)size;
}

static void make(struct blocks *b, uint64_t tag)
{
    b->tag = tag;
    for (size_t i = 0; i < plan.count; i++)
        b->block[i] = client_new(plan.size[i], tag + i);
}

static void free_one(struct blocks *b, size_t i)
{
    client_free(b->block[i], plan.size[i], b->tag + i);
}

static void free_in_order(struct blocks *b, size_t step)
{
    for (size_t i = 0; i < plan.count; i += step)
        free_one(b, i);
}

/* Of the blocks first, first + step and so on the last one goes first. */
static void free_in_reverse(struct blocks *b, size_t first, size_t step)
{
    for (size_t i = plan.count; i-- > 0;)
        if (i % step == first)
            free_one(b, i);
}

static uint64_t destroy(struct blocks *b, long turn)
{
    if (b->tag == 0)
        return 0;
    if (turn % 3 == 0) {
        free_in_order(b, 1);
    } else if (turn % 3 == 1) {
        free_in_reverse(b, 0, 1);
    } else {
        free_in_order(b, 2);
        free_in_reverse(b, 1, 2);
    }
    return b->tag % 1000;
}

static uint64_t work(void *arg, long i)
{
    long batches = *(const long *)arg;
    uint64_t state = client_seed(i), result = 0;

    for (long n = 0; n < batches; n++) {
        result += destroy(&kept[i][n % KEPT], n);
        make(&kept[i][n % KEPT], random_next(&state));
    }
    for (long k = 0; k < KEPT; k++)
        result += destroy(&kept[i][k], k);
    return result;
}

int main(int argc, char **argv)
{
    long threads = argument(argc, argv, 1, 1, 1, CLIENT_THREADS_MAX);
    long batches = argument(argc, argv, 2, 4000, 1, 1000000);
    struct client_run run;

    client_begin();
    make_plan();
    run = client_together(work, &batches, threads);
    client_figure("blocks_of_a_batch", (double)plan.count, "blocks");
    return client_end(run, (double)batches * (double)plan.count);
}
