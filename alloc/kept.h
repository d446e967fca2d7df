/* SPDX-License-Identifier: MIT */
/*
 * Slots that a thread has freed wait in their bin for the next object of that size.  A program whose sizes change would leave
 * them there for ever, since no cycle comes while everything is freed.  So a thread that asks for pages, and has no free ones,
 * first looks at what its bins have at hand.  A bin gives up all of its slots at once: the allocation bits say which pages are
 * empty without a look at the slots, which may be cold.
 */
#ifndef SGC_ALLOC_KEPT_H
#define SGC_ALLOC_KEPT_H

#include "alloc/small/cache.h"

/* Bins of the cache that keep many freed slots give them up, until `want` pages or more were empty and are the pool's; how
 * many.  Before the heap grows.  Nothing comes of it while a mark goes on beside the program.  By the cache's thread, outside
 * sections. */
uint32_t sgc_kept_give_up(struct sgc_cache *cache, uint32_t want);

/* Before there are caches. */
void sgc_kept_init(void);

#endif
