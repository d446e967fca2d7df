/* SPDX-License-Identifier: MIT */
/* See gc/collect/upper_start.h. */
#include "gc/collect/upper_start.h"

#include "gc/collect/concurrent.h"
#include "gc/threads/gc_lock.h"

void sgc_upper_start(struct sgc_mutator *self, const struct sgc_upper *upper)
{
    bool closed = sgc_gc_lock_enter(self);

    sgc_assert(sgc_mutator_mine(self) && upper != NULL && sgc_upper() == NULL);
    if (upper->mark != NULL)
        sgc_concurrent_rule_out(self);
    sgc_aw_store_rel(&sgc_upper_now, (uintptr_t)upper);
    sgc_gc_lock_leave(closed);
}
