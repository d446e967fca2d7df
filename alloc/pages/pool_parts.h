/* SPDX-License-Identifier: MIT */
/*
 * What the files of the pool share.  Everything runs under the pool's lock, unless it says otherwise.
 */
#ifndef SGC_ALLOC_PAGES_POOL_PARTS_H
#define SGC_ALLOC_PAGES_POOL_PARTS_H

#include "alloc/pages/arena.h"
#include "platform/section.h"

/* Changes a count, readable by anybody; returns what it is now. */
static inline size_t sgc_pool_count(sgc_aw_t *count, size_t n)
{
    size_t now = sgc_aw_load(count) + n;

    sgc_aw_store(count, now);
    return now;
}

/* May so many pages without contents be used? */
bool sgc_pool_within_limit(uint32_t fresh);

/* Could `count` more pages be in use at all?  Asked before the heap grows for them. */
bool sgc_pool_may_use(uint32_t count);

/* Makes `need` more arenas or waits for the thread that makes some; the lock may be given up meanwhile.  `huge`: what they are
 * for uses most of its pages.  False when there are no more. */
bool sgc_pool_more(uint32_t need, bool huge, struct sgc_section *self);

/* Out of the pool, and back; a single page onto the list of its last owner. */
void sgc_pool_take_run(uint32_t first, uint32_t count, bool *zero);
void sgc_pool_give_run(uint32_t first, uint32_t count, uint32_t owner, uint64_t now);

#endif
