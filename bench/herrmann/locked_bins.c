/* SPDX-License-Identifier: MIT */
/*
 * HERRMANN=lb, the thesis's locked bins (6.2): the manager keeps blocks of each power of two ready,
 * in bins that are filled to half of what they wish for, and frees what lies in an array of freed
 * blocks.  A bin's first block is the one that came first.
 *
 *   bin           written and read under its lock: threads take the first block and raise the wish,
 *                 the manager appends
 *   bin.count     written under the lock; read without it, relaxed, by threads that wait, which
 *                 then take the lock
 *   freed         written and read under its lock: threads append, the manager takes
 *   freed.count   as bin.count
 *
 * No lock is taken under another one, nor while the manager is asked or a block is made or
 * destroyed; a fork takes all of them, in the order of bins, then freed.
 */
#include <pthread.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/figures.h"
#include "bench/herrmann/manager.h"
#include "bench/herrmann/system.h"

enum { LINE_BYTES = 64, TRIES = 100, FREED_PLACES = 2 * DRAIN_PERIOD_MAX };

static struct bin {
    _Alignas(LINE_BYTES) pthread_mutex_t lock;
    struct free_block *first, *last;
    atomic_long count;
    long wish;
} bins[BINS];

/* A circle of places: those in use begin at first. */
static struct {
    pthread_mutex_t lock;
    unsigned first, puts;
    atomic_uint count;
    void *place[FREED_PLACES];
} freed = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Counts that are written under a lock. */
static inline long count_of(struct bin *b)
{
    return atomic_load_explicit(&b->count, memory_order_relaxed);
}

static inline void set_count(struct bin *b, long count)
{
    atomic_store_explicit(&b->count, count, memory_order_relaxed);
}

static inline unsigned freed_count(void)
{
    return atomic_load_explicit(&freed.count, memory_order_relaxed);
}

static inline void set_freed_count(unsigned count)
{
    atomic_store_explicit(&freed.count, count, memory_order_relaxed);
}

/* ---- bins ---- */

/* NULL: there is none, and the wish has risen by so many. */
static struct free_block *take(struct bin *b, long more)
{
    struct free_block *block;

    pthread_mutex_lock(&b->lock);
    block = b->first;
    if (block != NULL) {
        b->first = block_next(block);
        set_count(b, count_of(b) - 1);
    } else if (b->wish < WISH_MAX) {
        b->wish += more;
    }
    pthread_mutex_unlock(&b->lock);
    return block;
}

/* Behind all others; the chain is not empty. */
static void append(struct bin *b, struct block_chain chain)
{
    block_link(chain.last, NULL);
    pthread_mutex_lock(&b->lock);
    if (b->first == NULL)
        b->first = chain.first;
    else
        block_link(b->last, chain.first);
    b->last = chain.last;
    set_count(b, count_of(b) + chain.count);
    pthread_mutex_unlock(&b->lock);
}

/* How many blocks are missing to half of the wish. */
static long missing(struct bin *b)
{
    long n;

    pthread_mutex_lock(&b->lock);
    n = (b->wish + 1) / 2 - count_of(b);
    pthread_mutex_unlock(&b->lock);
    return n;
}

/* ---- the array ---- */

/* False: it is full.  *due: it is time for a drain. */
static bool put_freed(void *block, bool *due)
{
    unsigned count;

    pthread_mutex_lock(&freed.lock);
    count = freed_count();
    if (count < FREED_PLACES) {
        freed.place[(freed.first + count) % FREED_PLACES] = block;
        set_freed_count(count + 1);
        freed.puts++;
    }
    *due = freed.puts >= herrmann_drain_period;
    if (*due)
        freed.puts = 0;
    pthread_mutex_unlock(&freed.lock);
    return count < FREED_PLACES;
}

/* NULL: it is empty. */
static void *take_freed(void)
{
    void *block = NULL;
    unsigned count;

    pthread_mutex_lock(&freed.lock);
    count = freed_count();
    if (count > 0) {
        block = freed.place[freed.first];
        freed.first = (freed.first + 1) % FREED_PLACES;
        set_freed_count(count - 1);
    }
    pthread_mutex_unlock(&freed.lock);
    return block;
}

/* ---- the manager ---- */

/* Blocks are made without the lock, then go into the bin at once. */
static void fill(unsigned bin, long n)
{
    struct block_chain chain = block_gather(bin, n, block_make);

    if (chain.count > 0)
        append(&bins[bin], chain);
}

static void serve(unsigned asked)
{
    void *block;

    if ((asked & MANAGER_REFILL) != 0) {
        figures_add(&figures.refills, 1);
        for (unsigned bin = 0; bin < BINS; bin++)
            fill(bin, missing(&bins[bin]));
    }
    if ((asked & MANAGER_DRAIN) != 0) {
        figures_add(&figures.drains, 1);
        while ((block = take_freed()) != NULL)
            block_destroy(block);
    }
}

/* ---- the program's threads ---- */

static bool has_block(unsigned bin)
{
    return count_of(&bins[bin]) > 0;
}

static bool has_room(unsigned bin)
{
    (void)bin;
    return freed_count() < FREED_PLACES;
}

static bool has_nothing(unsigned bin)
{
    (void)bin;
    return freed_count() == 0;
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

static void *miss(unsigned bin, size_t size)
{
    void *block;

    figures_add(&figures.misses, 1);
    for (int turn = 0; turn < TRIES; turn++) {
        manager_ask(MANAGER_REFILL);
        if (!manager_wait(has_block, bin))
            break;
        block = take(&bins[bin], 0);
        if (block != NULL)
            return block;
    }
    block = block_make_for(size);
    return block != NULL ? block : make_after_drain(size);
}

static void *allocate(size_t size)
{
    unsigned bin = bin_of(size);
    struct free_block *block;

    if (bin >= BINS)
        return block_make_direct(size);
    if (++calls.allocations >= REFILL_PERIOD) {
        figures_add_calls();
        manager_ask(MANAGER_REFILL);
    }
    block = take(&bins[bin], 1);
    return block != NULL ? block : miss(bin, size);
}

/* The array is full. */
static void release_late(void *block)
{
    bool due;

    manager_ask(MANAGER_DRAIN);
    if (!manager_wait(has_room, 0) || !put_freed(block, &due))
        block_destroy(block);
}

static void release(void *block, unsigned bin)
{
    bool due;

    if (bin >= BINS) {
        block_destroy(block);
        return;
    }
    calls.releases++;
    if (!put_freed(block, &due))
        release_late(block);
    else if (due)
        manager_ask(MANAGER_DRAIN);
}

/* ---- start, end and fork ---- */

static void start(void)
{
    for (unsigned bin = 0; bin < BINS; bin++)
        pthread_mutex_init(&bins[bin].lock, NULL);
    manager_start(serve);
}

static void stop(void)
{
    figures_add_calls();
    for (unsigned bin = 0; bin < BINS; bin++) {
        pthread_mutex_lock(&bins[bin].lock);
        figures_of_bin(count_of(&bins[bin]), bins[bin].wish);
        pthread_mutex_unlock(&bins[bin].lock);
    }
    figures_of_bin((long)freed_count(), 0);
}

static void before_fork(void)
{
    for (unsigned bin = 0; bin < BINS; bin++)
        pthread_mutex_lock(&bins[bin].lock);
    pthread_mutex_lock(&freed.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&freed.lock);
    for (unsigned bin = 0; bin < BINS; bin++)
        pthread_mutex_unlock(&bins[bin].lock);
}

const struct system system_locked_bins = {
    .word = "lb", .allocate = allocate, .release = release, .start = start, .stop = stop,
    .before_fork = before_fork, .after_fork = after_fork, .after_fork_in_child = after_fork
};
