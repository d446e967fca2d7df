/* SPDX-License-Identifier: MIT */
/*
 * The manager's side of the lock-free systems, and their slow ways: the list of freed blocks, the
 * refill of bins from it and from the next malloc, misses first, and the drain of the list.
 */
#ifndef BENCH_HERRMANN_STOCK_H
#define BENCH_HERRMANN_STOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/figures.h"
#include "bench/herrmann/system.h"

/* How a system's bins are reached. */
struct stock_bins {
    /* Any thread: blocks that are there, and how many the bin wishes for. */
    long (*count)(unsigned bin);
    _Atomic long *(*wish)(unsigned bin);

    /* Any thread: the block that may be taken next; nothing but its place is looked at. */
    const void *(*first)(unsigned bin);

    /* Any thread: a block; NULL: there is none. */
    struct free_block *(*take)(unsigned bin);

    /* Any thread: adds a block that is freed. */
    void (*push)(unsigned bin, struct free_block *block);

    /* In a round: adds a chain, which is not empty. */
    void (*publish)(unsigned bin, struct block_chain chain);

    /* In a round: did nobody hold an address of a block that had left the bin before the call? */
    bool (*is_quiet)(unsigned bin);
};

/* At the library's start: these bins, and the manager that serves them. */
void stock_start(const struct stock_bins *bins);

/* Any thread: a block for a request whose bin has none; it has been counted as a call.  NULL: there
 * is no memory. */
void *stock_miss(unsigned bin, size_t size);

/* Any thread: a freed block for which its bin has no place. */
void stock_put(void *block);

/* At the end, for the figures. */
void stock_stop(void);

/* Any thread, at each allocation: asks for a refill now and then. */
void stock_ask_refill(void);

/* ---- a system's two calls: inline, with its own bins, which are a constant there ---- */

__attribute__((always_inline))
static inline void *stock_allocate(const struct stock_bins *bins, size_t size)
{
    unsigned bin = bin_of(size);
    struct free_block *block;

    if (bin >= BINS)
        return block_make_direct(size);
    __builtin_prefetch(bins->first(bin));
    if (++calls.allocations >= REFILL_PERIOD)
        stock_ask_refill();
    block = bins->count(bin) < 1 ? NULL : bins->take(bin);
    return block != NULL ? block : stock_miss(bin, size);
}

__attribute__((always_inline))
static inline void stock_release(const struct stock_bins *bins, void *block, unsigned bin)
{
    if (bin >= BINS) {
        block_destroy(block);
        return;
    }
    calls.releases++;
    if (bins->count(bin) < atomic_load_explicit(bins->wish(bin), memory_order_relaxed))
        bins->push(bin, block);
    else
        stock_put(block);
}

#endif
