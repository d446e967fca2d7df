/* SPDX-License-Identifier: MIT */
/*
 * Carving, where nothing marks (SGC_TRACES 0): a bin that has no slots fills its list of freed ones
 * with free slots of its active page, lowest address last, so that they are handed out in ascending
 * order.  Their allocation bits stay clear until they are handed out.  So there is one common path,
 * a slot has its bit set exactly while the program has it, and a wrong free of one that was never
 * handed out is told whoever makes it.
 *
 * A slot that is found free may have been freed by this thread just now, and then it is in the list
 * already: so a bin carves only when its list is empty.
 */
#ifndef SGC_ALLOC_SMALL_CARVE_H
#define SGC_ALLOC_SMALL_CARVE_H

#include "alloc/small/cache.h"

/* A slot of the bin's list, which is carved for if it is empty; NULL if the active page, and those
 * that are to be active next, have no free slot.  By the cache's thread, outside sections. */
void *sgc_small_carve(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

#endif
