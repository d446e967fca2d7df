/* SPDX-License-Identifier: MIT */
/* Growth of the heap.  Who may call what: gc/pacing/heap_growth.h. */
#include "gc/pacing/heap_growth.h"

#include "alloc/pages/pool.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/pacing/group_limit.h"
#include "gc/pacing/heap_size.h"
#include "gc/pacing/pacing.h"
#include "gc/threads/gc_lock.h"
#include "platform/registers.h"

enum { STACK_TO_LOOK = 64 << 10 };      /* room for long names of groups: a thread with a small stack leaves it to others */

SGC_STATE static sgc_aw_t reported_size;

bool sgc_heap_expand(size_t bytes, struct sgc_mutator *self)
{
    size_t size = sgc_heap_size();
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t pages = bytes / SGC_PAGE + (bytes % SGC_PAGE != 0);
    bool expanded;

    sgc_assert(sgc_section_of(self)->held == 0);
    if (limit != SIZE_MAX && size / SGC_PAGE + pages > limit)
        return false;
    sgc_guard_enter(sgc_section_of(self));          /* others wait for who makes the heap grow */
    expanded = sgc_pool_expand(pages, sgc_section_of(self));
    sgc_guard_leave(sgc_section_of(self));
    if (!expanded)
        return false;
    sgc_heap_promise(size + pages * SGC_PAGE);
    sgc_pacing_allow(bytes);
    sgc_heap_watch(self);
    return true;
}

/* The GC lock keeps collections, and with them other hooks, away meanwhile. */
static void call_hook(struct sgc_mutator *self, size_t size)
{
    void (*hook)(uintptr_t) = (void (*)(uintptr_t))sgc_aw_load_acq(&sgc_client_on_heap_resize);
    bool closed;

    if (hook == NULL)
        return;
    closed = sgc_gc_lock_enter(self);
    hook(size);
    sgc_gc_lock_leave(closed);
}

void sgc_heap_watch(struct sgc_mutator *self)
{
    size_t size = sgc_heap_size();
    size_t told = sgc_aw_load(&reported_size);

    sgc_assert(sgc_section_of(self)->held == 0);
    if (size < told + SGC_ARENA && told < size + SGC_ARENA)
        return;
    if (!sgc_aw_cas(&reported_size, told, size))
        return;
    sgc_heap_note_max(size);
    if (sgc_mutator_at_home(self, sgc_stack_pointer()) && sgc_stack_pointer() - self->stack.low >= STACK_TO_LOOK)
        sgc_group_limit_look(sgc_pool_heap_bytes());
    if (size > told)
        SGC_EVENT(heap_grown, size - told);
    call_hook(self, size);
}
