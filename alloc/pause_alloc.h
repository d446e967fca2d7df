/* SPDX-License-Identifier: MIT */
/*
 * Objects for the thread that has stopped the world, before anything dead is found: a client's hook that pushes roots may
 * allocate.
 *
 * Runs and bins have been retired then, sections cannot be entered, and the heap cannot grow, since
 * a stopped thread may be about to do that.  So pages are taken before the pause, twice as many as
 * the last hook used, and a few more.  A class gets one page at a time, which is on the cache's
 * lists from the start and whose slots are handed out one after the other.  The objects handed out
 * are known, and marked when the hook is done: by then they hold the words that the hook has
 * written into them.  Pages that were not used wait for the next pause, as far as that is expected
 * to need them.
 *
 *   all of it       the collecting thread, GC lock held; nobody else
 */
#ifndef SGC_ALLOC_PAUSE_ALLOC_H
#define SGC_ALLOC_PAUSE_ALLOC_H

#include "alloc/small/cache.h"

/* Takes pages for the pause that follows, if anybody allocates in it, and gives back what is too many.  Outside sections, GC
 * lock held. */
void sgc_stopped_reserve(struct sgc_cache *cache, bool allocates);

/* A zeroed slot; NULL if too little was taken before this pause.  World stopped by the caller, whose cache it is. */
void *sgc_stopped_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Hands everything that was handed out to fn, and forgets it. */
void sgc_stopped_each(void (*fn)(void *arg, uintptr_t object), void *arg);

#endif
