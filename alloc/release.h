/* SPDX-License-Identifier: MIT */
/*
 * Pages of small objects that the program has emptied by freeing, with no cycle that would find
 * them: how they leave their size class, and when freed slots are given up for that.  By the thread
 * that owns them.
 *
 * A page may leave when none of its slots is allocated, its remote frees are taken over, no slot of
 * it is among the freed ones at hand, and it is not the active page of its bin, which expects it no
 * more.  The page is then taken off its list and taken down as by sweeping, under the same lock; it
 * has been swept in this epoch, so the service thread does not look at it.
 */
#ifndef SGC_ALLOC_RELEASE_H
#define SGC_ALLOC_RELEASE_H

#include "alloc/small/cache.h"
#include "alloc/small/sweep.h"

/* The page, which is ours and swept, leaves if it may: then it is in `step`, which has room for it.
 * Under the cache's lock. */
bool sgc_emptied_leave(struct sgc_cache *cache, uint32_t page, struct sgc_sweep_step *step);

/* Called after a page has left.  If the bin of that kind and class has no freed slots at hand, and
 * no pages but those that it expects, it stops expecting the ones that wait to be active, and the
 * empty ones of them leave, as long as `step` has room.  Under the cache's lock. */
void sgc_emptied_unexpect(struct sgc_cache *cache, uint32_t kind, uint32_t cls, struct sgc_sweep_step *step);

/* Has a bin more than so many swept pages?  Outside sections. */
bool sgc_emptied_more_pages(struct sgc_cache *cache, uint32_t kind, uint32_t cls, size_t max);

/* A bin gives up its slots and forgets its pages, as after a cycle: its swept pages leave if they
 * are empty, and are usable if they have free slots.  How many have left; none while a mark goes on
 * beside the program.  Outside sections. */
uint32_t sgc_emptied_give_up(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* All bins do: the cache's thread ends, or memory is wanted back. */
void sgc_emptied_give_up_all(struct sgc_cache *cache);

/* A bin leaves all freed slots at hand to their pages, where claims find them.  Unless they are
 * few, compared with its pages, it does so by giving up all that it has.  Not while a mark goes on
 * beside the program; outside sections. */
void sgc_emptied_leave_freed(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* ---- freed slots that bins keep: alloc/release_kept.c ----
 *
 * Slots that a thread has freed wait in their bin for the next object of that size.  A program
 * whose sizes change would leave them there for ever, since no cycle comes while everything is
 * freed.  So a thread that asks for pages, and has no free ones, first looks at what its bins have
 * at hand.  A bin gives up all of its slots at once: the allocation bits say which pages are empty
 * without a look at the slots, which may be cold. */

/* Bins of the cache that keep many freed slots give them up, until `want` pages or more were empty
 * and are the pool's; how many.  Before the heap grows.  Nothing comes of it while a mark goes on
 * beside the program.  By the cache's thread, outside sections. */
uint32_t sgc_kept_give_up(struct sgc_cache *cache, uint32_t want);

/* Before there are caches. */
void sgc_kept_init(void);

#endif
