/* SPDX-License-Identifier: MIT */
/* Owns nothing; any thread. */
#include "bench/herrmann/block.h"

#include <errno.h>

#include "bench/herrmann/figures.h"
#include "bench/herrmann/next.h"

size_t block_usable(const void *block)
{
    unsigned bin = block_bin(block);
    size_t amount = block_amount(block);

    if (bin < BINS)
        return bin_bytes(bin);
    if (bin != BIN_ALIGNED)
        return amount;
    return block_usable((const char *)block - amount) - amount;
}

static void *make(unsigned bin, size_t size, size_t amount)
{
    char *memory = next_malloc(HEADER_BYTES + size);
    void *block;

    if (memory == NULL)
        return NULL;
    block = memory + HEADER_BYTES;
    block_mark(block, bin, amount);
    figures_add(&figures.made, 1);
    return block;
}

void *block_make(unsigned bin)
{
    return make(bin, bin_bytes(bin), 0);
}

void *block_make_direct(size_t size)
{
    return size > BLOCK_MAX ? NULL : make(BIN_DIRECT, size, size);
}

void *block_make_for(size_t size)
{
    unsigned bin = bin_of(size);
    void *block = bin < BINS ? block_make(bin) : NULL;

    return block != NULL ? block : block_make_direct(size);
}

struct block_chain block_gather(unsigned bin, long n, void *(*get)(unsigned bin))
{
    struct block_chain chain = { NULL, NULL, 0 };

    for (; chain.count < n; chain.count++) {
        struct free_block *block = get(bin);

        if (block == NULL)
            break;
        block_link(block, chain.first);
        chain.first = block;
        if (chain.last == NULL)
            chain.last = block;
    }
    return chain;
}

void block_destroy(void *block)
{
    struct header *header = block_header(block);
    int saved = errno;

    header->check = 0;
    next_free(header);
    errno = saved;
}
