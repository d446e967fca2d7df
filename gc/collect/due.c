/* SPDX-License-Identifier: MIT */
/* See gc/collect/due.h. */
#include "gc/collect/due.h"

#include "gc/collect/assists.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/cycle.h"
#include "gc/collect/phases.h"
#include "gc/collect/torture.h"
#include "gc/threads/gc_lock.h"

/* A cycle beside the program has some time beyond what was planned, and a little more.  False: it has to end now. */
static bool wait_for_cycle(struct sgc_mutator *self)
{
    if (!sgc_concurrent_busy())
        return false;
    if (!sgc_pacing_overdue())
        return true;
    sgc_stall(self);
    return !sgc_pacing_overdue();
}

/* Our frames say nothing about the client's objects afterwards. */
void sgc_collect_as_due(struct sgc_mutator *self, enum sgc_due due, int (*stop)(void), uintptr_t from)
{
    sgc_assert(sgc_mutator_mine(self));
    if (due == SGC_DUE_NOT || sgc_gc_lock_held())
        return;
    if (due == SGC_DUE_SOON && !sgc_next_in_one_stop())
        sgc_concurrent_ask(self);
    else if (due == SGC_DUE_ASSIST)
        sgc_assist(self);
    else if (!wait_for_cycle(self)) {
        sgc_collect_from(self, SGC_REASON_ALLOCATION, stop, from);
        sgc_concurrent_ask_again(self);
    }
    sgc_stack_clear_deep();
}

void sgc_collect_under_torture(struct sgc_mutator *self, uintptr_t from)
{
    sgc_assert(sgc_mutator_mine(self));
    if (sgc_gc_lock_held())
        return;
    if (sgc_concurrent_enabled() && !sgc_next_in_one_stop() && sgc_torture_leaves_it(self))
        sgc_concurrent_ask(self);
    else
        sgc_collect_from(self, SGC_REASON_TORTURE, NULL, from);
    sgc_stack_clear_deep();
}
