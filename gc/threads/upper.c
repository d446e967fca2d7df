/* SPDX-License-Identifier: MIT */
/* See gc/threads/upper.h. */
#include "gc/threads/upper.h"

#include "alloc/object.h"
#include "gc/threads/world.h"

SGC_STATE sgc_aw_t sgc_upper_now;

void sgc_upper_active(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && !sgc_world_is_blocked(self));
    if (sgc_upper_knows(self))
        SGC_UPPER(active, (self));
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
