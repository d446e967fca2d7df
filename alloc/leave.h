/* SPDX-License-Identifier: MIT */
/*
 * Pages of threads that do not need them: they are left to all threads as orphans, like those of threads that have ended.
 *
 *   asked        the epoch for which idle bins have been looked for: by who does that, by compare-and-swap; read by anybody,
 *                relaxed
 *   stay         a layer on top that has objects counted by the owners of their pages: once, before it counts any; read by
 *                anybody, relaxed
 */
#ifndef SGC_ALLOC_LEAVE_H
#define SGC_ALLOC_LEAVE_H

#include "alloc/small/cache.h"

struct sgc_leave {
    sgc_a32_t asked;
    sgc_a32_t stay;             /* pages do not change owners while these live */
};
SGC_INNER struct sgc_leave sgc_leave;

/* Once an epoch: bins whose thread has claimed nothing in all of the last one give up the pages that nobody has swept since.
 * True if this call has looked.  Under a guard, outside sections. */
bool sgc_leave_idle(struct sgc_section *self);

/* Memory has run out: the bins of all threads give up their slots of the class, be they in use, and the pages that have room.
 * World stopped. */
void sgc_leave_class(uint32_t kind, uint32_t cls, struct sgc_section *self);

/* Has any other thread slots of the class, or pages?  By the cache's thread, outside sections. */
bool sgc_leave_others_have(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

#endif
