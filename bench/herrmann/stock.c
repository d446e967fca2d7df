/* SPDX-License-Identifier: MIT */
/*
 *   bins         written at the library's start; read by any thread, after it
 *   freed        any thread pushes by compare-and-swap, release; a round takes all of it by one
 *                exchange, acquire: the block's link comes before it.  No thread takes a single
 *                block, so no address can come back under a push
 *   put_count    any thread, by relaxed additions: a number for itself.  Threads do not count for
 *                themselves here, since many short ones would never ask for a drain
 *   missed       any thread sets the bit of a bin; a round takes all bits by one exchange.  The
 *                thread asks the manager afterwards, so a round sees the bit
 *   held         written and read in a round, under the manager's lock of rounds: blocks of each
 *                bin that were taken from freed and are neither used nor destroyed yet
 *   held_count   written in a round; read by the figures and by threads that find no memory: a
 *                number for itself
 */
#include "bench/herrmann/stock.h"

#include "bench/herrmann/figures.h"
#include "bench/herrmann/manager.h"
#include "bench/herrmann/system.h"

enum { TRIES = 100 };

static const struct stock_bins *bins;
static _Atomic(struct free_block *) freed;
static atomic_uint put_count, missed;
static struct free_block *held[BINS];
static atomic_long held_count;

_Static_assert(BINS <= 32, "missed has a bit for each");

/* ---- the list of freed blocks ---- */

static void push_freed(struct free_block *block)
{
    struct free_block *first = atomic_load_explicit(&freed, memory_order_relaxed);

    do
        block_link(block, first);
    while (!atomic_compare_exchange_weak_explicit(&freed, &first, block, memory_order_release, memory_order_relaxed));
}

static void hold(struct free_block *block)
{
    unsigned bin = block_bin(block);

    block_link(block, held[bin]);
    held[bin] = block;
    atomic_fetch_add_explicit(&held_count, 1, memory_order_relaxed);
}

static void hold_freed(void)
{
    struct free_block *block = atomic_exchange_explicit(&freed, NULL, memory_order_acquire), *next;

    for (; block != NULL; block = next) {
        next = block_next(block);
        hold(block);
    }
}

/* NULL: nothing of that bin is held. */
static struct free_block *take_held(unsigned bin)
{
    struct free_block *block = held[bin];

    if (block != NULL) {
        held[bin] = block_next(block);
        atomic_fetch_sub_explicit(&held_count, 1, memory_order_relaxed);
    }
    return block;
}

static void *get_block(unsigned bin)
{
    struct free_block *block = take_held(bin);

    return block != NULL ? block : block_make(bin);
}

/* ---- rounds ---- */

/* Before each single block that is made or destroyed: threads wait for these. */
static void serve_missed(void)
{
    unsigned bits = atomic_load_explicit(&missed, memory_order_relaxed);

    if (bits == 0)
        return;
    bits = atomic_exchange(&missed, 0);
    for (unsigned bin = 0; bin < BINS; bin++) {
        struct free_block *block = (bits >> bin & 1) != 0 ? get_block(bin) : NULL;

        if (block != NULL)
            bins->publish(bin, (struct block_chain){ block, block, 1 });
    }
    manager_changed();
}

static void *get_after_missed(unsigned bin)
{
    serve_missed();
    return get_block(bin);
}

/* Up to n blocks. */
static void fill(unsigned bin, long n)
{
    struct block_chain chain = block_gather(bin, n, get_after_missed);

    if (chain.count > 0)
        bins->publish(bin, chain);
}

/* To half of what a bin wishes for: the emptiest bins first. */
static void refill(void)
{
    figures_add(&figures.refills, 1);
    for (long part = 8; part >= 2; part /= 2)
        for (unsigned bin = 0; bin < BINS; bin++) {
            long wish = atomic_load_explicit(bins->wish(bin), memory_order_relaxed), count = bins->count(bin);

            if (count < (wish + 1) / part)
                fill(bin, (wish + 1) / 2 - count);
        }
}

/* A thread may be about to read a block that is being destroyed, if it had begun to take it when
 * another one took it: those wait for the next drain. */
static void drain(void)
{
    figures_add(&figures.drains, 1);
    for (unsigned bin = 0; bin < BINS; bin++) {
        struct free_block *block;

        if (held[bin] == NULL || !bins->is_quiet(bin))
            continue;
        while ((block = take_held(bin)) != NULL) {
            block_destroy(block);
            serve_missed();
        }
    }
}

static void serve(unsigned asked)
{
    hold_freed();
    serve_missed();
    if ((asked & MANAGER_REFILL) != 0)
        refill();
    if ((asked & MANAGER_DRAIN) != 0)
        drain();
}

void stock_start(const struct stock_bins *system_bins)
{
    bins = system_bins;
    manager_start(serve);
}

/* ---- the program's threads ---- */

static bool has_block(unsigned bin)
{
    return bins->count(bin) > 0;
}

/* Is all that was freed drained, or used again? */
static bool has_nothing(unsigned bin)
{
    (void)bin;
    return atomic_load(&freed) == NULL && atomic_load(&held_count) == 0;
}

/* The wish of the bin rises by one. */
static void wish_for_more(unsigned bin)
{
    _Atomic long *wish = bins->wish(bin);

    if (atomic_load_explicit(wish, memory_order_relaxed) < WISH_MAX)
        atomic_fetch_add_explicit(wish, 1, memory_order_relaxed);
}

static struct free_block *take_from_manager(unsigned bin)
{
    for (int turn = 0; turn < TRIES; turn++) {
        struct free_block *block;

        atomic_fetch_or(&missed, 1u << bin);
        manager_ask(MANAGER_REFILL);
        if (!manager_wait(has_block, bin))
            return NULL;
        block = bins->take(bin);
        if (block != NULL)
            return block;
    }
    return NULL;
}

/* The next malloc has no memory for this thread: it may have when what was freed has been drained. */
static void *make_after_drain(size_t size)
{
    if (has_nothing(0))
        return NULL;
    manager_ask(MANAGER_DRAIN);
    manager_wait(has_nothing, 0);
    return block_make_for(size);
}

void *stock_miss(unsigned bin, size_t size)
{
    void *block;

    wish_for_more(bin);
    figures_add(&figures.misses, 1);
    block = take_from_manager(bin);
    if (block == NULL)
        block = block_make_for(size);
    return block != NULL ? block : make_after_drain(size);
}

void stock_put(void *block)
{
    push_freed(block);
    if (atomic_fetch_add_explicit(&put_count, 1, memory_order_relaxed) % herrmann_drain_period == herrmann_drain_period - 1)
        manager_ask(MANAGER_DRAIN);
}

void stock_ask_refill(void)
{
    figures_add_calls();
    manager_ask(MANAGER_REFILL);
}

void stock_stop(void)
{
    long in_list = 0;

    figures_add_calls();
    for (unsigned bin = 0; bin < BINS; bin++)
        figures_of_bin(bins->count(bin), atomic_load(bins->wish(bin)));
    manager_hold_rounds();
    for (struct free_block *block = atomic_load(&freed); block != NULL; block = block_next(block))
        in_list++;
    manager_resume_rounds();
    figures_of_bin(in_list + atomic_load(&held_count), 0);
}
