/* SPDX-License-Identifier: MIT */
/*
 * Pages that no thread owns, by kind and size class: their owner has ended, or has not needed that
 * class for long, or they had none from the start (alloc/small/shared.h).  The thread that holds
 * the lock may do to them what an owner may do to its page.
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

/* Takes over up to `max` pages with free slots of ended threads and makes them ready for claiming; how many.  Outside
 * sections. */
uint32_t sgc_orphan_adopt(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max);

/* Makes the pages of a list orphans, at most `max`; true if there are more.  Under the cache's
 * lock. */
bool sgc_orphan_leave(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max);

/* Makes up to `max` pages of a bin orphans that have not been swept in this epoch, since others
 * may have more use for them; true if there are more.  The owner frees nothing there before it has
 * taken its lock and found them gone.  Under the cache's lock. */
bool sgc_orphan_leave_unswept(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max, struct sgc_section *self);

/* Makes all of a bin's pages that have free slots orphans, but, if dates are counted by owners
 * (`counted`), not those whose objects may have dates.  World stopped, under the cache's lock, and
 * the bin has no slots in hand. */
void sgc_orphan_leave_with_room(struct sgc_cache *cache, uint32_t kind, uint32_t cls, bool counted, struct sgc_section *self);

/* Makes a page that nobody else knows an orphan, with free slots only.  Outside sections. */
void sgc_orphan_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken);

/* The next orphan with free slots: it is taken off the usable ones.  SGC_NO_PAGE: *more says whether there may be others.  And
 * puts it back, to be found first.  Under the orphans' lock. */
uint32_t sgc_orphan_usable(uint32_t kind, uint32_t cls, bool *more);
void sgc_orphan_offer(uint32_t page);

/* Orphans in which something was freed are found again, and leave for the pool if they are empty, unless they are the last of
 * their class that have room.  Under a guard, outside sections. */
void sgc_orphan_drain(struct sgc_section *self);

/* Sweeps up to `max` orphans, giving empty ones back.  False if none was left, or while a mark goes on beside the program:
 * then orphans may be adopted, but not taken down.  Outside sections. */
bool sgc_orphan_sweep(uint32_t max, struct sgc_section *self);

void sgc_orphan_check(void);

#endif
