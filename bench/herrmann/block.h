/* SPDX-License-Identifier: MIT */
/*
 * Blocks: memory of the next malloc with a header of 16 bytes before the program's part, which says
 * to which bin the block belongs.
 *
 *     next malloc's block:   | check | bin, amount | the program's part, aligned to 16 bytes ...
 *
 * Bin b has blocks of 16 << b bytes.  Larger blocks belong to no bin, BIN_DIRECT.  A place within a
 * block that satisfies an alignment has a second header, BIN_ALIGNED, which leads to the block.  An
 * address without a header's check is foreign: the next malloc's own.
 *
 * A header is written by the thread that makes the block, before it hands the block on.  From then
 * on it is only read, until the thread that destroys the block clears the check.
 */
#ifndef BENCH_HERRMANN_BLOCK_H
#define BENCH_HERRMANN_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEADER_BYTES = 16, BINS = 32 };

/* In the place of a bin's number.  What the amount means: the block's size (direct, early), or how
 * far behind the block's beginning this place lies (aligned). */
enum { BIN_DIRECT = BINS, BIN_EARLY, BIN_ALIGNED };

/* No request above is served: an amount has 48 bits. */
#define BLOCK_MAX ((size_t)1 << 46)

#define BLOCK_CHECK UINT64_C(0x9c5ba3d1e7406f28)

struct header {
    uint64_t check;             /* the block's address and BLOCK_CHECK */
    uint64_t word;              /* the bin in the low 16 bits, the amount above them */
};

_Static_assert(sizeof(struct header) == HEADER_BYTES, "the program's part is aligned as the block is");

/* A block that the program does not have is linked through its first word. */
struct free_block {
    _Atomic(struct free_block *) next;
};

static inline size_t bin_bytes(unsigned bin)
{
    return (size_t)16 << bin;
}

/* The bin for a request, or BINS or more if none is large enough. */
static inline unsigned bin_of(size_t size)
{
    return size <= 16 ? 0 : 60 - (unsigned)__builtin_clzl(size - 1);
}

static inline struct header *block_header(const void *block)
{
    return (struct header *)((uintptr_t)block - HEADER_BYTES);
}

static inline bool block_is_ours(const void *block)
{
    return block_header(block)->check == (BLOCK_CHECK ^ (uintptr_t)block);
}

static inline unsigned block_bin(const void *block)
{
    return (unsigned)(block_header(block)->word & 0xffff);
}

static inline size_t block_amount(const void *block)
{
    return (size_t)(block_header(block)->word >> 16);
}

/* Writes the header. */
static inline void block_mark(void *block, unsigned bin, size_t amount)
{
    struct header *header = block_header(block);

    header->check = BLOCK_CHECK ^ (uintptr_t)block;
    header->word = bin | (uint64_t)amount << 16;
}

static inline struct free_block *block_next(struct free_block *block)
{
    return atomic_load_explicit(&block->next, memory_order_relaxed);
}

static inline void block_link(struct free_block *block, struct free_block *next)
{
    atomic_store_explicit(&block->next, next, memory_order_relaxed);
}

/* How many bytes the program may use.  The block is ours. */
size_t block_usable(const void *block);

/* From the next malloc; NULL: it has no memory. */
void *block_make(unsigned bin);
void *block_make_direct(size_t size);

/* A block of the request's bin, or if that is too much, of the request's size. */
void *block_make_for(size_t size);

/* Blocks that are linked from the first to the last. */
struct block_chain {
    struct free_block *first, *last;
    long count;
};

/* Up to n blocks of a bin; get makes one, as block_make does, and ends it by NULL. */
struct block_chain block_gather(unsigned bin, long n, void *(*get)(unsigned bin));

/* Back to the next malloc; errno is kept. */
void block_destroy(void *block);

#endif
