/* SPDX-License-Identifier: MIT */
/*
 * Pages that no thread owns, by kind and size class: their owner has ended, or has not needed that
 * class for long, or they had none from the start (sgc_shared_claim).  The thread that holds the
 * lock may do to them what an owner may do to its page.
 *
 *   lists        under the orphans' lock, by anybody
 *   count        written under the orphans' lock; read by anybody, relaxed: a stale value costs one
 *                look, or leaves an orphan for the next
 *   page tags    of SGC_ORPHANS exactly while here; the thread that adopts a page writes its own,
 *                under the same lock
 *   inbox        alloc/small/remote_free.h
 */
#ifndef SGC_ALLOC_SMALL_ORPHAN_H
#define SGC_ALLOC_SMALL_ORPHAN_H

#include "alloc/pages/pool.h"
#include "alloc/small/cache.h"

struct sgc_orphans {
    struct sgc_lock lock;
    sgc_aw_t count;             /* of orphans, so that nobody looks when there are none */
};
SGC_INNER struct sgc_orphans sgc_orphans;

/* Takes over up to `max` pages with free slots of ended threads and makes them ready for claiming;
 * how many.  Outside sections. */
uint32_t sgc_orphan_adopt(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max);

/* Makes the pages of a list orphans, at most `max`; true if there are more.  Under the cache's
 * lock. */
bool sgc_orphan_leave(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max);

/* Makes a page that nobody else knows an orphan, with free slots only.  Outside sections. */
void sgc_orphan_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken);

/* Sweeps up to `max` orphans, giving empty ones back, also of those swept before that others have
 * freed something in.  False if none was left to sweep, or while a mark goes on beside the program:
 * then orphans may be adopted, but not taken down.  Outside sections. */
bool sgc_orphan_sweep(uint32_t max, struct sgc_section *self);

/* The object at the granule has been freed, in a page that may be an orphan's: if nothing is left
 * there, it goes to the pool.  Threads that free the last objects of a page at once may miss that:
 * then it waits until orphans are looked at next.  Any thread, outside sections. */
void sgc_orphan_freed(size_t granule, struct sgc_section *self);

void sgc_orphan_check(void);

/* ---- pages that threads do not need ----
 *
 * They are left to all threads as orphans, like those of threads that have ended.
 *
 *   asked        the epoch for which idle bins have been looked for: written by the thread that
 *                looks for them, by compare-and-swap; read by anybody, relaxed
 *   stay         a layer on top that has objects counted by the owners of their pages: once, before
 *                it counts any; read by anybody, relaxed
 */

struct sgc_leave {
    sgc_a32_t asked;
    sgc_a32_t stay;             /* pages do not change owners while these live */
};
SGC_INNER struct sgc_leave sgc_leave;

/* Once an epoch: bins whose thread has claimed nothing in all of the last one give up the pages
 * that nobody has swept since.  True if this call has looked.  Under a guard, outside sections. */
bool sgc_leave_idle(struct sgc_section *self);

/* Memory has run out: the bins of all threads give up their slots of the class, be they in use, and
 * the pages that have room.  World stopped. */
void sgc_leave_class(uint32_t kind, uint32_t cls, struct sgc_section *self);

/* Has any other thread slots of the class, or pages?  By the cache's thread, outside sections. */
bool sgc_leave_others_have(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* ---- short runs in pages that no thread owns ----
 *
 * A page for each thread, kind and size class would make a heap of many threads that need little of
 * each as large as the product.  So while several threads run, a bin takes its first slots after a
 * cycle from pages that belong to all: a run of half a kilobyte, then as much again as it had
 * before.  When it has so shown that it needs more, it gets pages of its own.  The bin owns a
 * claimed run like any other: only claiming takes a lock.  The slots are freed as in other threads'
 * pages, by their remote bits (alloc/small/remote_free.h).
 *
 *   threads      written under the registry's lock, read by anybody: relaxed, a stale value costs a page, or a short run
 */

enum {
    SGC_SHOWN_UNIT = 64,        /* bytes that a bin's `shown` counts in; */
    SGC_SHOWN_ENOUGH = 240,     /* from here on, 15 KB, it gets pages of its own */
};

struct sgc_shared {
    sgc_a32_t threads;          /* of the program that allocate */
};
SGC_INNER struct sgc_shared sgc_shared;

/* Has the bin to show yet that it needs pages of its own? */
static inline bool sgc_shared_suits(const struct sgc_bin *bin)
{
    return sgc_a32_load(&sgc_shared.threads) > 1 && bin->shown < SGC_SHOWN_ENOUGH;
}

/* The bin takes a short run, unless it has got slots meanwhile.  False: no page that belongs to all
 * has room.  By its thread, under a guard, outside sections. */
bool sgc_shared_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

#endif
