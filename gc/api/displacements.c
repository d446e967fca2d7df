/* SPDX-License-Identifier: MIT */
/*
 * Threads that register themselves.  Each function runs on the thread it is about.
 */
#include "gc/api/internal.h"

#include "gc/threads/gc_lock.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"

void GC_allow_register_threads(void)
{
    if (!sgc_init_done())
        sgc_init_now();
}

/* The first call may start the collector, which registers the thread, too. */
int GC_register_my_thread(const struct GC_stack_base *base)
{
    if (sgc_self != NULL)
        return GC_DUPLICATE;
    if (!sgc_init_done() && !sgc_init_now())
        return GC_NO_MEMORY;
    sgc_assert(sgc_init_done());
    return sgc_mutator_register((uintptr_t)base->mem_base) != NULL ? GC_SUCCESS : GC_NO_MEMORY;
}

/* With the lock nobody would know any more that it is to be released. */
int GC_unregister_my_thread(void)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (self == NULL) {
        sgc_warn("GC_unregister_my_thread: thread %d is not registered; nothing is changed. Call it once, on the "
                 "thread that called GC_register_my_thread", sgc_thread_id());
        return GC_NOT_FOUND;
    }
    if (sgc_gc_lock_recover(self, sgc_callers_stack_pointer())) {
        sgc_warn(
            "GC_unregister_my_thread: called by a callback of a collection, or by a thread that holds the allocation lock; "
            "nothing is changed. Call it afterwards");
        return GC_UNIMPLEMENTED;
    }
    sgc_api_thread_over();
    sgc_assert(!sgc_gc_lock_held());
    sgc_mutator_unregister(self);
    return GC_SUCCESS;
}

int GC_thread_is_registered(void)
{
    return sgc_self != NULL;
}

/* The normal stack is known from the system; what is new is the alternate one. */
void GC_register_altstack(void *stack, GC_word stack_size, void *altstack, GC_word altstack_size)
{
    struct sgc_mutator *self = sgc_api_self();
    uintptr_t low = (uintptr_t)altstack;

    (void)stack, (void)stack_size;
    if (low == 0 || altstack_size == 0 || low + altstack_size < low) {
        sgc_warn("GC_register_altstack: an alternate stack of %zu bytes at %p is none; nothing is changed. Pass its "
                 "lowest address and its size, as to sigaltstack", (size_t)altstack_size, altstack);
        return;
    }
    sgc_assert(self == NULL || sgc_mutator_mine(self));
    if (self != NULL)
        self->reported_altstack = (struct sgc_stack_bounds){ .low = low, .high = low + altstack_size };
}
