/* SPDX-License-Identifier: MIT */
/* The size of the heap.  Who may call what: gc/pacing/heap_size.h. */
#include "gc/pacing/heap_size.h"

#include "alloc/pages/pool.h"
#include "gc/config/public_vars.h"
#include "gc/collect/cycle.h"
#include "gc/events/events.h"
#include "gc/pacing/group_limit.h"
#include "gc/pacing/pacing.h"
#include "platform/registers.h"

enum { STACK_TO_LOOK = 64 << 10 };      /* room for long names of groups: a thread with a small stack leaves it to others */

struct heap_size {
    sgc_aw_t promised;
    sgc_aw_t told;
    sgc_aw_t most;
};

SGC_STATE static struct heap_size heap_size;

size_t sgc_heap_size(void)
{
    size_t held = sgc_pool_heap_bytes();
    size_t promised = sgc_aw_load(&heap_size.promised);

    return held > promised ? held : promised;
}

size_t sgc_heap_committed(void)
{
    size_t pool = sgc_aw_load_acq(&sgc_heap.limit);
    size_t promised = sgc_aw_load(&heap_size.promised);

    return pool > promised ? pool : promised;
}

size_t sgc_heap_most(void)
{
    size_t now = sgc_heap_size();
    size_t most = sgc_aw_load(&heap_size.most);

    return now > most ? now : most;
}

bool sgc_heap_expand(size_t bytes, struct sgc_mutator *self)
{
    size_t size = sgc_heap_size();
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t pages = bytes / SGC_PAGE + (bytes % SGC_PAGE != 0);
    bool expanded;

    if (limit != SIZE_MAX && size / SGC_PAGE + pages > limit)
        return false;
    sgc_guard_enter(sgc_section_of(self));          /* others wait for who makes the heap grow */
    expanded = sgc_pool_expand(pages, sgc_section_of(self));
    sgc_guard_leave(sgc_section_of(self));
    if (!expanded)
        return false;
    sgc_aw_store(&heap_size.promised, size + pages * SGC_PAGE);
    sgc_pacing_allow(bytes);
    sgc_heap_watch(self);
    return true;
}

void sgc_heap_shrink(void)
{
    sgc_aw_store(&heap_size.promised, 0);
}

/* The gate keeps collections, and with them other hooks, away meanwhile. */
static void call_hook(struct sgc_mutator *self, size_t size)
{
    void (*hook)(uintptr_t) = (void (*)(uintptr_t))sgc_aw_load_acq(&sgc_client_on_heap_resize);
    bool closed;

    if (hook == NULL)
        return;
    closed = sgc_gate_enter(self);
    hook(size);
    sgc_gate_leave(closed);
}

static void note_most(size_t size)
{
    size_t most = sgc_aw_load(&heap_size.most);

    while (size > most && !sgc_aw_cas(&heap_size.most, most, size))
        most = sgc_aw_load(&heap_size.most);
}

void sgc_heap_watch(struct sgc_mutator *self)
{
    size_t size = sgc_heap_size();
    size_t told = sgc_aw_load(&heap_size.told);

    if (size < told + SGC_ARENA && told < size + SGC_ARENA)
        return;
    if (!sgc_aw_cas(&heap_size.told, told, size))
        return;
    note_most(size);
    if (sgc_mutator_at_home(self, sgc_stack_pointer()) && sgc_stack_pointer() - self->stack.low >= STACK_TO_LOOK)
        sgc_group_limit_look(sgc_pool_heap_bytes());
    if (size > told)
        SGC_EVENT(heap_grown, size - told);
    call_hook(self, size);
}
