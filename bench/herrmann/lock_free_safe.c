/* SPDX-License-Identifier: MIT */
/*
 * HERRMANN=lfb-safe: the lock-free bins of the thesis, mended for any number of threads.  Two
 * atomic operations a call, as there.  What is different from lock_free_bins.c:
 *
 * - The front of a bin is two words, the first block and how many blocks were taken from there, and
 *   is replaced by a compare-and-swap of 16 bytes.  A block that was taken and came back has raised
 *   the second word, so a thread that read a link before that fails and reads again.
 * - A chain of the manager's goes in at the front.  Where several threads return blocks, none of
 *   them knows which block is the last.
 * - A thread may read the link of a block that another one has taken and freed.  Its memory is
 *   there still: the manager destroys blocks of a bin only after a moment at which nobody was
 *   taking one.  The word of the count has in its upper half how many have begun to take one, and
 *   the front how many have done so; where the two are equal, nobody is between.
 *
 *   wish          any thread, by relaxed additions: a number for itself
 *   counted       any thread, by additions, acquire and release.  A block is linked before it is
 *                 counted, so a thread that has reserved one finds one.  The manager, too, reads it
 *                 by adding 0: a thread that begins to take a block later has that addition before
 *                 its own, so it sees all that the manager has seen, the removal of the blocks that
 *                 are destroyed among it
 *   front         replaced by any thread, by compare-and-swap, a full barrier.  Its words are read
 *                 apart, acquire, the number of taken ones first: a swap that succeeds shows that
 *                 nothing was taken since, so the block that was read next stood in the bin all the
 *                 time, and its link was right
 *   block->next   written by the thread that puts the block, before it swaps; read by threads that
 *                 take.  It is garbage of the program's once another thread has the block, and then
 *                 the swap fails
 */
#include "bench/herrmann/block.h"
#include "bench/herrmann/figures.h"
#include "bench/herrmann/stock.h"
#include "bench/herrmann/system.h"

enum { LINE_BYTES = 64, TRIES = 100 };

typedef unsigned __int128 two_words;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first block is the lower half of both words");

union front {
    two_words both;
    struct {
        _Atomic(struct free_block *) first;
        _Atomic uint64_t taken;
    };
};

_Static_assert(sizeof(union front) == sizeof(two_words), "both words are what is swapped");

static struct bin {
    _Alignas(LINE_BYTES) union front front;
    _Atomic uint64_t counted;
    _Atomic long wish;
} bins[BINS];

/* ---- counts ---- */

/* In counted: takes that have begun, above; blocks and a bias, below.  The bias is more than there
 * are threads that have subtracted one in vain, so nothing is ever borrowed from the upper half. */
#define BEGUN ((uint64_t)1 << 32)
#define BIAS ((uint64_t)1 << 31)

static inline long blocks_in(uint64_t counted)
{
    return (long)(counted & (BEGUN - 1)) - (long)BIAS;
}

static inline long count_of(unsigned bin)
{
    return blocks_in(atomic_load_explicit(&bins[bin].counted, memory_order_relaxed));
}

static _Atomic long *wish_of(unsigned bin)
{
    return &bins[bin].wish;
}

static const void *first_of(unsigned bin)
{
    return atomic_load_explicit(&bins[bin].front.first, memory_order_relaxed);
}

/* How many takes have begun and not ended. */
static uint32_t takes_under_way(struct bin *b)
{
    uint64_t taken = atomic_load_explicit(&b->front.taken, memory_order_acquire);

    return (uint32_t)(atomic_fetch_add_explicit(&b->counted, 0, memory_order_acq_rel) >> 32) - (uint32_t)taken;
}

/* ---- the front ---- */

static inline bool swap_front(struct bin *b, struct free_block *first, uint64_t taken, struct free_block *new_first,
                              uint64_t new_taken)
{
    return __sync_bool_compare_and_swap(&b->front.both, (two_words)taken << 64 | (uintptr_t)first,
                                        (two_words)new_taken << 64 | (uintptr_t)new_first);
}

/* After a reservation: there is a block. */
static inline struct free_block *pop(struct bin *b)
{
    struct free_block *block;
    uint64_t taken;

    do {
        taken = atomic_load_explicit(&b->front.taken, memory_order_acquire);
        block = atomic_load_explicit(&b->front.first, memory_order_acquire);
    } while (!swap_front(b, block, taken, block_next(block), taken + 1));
    return block;
}

static inline struct free_block *take(unsigned bin)
{
    struct bin *b = &bins[bin];

    if (blocks_in(atomic_fetch_add_explicit(&b->counted, BEGUN - 1, memory_order_acq_rel)) >= 1)
        return pop(b);
    atomic_fetch_sub_explicit(&b->counted, BEGUN - 1, memory_order_acq_rel);
    return NULL;
}

static inline void put(struct bin *b, struct free_block *head, struct free_block *tail, long n)
{
    struct free_block *first;
    uint64_t taken;

    do {
        taken = atomic_load_explicit(&b->front.taken, memory_order_acquire);
        first = atomic_load_explicit(&b->front.first, memory_order_relaxed);
        block_link(tail, first);
    } while (!swap_front(b, first, taken, head, taken));
    atomic_fetch_add_explicit(&b->counted, (uint64_t)n, memory_order_acq_rel);
}

static inline void push(unsigned bin, struct free_block *block)
{
    put(&bins[bin], block, block, 1);
}

static void publish(unsigned bin, struct block_chain chain)
{
    put(&bins[bin], chain.first, chain.last, chain.count);
}

static bool is_quiet(unsigned bin)
{
    for (int turn = 0; turn < TRIES; turn++)
        if (takes_under_way(&bins[bin]) == 0)
            return true;
    return false;
}

/* ---- the system ---- */

static const struct stock_bins reached = {
    .count = count_of, .wish = wish_of, .first = first_of, .take = take, .push = push, .publish = publish, .is_quiet = is_quiet
};

static void *allocate(size_t size)
{
    return stock_allocate(&reached, size);
}

static void release(void *block, unsigned bin)
{
    stock_release(&reached, block, bin);
}

static void start(void)
{
    for (unsigned bin = 0; bin < BINS; bin++)
        atomic_store(&bins[bin].counted, BIAS);
    stock_start(&reached);
}

/* Threads that were taking a block are not in the child; what they had reserved is free again. */
static void begin_in_child(void)
{
    for (unsigned bin = 0; bin < BINS; bin++) {
        uint64_t lost = takes_under_way(&bins[bin]);

        atomic_fetch_sub(&bins[bin].counted, lost * (BEGUN - 1));
    }
}

const struct system system_lock_free_safe = {
    .word = "lfb-safe", .allocate = allocate, .release = release, .start = start, .stop = stock_stop,
    .after_fork_in_child = begin_in_child
};
