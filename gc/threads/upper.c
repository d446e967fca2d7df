/* SPDX-License-Identifier: MIT */
/* See gc/threads/upper.h. */
#include "gc/threads/upper.h"

#include "alloc/object.h"
#include "gc/threads/world.h"

SGC_STATE sgc_aw_t sgc_upper_now;

static bool kept_of(const struct sgc_mutator *m)
{
    return sgc_aw_load_acq(&m->upper) != 0;
}

void sgc_upper_blocks(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_world_is_blocked(self));
    if (kept_of(self))
        SGC_UPPER(blocks, (self));
}

void sgc_upper_active(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_world_is_blocked(self));
    if (kept_of(self))
        SGC_UPPER(active, (self));
}

void sgc_upper_thread_over(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_world_is_blocked(self));
    if (!kept_of(self))
        return;
    SGC_UPPER(thread_over, (self));
    sgc_aw_store_rel(&self->upper, 0);
}

void sgc_upper_vanished(struct sgc_mutator *m)
{
    sgc_assert(m != sgc_mutator_self() && m->cache.id != 0);
    if (!kept_of(m))
        return;
    SGC_UPPER(vanished, (m));
    sgc_aw_store_rel(&m->upper, 0);
}

bool sgc_upper_owns(const struct sgc_object *o)
{
    const struct sgc_upper *upper = sgc_upper();

    sgc_assert(o->start != 0);
    return upper != NULL && upper->owns != NULL && upper->owns(o);
}

bool sgc_upper_keeps(struct sgc_mutator *self, uintptr_t object, bool freed)
{
    const struct sgc_upper *upper = sgc_upper();

    sgc_assert(sgc_mutator_mine(self));
    return upper != NULL && upper->keeps != NULL && upper->keeps(self, object, freed);
}
