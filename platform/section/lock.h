/* SPDX-License-Identifier: MIT */
/*
 * Locks of the collector, ranked.
 *
 * A thread that holds a lock is inside a section and under a guard, so no lock is held by a stopped
 * thread, and no client handler can run or longjmp out of it.  Locks are taken in ascending rank;
 * debug builds check that.  A thread that has to wait for its first lock leaves the section for the
 * wait, so that it can be stopped meanwhile; one that already holds a lock waits inside, which is
 * bounded because every holder is inside a bounded section.
 *
 * Threads without a section (self == NULL) may use locks only while they cannot be stopped: before
 * the first thread is registered, and in the child of a fork.
 *
 *   word: 0 free, 1 held, 2 held and somebody sleeps.  Written by the thread that takes or frees
 *   the lock: taking is an acquire, freeing a release on this word, which hands over everything
 *   written under it.
 */
#ifndef SGC_PLATFORM_SECTION_LOCK_H
#define SGC_PLATFORM_SECTION_LOCK_H

#include "platform/section/section.h"

enum sgc_lock_rank {
    SGC_RANK_REGISTRY = 0,      /* gc: the list of threads, and the root ranges that were added */
    SGC_RANK_NODES,             /* gc: memory of the finalization tables */
    SGC_RANK_CACHE,             /* alloc: one cache's page lists */
    SGC_RANK_SPANS,             /* alloc: the lists of large objects */
    SGC_RANK_ORPHANS,           /* alloc: pages without an owner */
    SGC_RANK_POOL,              /* alloc: free pages and arenas */
    SGC_RANK_DATES,             /* shortterm: sgc_shortterm_lock */
    SGC_RANK_SITES,             /* gc: samples of what is allocated */
    SGC_RANK_COUNT
};

struct sgc_lock {
    sgc_a32_t word;
    uint32_t rank;
};

#define SGC_LOCK_INIT(r) { .rank = (r) }

void sgc_lock(struct sgc_lock *lock, struct sgc_section *self);
void sgc_unlock(struct sgc_lock *lock, struct sgc_section *self);

/* Does anybody hold it?  For assertions of what runs under it, on whichever thread. */
static inline bool sgc_lock_taken(const struct sgc_lock *lock)
{
    return sgc_a32_load(&lock->word) != 0;
}

/* In the child of a fork: the lock's holder may not exist here. */
void sgc_lock_reset(struct sgc_lock *lock);

#endif
