/* SPDX-License-Identifier: MIT */
/*
 * The allocation lock and the world stopped by hand.  The lock is the GC lock: while a client holds
 * it, no collection begins, and allocation that would have made one lets the heap grow instead.
 *
 *   nested, stopped    written and read by the GC lock's holder
 */
#include "gc/api/api.h"

#include "gc/collect/collect.h"

SGC_STATE static unsigned nested;       /* GC_alloc_lock by the thread that has it already */
SGC_STATE static bool stopped;          /* GC_stop_world_external is in force */

/* A guard is two system calls, and there are programs that call this for every look into a weak
 * table. */
__attribute__((always_inline))
static inline void *with_lock(GC_fn_type fn, void *arg, uintptr_t entry)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_gc_lock_hold hold;
    void *result;

    if (!sgc_gc_lock_try(self, &hold)) {
        if (sgc_gc_lock_recover(self, entry))
            return fn(arg);
        sgc_gc_lock_acquire_for(self, &hold);
    }
    nested = 0;                     /* who had it before may have left by a jump */
    sgc_assert(sgc_gc_lock_held());
    result = fn(arg);
    sgc_gc_lock_release_for(&hold);
    return result;
}

void *GC_call_with_alloc_lock(GC_fn_type fn, void *arg)
{
    return with_lock(fn, arg, sgc_callers_stack_pointer());
}

/* There are no readers beside each other: the lock is held for as long as fn takes. */
void *GC_call_with_reader_lock(GC_fn_type fn, void *arg, int release)
{
    (void)release;
    return with_lock(fn, arg, sgc_callers_stack_pointer());
}

void GC_alloc_lock(void)
{
    if (!sgc_gc_lock_recover(sgc_mutator_self(), sgc_callers_stack_pointer())) {
        sgc_gc_lock_acquire(sgc_mutator_self());
        sgc_assert(sgc_gc_lock_held() && !sgc_gc_lock_is_fast());
        nested = 0;
        return;
    }
    nested++;
    sgc_warn("GC_alloc_lock: this thread has the allocation lock already, or is in a callback of the collector; "
             "call GC_alloc_unlock before taking it again");
}

void GC_alloc_unlock(void)
{
    if (!sgc_gc_lock_recover(sgc_mutator_self(), sgc_callers_stack_pointer()) || (nested == 0 && sgc_gc_lock_is_fast()))
        sgc_warn("GC_alloc_unlock: this thread does not have the allocation lock; nothing is changed. Call it once "
                 "for each GC_alloc_lock");
    else if (nested > 0)
        nested--;
    else
        sgc_gc_lock_release();
}

void GC_stop_world_external(void)
{
    struct sgc_mutator *self = sgc_api_self();

    if (self == NULL)
        return;
    if (sgc_gc_lock_recover(self, sgc_callers_stack_pointer()))
        sgc_warn("GC_stop_world_external: this thread has the allocation lock already, or is in a callback of the "
                 "collector; nothing is stopped. Release the lock first");
    else if (sgc_external_stop(self))
        stopped = true;
}

void GC_start_world_external(void)
{
    if (!sgc_gc_lock_held() || !stopped) {
        sgc_warn("GC_start_world_external: this thread has not stopped the world; nothing is changed. Call it once for "
                 "each GC_stop_world_external");
        return;
    }
    stopped = false;
    sgc_assert(sgc_stopped_by_self());
    sgc_external_resume(sgc_mutator_self());
}
