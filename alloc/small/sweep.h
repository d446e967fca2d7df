/* SPDX-License-Identifier: MIT */
/*
 * Sweeping: finding out, from the bitmaps alone, which pages of the last cycle are empty, partly
 * used or full.
 *
 * Dead objects are unallocated from the flip on; sweeping only makes their space findable.  It is
 * done page by page, by the owner when it needs a page, or ahead of need by the service thread.
 */
#ifndef SGC_ALLOC_SMALL_SWEEP_H
#define SGC_ALLOC_SMALL_SWEEP_H

#include "alloc/small/cache.h"
#include "alloc/small/slots.h"

/* Takes the last cycle's result over for a small page and gives it the tag.  Counts the page if
 * something lives in it (alloc/pages/live_pages.h).  Under the lock of the lists the page is on. */
enum sgc_fill sgc_page_sweep(uint32_t page, uintptr_t tag);

/* Takes the next page with a free slot from the lists, sweeping a page if none is known;
 * SGC_NO_PAGE if that has none, or there is no page to look at any more: then *more is false.
 * Under the lists' lock. */
uint32_t sgc_lists_next_usable(struct sgc_page_lists *lists, uintptr_t tag, bool *more);

/* Sweeps up to `max` (and SGC_SWEEP_STEP) pages that were not swept in this epoch.  Empty ones
 * leave the lists and are taken down: the caller gives them to the pool, which expects them.  None
 * while a mark goes on beside the program: then all pages have been swept but for orphans of this
 * epoch, and these stay.  Under the lists' lock. */
enum { SGC_SWEEP_STEP = 8 };

struct sgc_sweep_step {
    uint32_t swept;             /* 0: nothing was left to sweep */
    uint32_t empties;
    uint32_t empty[SGC_SWEEP_STEP];
};
void sgc_lists_sweep(struct sgc_page_lists *lists, uintptr_t tag, uint32_t max, struct sgc_sweep_step *step);

/* An empty page, swept in this epoch, leaves its list and is taken down; what a step has found is
 * announced to the pool before the lock is given up.  Not while a mark goes on beside the program;
 * under the lists' lock. */
void sgc_lists_take_empty(struct sgc_page_lists *lists, uint32_t page, struct sgc_sweep_step *step);
void sgc_sweep_announce(const struct sgc_sweep_step *step);

/* Gives the empty ones to the pool, as of that owner.  Under the guard under which they were swept,
 * without the lock. */
void sgc_sweep_give(const struct sgc_sweep_step *step, uint32_t owner, struct sgc_section *self);

#endif
