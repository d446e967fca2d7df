/* SPDX-License-Identifier: MIT */
/*
 * HERRMANN=magazine, what the thesis proposes and did not build (chapter 10): each thread has a
 * small buffer of its own, and exchanges whole chains of blocks with a buffer that all share and
 * that the manager keeps filled.  A call that finds its block in the thread's buffer has no atomic
 * operation; the others are one in as many as a chain has blocks.
 *
 * HERRMANN=magazine-off is the same without a manager: the control that shows what the manager adds.
 *
 * A thread has two magazines for each bin: one that it takes from and fills, and a spare one, which
 * is full or empty.  The depot has full ones only, each a chain with exactly as many blocks.
 * Blocks above 32 KB are the next malloc's business.
 *
 *   mine           written and read by its thread alone
 *   depot.bin      written and read under its lock: threads and the manager add and take chains,
 *                  threads raise the wish
 *   a chain        its blocks belong to the thread that took it from the depot; the lock orders
 *                  that thread after the one that put it there
 *   managed, key   written at the library's start; read by any thread, after it
 *
 * No lock is taken under another one, nor while the manager is asked or a block is made or
 * destroyed; a fork takes all of them, in the order of bins.  Blocks in the magazines of other
 * threads are lost to a child of fork.
 */
#include <pthread.h>

#include "bench/herrmann/block.h"
#include "bench/herrmann/figures.h"
#include "bench/herrmann/manager.h"
#include "bench/herrmann/system.h"

/* The depot may have so many chains more than its wish before the manager destroys some, and twice
 * as many before a thread destroys its own. */
enum { LINE_BYTES = 64, MAGAZINE_BINS = 12, CHAINS_MORE = 8 };

/* 64 blocks of a magazine, at most 32 KB, but two at least. */
static const unsigned char chain_blocks[MAGAZINE_BINS] = { 64, 64, 64, 64, 64, 64, 32, 16, 8, 4, 2, 2 };

/* ---- the depot ---- */

/* A chain is linked as blocks are; its first block has a second word. */
struct chain {
    struct free_block block;
    struct chain *rest;         /* of the chains in the depot */
};

static struct depot {
    _Alignas(LINE_BYTES) pthread_mutex_t lock;
    struct chain *chains;
    long count, wish;           /* in chains */
} depot[MAGAZINE_BINS];

static bool managed;

/* NULL: there is none, and the wish has risen.  *few: the manager is to make some. */
static struct chain *get_chain(unsigned bin, bool *few)
{
    struct depot *d = &depot[bin];
    struct chain *chain;

    pthread_mutex_lock(&d->lock);
    chain = d->chains;
    if (chain != NULL) {
        d->chains = chain->rest;
        d->count--;
    } else if (d->wish < WISH_MAX / chain_blocks[bin]) {
        d->wish++;
    }
    *few = d->count < (d->wish + 1) / 4 || chain == NULL;
    pthread_mutex_unlock(&d->lock);
    return chain;
}

/* Returns how many chains the depot has above what it keeps.  refuse: the chain is not added if there
 * are too many. */
static long put_chain(unsigned bin, struct chain *chain, bool refuse, bool *added)
{
    struct depot *d = &depot[bin];
    long above, keeps;

    pthread_mutex_lock(&d->lock);
    keeps = d->wish + CHAINS_MORE;
    *added = !refuse || d->count < (managed ? 2 * keeps : keeps);
    if (*added) {
        chain->rest = d->chains;
        d->chains = chain;
        d->count++;
    }
    above = d->count - keeps;
    pthread_mutex_unlock(&d->lock);
    return above;
}

static void destroy_list(struct free_block *block)
{
    struct free_block *next;

    for (; block != NULL; block = next) {
        next = block_next(block);
        block_destroy(block);
    }
}

/* ---- the manager ---- */

/* NULL: there is not enough memory for all of it. */
static struct chain *make_chain(unsigned bin)
{
    struct block_chain made = block_gather(bin, chain_blocks[bin], block_make);

    if (made.count == chain_blocks[bin])
        return (struct chain *)made.first;
    destroy_list(made.first);
    return NULL;
}

static long chains_missing(struct depot *d)
{
    long n;

    pthread_mutex_lock(&d->lock);
    n = (d->wish + 1) / 2 - d->count;
    pthread_mutex_unlock(&d->lock);
    return n;
}

static void refill(unsigned bin)
{
    for (long n = chains_missing(&depot[bin]); n > 0; n--) {
        struct chain *chain = make_chain(bin);
        bool added;

        if (chain == NULL)
            return;
        put_chain(bin, chain, false, &added);
    }
}

static void drain(unsigned bin)
{
    struct depot *d = &depot[bin];

    for (;;) {
        struct chain *chain = NULL;

        pthread_mutex_lock(&d->lock);
        if (d->count > d->wish + CHAINS_MORE) {
            chain = d->chains;
            d->chains = chain->rest;
            d->count--;
        }
        pthread_mutex_unlock(&d->lock);
        if (chain == NULL)
            return;
        destroy_list(&chain->block);
    }
}

static void serve(unsigned asked)
{
    if ((asked & MANAGER_REFILL) != 0)
        figures_add(&figures.refills, 1);
    if ((asked & MANAGER_DRAIN) != 0)
        figures_add(&figures.drains, 1);
    for (unsigned bin = 0; bin < MAGAZINE_BINS; bin++) {
        if ((asked & MANAGER_REFILL) != 0)
            refill(bin);
        if ((asked & MANAGER_DRAIN) != 0)
            drain(bin);
    }
}

static void ask(unsigned what)
{
    if (managed)
        manager_ask(what);
}

/* ---- a thread's magazines ---- */

struct magazine {
    struct free_block *first;
    unsigned count;
};

enum { FRESH, OPEN, ENDED };

static __thread struct {
    struct magazine loaded[MAGAZINE_BINS], spare[MAGAZINE_BINS];
    int state;
} mine;

static pthread_key_t key;

/* The value of the key makes the thread's end call end_thread.  Setting it may allocate: the thread
 * is open by then. */
static bool is_open(void)
{
    if (mine.state == FRESH) {
        mine.state = OPEN;
        pthread_setspecific(key, &mine);
    }
    return mine.state == OPEN;
}

/* What the thread calls later, in destructors of other keys, goes to the next malloc. */
static void end_thread(void *arg)
{
    (void)arg;
    mine.state = ENDED;
    figures_add_calls();
    for (unsigned bin = 0; bin < MAGAZINE_BINS; bin++) {
        destroy_list(mine.loaded[bin].first);
        destroy_list(mine.spare[bin].first);
        mine.loaded[bin] = mine.spare[bin] = (struct magazine){ NULL, 0 };
    }
}

static inline struct free_block *pop(struct magazine *m)
{
    struct free_block *block = m->first;

    m->first = block_next(block);
    m->count--;
    return block;
}

static inline void push(struct magazine *m, struct free_block *block)
{
    block_link(block, m->first);
    m->first = block;
    m->count++;
}

/* The loaded magazine is empty, unless opening the thread has filled it.  No thread waits: one that
 * finds no chain makes one block. */
static __attribute__((noinline)) void *allocate_slowly(unsigned bin, size_t size)
{
    struct magazine *m = &mine.loaded[bin], *spare = &mine.spare[bin];
    struct chain *chain;
    bool few;

    if (!is_open())
        return block_make_for(size);
    figures_add_calls();
    if (m->first != NULL)
        return pop(m);
    if (spare->first != NULL) {
        *m = *spare;
        *spare = (struct magazine){ NULL, 0 };
        return pop(m);
    }
    chain = get_chain(bin, &few);
    if (few)
        ask(MANAGER_REFILL);
    if (chain == NULL) {
        figures_add(&figures.misses, 1);
        return block_make_for(size);
    }
    m->first = &chain->block;
    m->count = chain_blocks[bin];
    return pop(m);
}

static void *allocate(size_t size)
{
    unsigned bin = bin_of(size);
    struct magazine *m;

    if (bin >= MAGAZINE_BINS)
        return block_make_direct(size);
    calls.allocations++;
    m = &mine.loaded[bin];
    return m->first != NULL ? pop(m) : allocate_slowly(bin, size);
}

static void give_chain(unsigned bin, struct free_block *first)
{
    bool added;
    long above = put_chain(bin, (struct chain *)first, true, &added);

    if (above > 0)
        ask(MANAGER_DRAIN);
    if (!added)
        destroy_list(first);
}

/* The loaded magazine is full, or the thread is new or at its end. */
static __attribute__((noinline)) void release_slowly(struct free_block *block, unsigned bin)
{
    struct magazine *m = &mine.loaded[bin], *spare = &mine.spare[bin];

    if (!is_open()) {
        block_destroy(block);
        return;
    }
    figures_add_calls();
    if (m->count >= chain_blocks[bin]) {
        struct free_block *full = spare->first;

        *spare = *m;
        *m = (struct magazine){ NULL, 0 };
        if (full != NULL)
            give_chain(bin, full);
    }
    push(m, block);
}

static void release(void *block, unsigned bin)
{
    struct magazine *m;

    if (bin >= MAGAZINE_BINS) {
        block_destroy(block);
        return;
    }
    calls.releases++;
    m = &mine.loaded[bin];
    if (m->count < chain_blocks[bin] && mine.state == OPEN)
        push(m, block);
    else
        release_slowly(block, bin);
}

/* ---- start, end and fork ---- */

static void start_unmanaged(void)
{
    for (unsigned bin = 0; bin < MAGAZINE_BINS; bin++)
        pthread_mutex_init(&depot[bin].lock, NULL);
    pthread_key_create(&key, end_thread);
}

static void start(void)
{
    start_unmanaged();
    managed = true;
    manager_start(serve);
}

/* Of threads, only the blocks of the one that ends the process are known. */
static void stop(void)
{
    figures_add_calls();
    for (unsigned bin = 0; bin < MAGAZINE_BINS; bin++) {
        struct depot *d = &depot[bin];

        pthread_mutex_lock(&d->lock);
        figures_of_bin(d->count * chain_blocks[bin], d->wish * chain_blocks[bin]);
        pthread_mutex_unlock(&d->lock);
        figures_of_bin((long)mine.loaded[bin].count + (long)mine.spare[bin].count, 0);
    }
}

static void before_fork(void)
{
    for (unsigned bin = 0; bin < MAGAZINE_BINS; bin++)
        pthread_mutex_lock(&depot[bin].lock);
}

static void after_fork(void)
{
    for (unsigned bin = 0; bin < MAGAZINE_BINS; bin++)
        pthread_mutex_unlock(&depot[bin].lock);
}

const struct system system_magazine = {
    .word = "magazine", .allocate = allocate, .release = release, .start = start, .stop = stop,
    .before_fork = before_fork, .after_fork = after_fork, .after_fork_in_child = after_fork
};

const struct system system_magazine_off = {
    .word = "magazine-off", .allocate = allocate, .release = release, .start = start_unmanaged, .stop = stop,
    .before_fork = before_fork, .after_fork = after_fork, .after_fork_in_child = after_fork
};
