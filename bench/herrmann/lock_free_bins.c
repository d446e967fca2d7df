/* SPDX-License-Identifier: MIT */
/*
 * HERRMANN=lfb, the thesis's lock-free bins (6.3): two atomic operations a call.  A bin's count
 * reserves a block, the bin's first block is then taken by compare-and-swap; a reservation says
 * that a block is there.  Freed blocks go to the front of their bin, where the next request finds
 * them in the cache.  The manager appends behind the last block, which it reserves first.
 *
 * As in the thesis, a thread that takes a block reads the link of one that another thread may have
 * taken, and the front of the bin may be the same block again by then, with another link.  So this
 * is right for a single thread of the program only, and a second one is refused: HERRMANN=lfb-safe
 * is for those.
 *
 *   owner        written by the thread that calls first; read by all: a second one ends the program
 *   wish         written by the program; read by the program and the manager, relaxed: a number for
 *                itself
 *   count        program and manager, by additions, acquire and release: a block is linked before
 *                it is counted, so the thread that has reserved one finds one
 *   first        program and manager, by compare-and-swap.  The program alone takes blocks, so the
 *                link of the first block, which it reads, is that of the moment when it swaps.  The
 *                manager replaces nothing but NULL
 *   last         written by the thread whose compare-and-swap found the bin empty, before it counts
 *                its blocks, and by the manager while it has reserved the last block; read by the
 *                manager after a reservation, which sees a count that came after the last was
 *                written.  A bin with a reserved block is not empty, so two threads never write at
 *                once
 *   last->next   written by the manager while it has reserved the last block; read by the program
 *                after a reservation of a block that was counted later
 */
#include <sched.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/figures.h"
#include "bench/herrmann/message.h"
#include "bench/herrmann/stock.h"
#include "bench/herrmann/system.h"

enum { LINE_BYTES = 64 };

static struct bin {
    _Alignas(LINE_BYTES) _Atomic long wish;
    _Atomic long count;
    _Atomic(struct free_block *) first, last;
} bins[BINS];

/* ---- the one thread ---- */

/* A thread is known by where its own one lies. */
static __thread char here;
static _Atomic(const char *) owner;

static __attribute__((noinline)) void check_owner(void)
{
    const char *nobody = NULL;

    if (!atomic_compare_exchange_strong(&owner, &nobody, &here))
        message_refuse("a second thread allocates or frees, and HERRMANN=lfb is for programs of one thread: take lfb-safe");
}

static inline void check_thread(void)
{
    if (atomic_load_explicit(&owner, memory_order_relaxed) != &here)
        check_owner();
}

/* ---- bins ---- */

static long count_of(unsigned bin)
{
    return atomic_load_explicit(&bins[bin].count, memory_order_relaxed);
}

static _Atomic long *wish_of(unsigned bin)
{
    return &bins[bin].wish;
}

static const void *first_of(unsigned bin)
{
    return atomic_load_explicit(&bins[bin].first, memory_order_relaxed);
}

/* After a reservation: there is a block. */
static inline struct free_block *pop(struct bin *b)
{
    struct free_block *block = atomic_load_explicit(&b->first, memory_order_acquire);

    while (!atomic_compare_exchange_weak_explicit(&b->first, &block, block_next(block), memory_order_acq_rel,
                                                  memory_order_acquire))
        ;
    return block;
}

static inline struct free_block *take(unsigned bin)
{
    struct bin *b = &bins[bin];

    if (atomic_fetch_sub_explicit(&b->count, 1, memory_order_acq_rel) >= 1)
        return pop(b);
    atomic_fetch_add_explicit(&b->count, 1, memory_order_acq_rel);
    return NULL;
}

/* The program: before all others. */
static inline void push(unsigned bin, struct free_block *block)
{
    struct bin *b = &bins[bin];
    struct free_block *first = atomic_load_explicit(&b->first, memory_order_relaxed);

    do
        block_link(block, first);
    while (!atomic_compare_exchange_weak_explicit(&b->first, &first, block, memory_order_acq_rel, memory_order_relaxed));
    if (first == NULL)
        atomic_store_explicit(&b->last, block, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->count, 1, memory_order_acq_rel);
}

/* The manager.  False: there is no block to be reserved. */
static bool append(struct bin *b, struct block_chain chain)
{
    if (atomic_fetch_sub_explicit(&b->count, 1, memory_order_acq_rel) < 1) {
        atomic_fetch_add_explicit(&b->count, 1, memory_order_acq_rel);
        return false;
    }
    block_link(atomic_load_explicit(&b->last, memory_order_relaxed), chain.first);
    atomic_store_explicit(&b->last, chain.last, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->count, chain.count + 1, memory_order_acq_rel);
    return true;
}

/* The manager.  False: there are blocks. */
static bool put_into_empty(struct bin *b, struct block_chain chain)
{
    struct free_block *nobody = NULL;

    if (!atomic_compare_exchange_strong_explicit(&b->first, &nobody, chain.first, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    atomic_store_explicit(&b->last, chain.last, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->count, chain.count, memory_order_acq_rel);
    return true;
}

/* Where neither is possible the program is between a block and its count, for a moment. */
static void publish(unsigned bin, struct block_chain chain)
{
    block_link(chain.last, NULL);
    while (!append(&bins[bin], chain) && !put_into_empty(&bins[bin], chain))
        sched_yield();
}

/* The one thread of the program holds no address of a block that it has freed. */
static bool is_quiet(unsigned bin)
{
    (void)bin;
    return true;
}

/* ---- the system ---- */

static const struct stock_bins reached = {
    .count = count_of, .wish = wish_of, .first = first_of, .take = take, .push = push, .publish = publish, .is_quiet = is_quiet
};

static void *allocate(size_t size)
{
    check_thread();
    return stock_allocate(&reached, size);
}

static void release(void *block, unsigned bin)
{
    check_thread();
    stock_release(&reached, block, bin);
}

static void start(void)
{
    stock_start(&reached);
}

const struct system system_lock_free_bins = {
    .word = "lfb", .allocate = allocate, .release = release, .start = start, .stop = stock_stop
};
