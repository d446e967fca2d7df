/* SPDX-License-Identifier: MIT */
/*
 * First touch: so many megabytes of 64-byte blocks that are all written and kept.  The time is that
 * of allocating and writing; an operation is a piece of 64 KB, in which a thread has 16 faults if
 * nobody has touched it before.  own_faults are those of this thread, without an allocator's own.
 *
 *     growing [MEGABYTES]
 */
#include <sys/resource.h>

#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { PIECES_OF_A_MEGABYTE = 16, BLOCKS_OF_A_PIECE = 1024 };

struct block {
    struct block *next;
    uint64_t number[7];
};

static struct block *kept;

static long own_faults(void)
{
    struct rusage used;

    client_need(getrusage(RUSAGE_THREAD, &used) == 0, "getrusage");
    return used.ru_minflt;
}

static uint64_t grow(void *arg, long i)
{
    size_t blocks = *(const size_t *)arg;

    (void)i;
    for (size_t n = 0; n < blocks; n++) {
        struct block *block = malloc(sizeof *block);

        if (block == NULL)
            client_no_memory(sizeof *block);
        block->next = kept;
        for (size_t k = 0; k < sizeof block->number / sizeof *block->number; k++)
            block->number[k] = n + k;
        kept = block;
    }
    return blocks;
}

static void destroy_all(size_t n)
{
    while (n-- > 0) {
        struct block *block = kept;

        if (block->number[0] != n || block->number[6] != n + 6)
            client_wrong("a block has lost its contents");
        kept = block->next;
        free(block);
    }
}

int main(int argc, char **argv)
{
    size_t pieces = (size_t)argument(argc, argv, 1, 256, 1, 16384) * PIECES_OF_A_MEGABYTE, blocks = pieces * BLOCKS_OF_A_PIECE;
    struct client_run run;
    long faults;

    client_begin();
    faults = own_faults();
    run = client_together(grow, &blocks, 1);
    client_figure("own_faults", (double)(own_faults() - faults), "faults");
    destroy_all(blocks);
    return client_end(run, (double)pieces);
}
