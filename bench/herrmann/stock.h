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

/* How a system's bins are reached. */
struct stock_bins {
    /* Any thread: blocks that are there, and how many the bin wishes for. */
    long (*count)(unsigned bin);
    _Atomic long *(*wish)(unsigned bin);

    /* Any thread: a block; NULL: there is none.  puts back what the program did not ask for. */
    struct free_block *(*take)(unsigned bin);

    /* In a round: adds n blocks that are linked from first to last. */
    void (*publish)(unsigned bin, struct free_block *first, struct free_block *last, long n);

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

#endif
