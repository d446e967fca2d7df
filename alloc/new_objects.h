/* SPDX-License-Identifier: MIT */
/*
 * New objects where the common path has none: small ones from the next pages of their bin, large
 * ones, and those for the thread that has stopped the world.
 */
#ifndef SGC_ALLOC_NEW_OBJECTS_H
#define SGC_ALLOC_NEW_OBJECTS_H

#include "alloc/small/cache.h"

/* ---- small objects: where a bin's next pages come from ---- */

/* The way when the bin has nothing ready (sgc_small_try gave NULL): claims a run, takes another
 * page, adopts an orphan or asks the pool.  NULL if no page is available.  Outside sections. */
void *sgc_small_refill(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Claims up to `max` slots at once and links them through their first words, zeroed behind it for
 * kinds with pointers: GC_malloc_many.  Slots that are ready, or some kilobytes of the active page.
 * They count as allocated.  NULL if none is available. */
void *sgc_small_many(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max);

/* ---- large objects: made of spare spans, of dead ones, or of new pages ---- */

/* A large object of `bytes` (end byte included), at a multiple of `align` (a power of two; at least
 * the page size counts).  Zeroed for kinds with pointers.  NULL if no pages are available.  Outside
 * sections. */
void *sgc_span_alloc(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align);

/* Frees the span that begins with `page`.  False if it is not allocated.  Outside sections. */
bool sgc_span_free(struct sgc_section *self, uint32_t page);

/* ---- objects for the thread that has stopped the world, before anything dead is found: a client's
 * hook that pushes roots may allocate ----
 *
 * Runs and bins have been retired then, sections cannot be entered, and the heap cannot grow, since
 * a stopped thread may be about to do that.  So pages are taken before the pause, twice as many as
 * the last hook used, and a few more.  A class gets one page at a time, which is on the cache's
 * lists from the start and whose slots are handed out one after the other.  The objects handed out
 * are known, and marked when the hook is done: by then they hold the words that the hook has
 * written into them.  Pages that were not used wait for the next pause, as far as that is expected
 * to need them.
 *
 *   all of it       the collecting thread, GC lock held; the only thread in the child of a fork;
 *                   nobody else
 */

/* Takes pages for the pause that follows, if anybody allocates in it, and gives back what is too
 * many.  Outside sections, GC lock held. */
void sgc_stopped_reserve(struct sgc_cache *cache, bool allocates);

/* A zeroed slot; NULL if too little was taken before this pause.  World stopped by the caller,
 * whose cache it is. */
void *sgc_stopped_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Hands everything that was handed out to fn, and forgets it. */
void sgc_stopped_each(void (*fn)(void *arg, uintptr_t object), void *arg);

/* Forgets the pages in reserve, which sgc_pool_take_back_lost gives to the pool then.  By the only
 * thread in the child of a fork. */
void sgc_stopped_after_fork(void);

#endif
