/* SPDX-License-Identifier: MIT */
/*
 * Pages whose owner has ended, by kind and size class.
 *
 *   lists        under the orphans' lock, by anybody
 *   count        written likewise; read by anybody, relaxed: a stale value costs one look, or leaves an orphan for the next
 *   page tags    SGC_NO_OWNER while here; whoever adopts writes its own, under the same lock
 */
#ifndef SGC_ALLOC_SMALL_ORPHAN_H
#define SGC_ALLOC_SMALL_ORPHAN_H

#include "alloc/small/cache.h"

struct sgc_orphans {
    struct sgc_lock lock;
    sgc_aw_t count;             /* of orphans, so that nobody looks when there are none */
};
SGC_INNER struct sgc_orphans sgc_orphans;

/* Takes over up to `most` pages with free slots of ended threads and makes them ready for claiming; how many.  Outside
 * sections. */
uint32_t sgc_orphan_adopt(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most);

/* Makes the pages of a list orphans, at most `most`; true if there are more.  Under the cache's
 * lock. */
bool sgc_orphan_leave(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most);

/* Sweeps up to `most` orphans, giving empty ones back.  False if none was left, or while a mark goes on beside the program:
 * then orphans may be adopted, but not taken down.  Outside sections. */
bool sgc_orphan_sweep(uint32_t most, struct sgc_section *self);

void sgc_orphan_check(void);

#endif
