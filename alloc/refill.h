/* SPDX-License-Identifier: MIT */
/*
 * Small objects when the bin has nothing ready: where its next pages come from.
 */
#ifndef SGC_ALLOC_REFILL_H
#define SGC_ALLOC_REFILL_H

#include "alloc/pages/pool.h"
#include "alloc/small/cache.h"

/* The way when the bin has nothing ready (sgc_small_try gave NULL): claims a run, takes another page, adopts an orphan or
 * asks the pool.  NULL if no page is available.  Outside sections. */
void *sgc_small_refill(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Claims up to `max` slots at once and links them through their first words, zeroed behind it for
 * kinds with pointers: GC_malloc_many.  Slots that are ready, or some kilobytes of the active page.  They count as allocated.
 * NULL if none is available. */
void *sgc_small_many(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max);

/* Makes pages that nobody else knows the cache's. */
void sgc_small_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken, uint32_t count);

#endif
