/* SPDX-License-Identifier: MIT */
/*
 * The page policy: where a thread that has run out of pages gets one.
 *
 * PS, AL and LPS(k) of [Endo] ch. 2 are one mechanism: free page lists (alloc/pages/pool.h)
 * and the order in which they are asked (alloc/pages/page_rules.h).  This module adds the sweeping
 * that comes before: pages of the last cycle that nobody has looked at may be empty.
 */
#ifndef SGC_ALLOC_PAGE_SUPPLY_H
#define SGC_ALLOC_PAGE_SUPPLY_H

#include "alloc/small/cache.h"
#include "alloc/pages/pool.h"

/* Up to `max` free pages for the asking mutator; returns how many.  0 when the heap may not grow
 * and no thread has a free page.  By the cache's thread, outside sections. */
uint32_t sgc_policy_take_singles(struct sgc_cache *cache, uint32_t max, struct sgc_taken *taken);

/* `count` adjacent pages, for a span: from whoever has them. */
uint32_t sgc_policy_take_pages(uint32_t count, struct sgc_section *self, bool *zero);

/* Bytes of free pages with contents, once all is swept: what can be allocated without new memory.
 * Outside sections. */
size_t sgc_policy_free_touched(struct sgc_section *self);

/* Sweeps ahead of need: up to `max` pages of all caches, orphans and spans, giving empty ones back.
 * False when nothing is left to do for this epoch, or while a mark goes on beside the program.  By
 * the service thread, or a thread that needs pages; outside sections.  Under a guard: an empty page
 * is in our hands only until the pool has it. */
bool sgc_sweep_ahead(uint32_t max, struct sgc_section *self);

/* Sweeps up to *max pages of one cache, giving empty ones back; *max becomes less by as many as
 * are swept.  False when the cache has nothing left to sweep in this epoch.  By the service thread,
 * or a thread that needs pages; outside sections, under a guard. */
bool sgc_sweep_cache(struct sgc_cache *cache, uint32_t *max, struct sgc_section *self);

/* The cache's thread ends: slots go back, pages to the orphans, free pages become nobody's.  By its
 * thread, outside sections, or by the only thread in the child of a fork.  The second does the last
 * of it. */
void sgc_cache_close(struct sgc_cache *cache, struct sgc_section *self);
void sgc_policy_owner_ends(uint32_t owner, struct sgc_section *self);

/* As sgc_cache_close, for a thread that has gone without it.  The thread may have ended inside a
 * section, at any instruction, but not with a lock.  Where it cannot come back. */
void sgc_cache_close_abandoned(struct sgc_cache *cache);

/* The counters of [Endo] 2.4, in pages, and what the heap has. */
struct sgc_page_figures {
    size_t heap_bytes;                  /* committed */
    size_t consumed, max_consumed;     /* in use, or free and with contents */
    size_t listed;                      /* of these, on a thread's free page list */
    size_t taken[SGC_SOURCES];          /* pages that threads got, by where they came from */
    size_t fresh;                       /* of these, pages without contents, */
    size_t remote;                      /* pages that another thread had last, */
    size_t foreign;                     /* pages that another thread was the first to use since they
                                         * have contents, */
    size_t far;                         /* and pages whose home is another node than the thread's */
    size_t max_live;                   /* l, as known from the last marks */
    size_t max_live_of_owners;         /* the sum of the u_i: what AL would consume */
};
void sgc_policy_figures(struct sgc_page_figures *figures);

#endif
