/* SPDX-License-Identifier: MIT */
/*
 * Pinned threads.  A thread that counts as stopped may go on at any time; pinned, it stays where it is, or where it first has
 * nothing of ours in its hands, like one that is suspended (gc/threads/world.c).  So a stop that follows finds no thread in the
 * middle of the program's code.  On the thread that has the GC lock.
 */
#include "gc/threads/world.h"

#include <limits.h>

#include "gc/threads/gc_lock.h"

static void unpin(void)
{
    sgc_assert(sgc_registry_locked());
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        if (sgc_a32_and(&m->cache.section.state, ~(uint32_t)SGC_STATE_PINNED) & SGC_STATE_PINNED)
            sgc_wake(&m->cache.section.state, INT_MAX);
}

/* One change says whether it counted as stopped when it was pinned. */
static bool pin(struct sgc_mutator *m)
{
    return m->service || !sgc_mutator_runs(m, sgc_a32_or(&m->cache.section.state, SGC_STATE_PINNED));
}

bool sgc_world_pin(struct sgc_mutator *self)
{
    struct sgc_mutator *m;

    sgc_assert(sgc_mutator_mine(self) && self->service && sgc_gc_lock_held() && !sgc_world_stopped());
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    for (m = sgc_registry.first; m != NULL && pin(m);)
        m = m->next;
    if (m != NULL)
        unpin();
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
    return m == NULL;
}

void sgc_world_unpin(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held() && !sgc_world_stopped());
    sgc_lock(&sgc_registry.lock, sgc_section_of(self));
    unpin();
    sgc_unlock(&sgc_registry.lock, sgc_section_of(self));
}
