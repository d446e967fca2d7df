/* SPDX-License-Identifier: MIT */
/* The size of the heap, its growth, and its limit.  gc/pacing/heap_size.h says which thread writes
 * and reads each figure. */
#include "gc/pacing/heap_size.h"

#include "alloc/pages/pool.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/pacing/pacing.h"
#include "gc/pacing/pacing_rules.h"
#include "gc/threads/gc_lock.h"
#include "platform/platform.h"
#include "platform/probe.h"
#include "platform/registers.h"

/* ---- figures ---- */

SGC_STATE static sgc_aw_t max_size;

size_t sgc_heap_size(void)
{
    return sgc_pace_larger(sgc_pool_heap_bytes(), sgc_pacing_granted());
}

size_t sgc_heap_committed(void)
{
    return sgc_pace_larger(sgc_aw_load_acq(&sgc_heap.limit), sgc_pacing_granted());
}

size_t sgc_heap_max(void)
{
    return sgc_pace_larger(sgc_heap_size(), sgc_aw_load(&max_size));
}

static bool differ_by_arena(size_t a, size_t b)
{
    return a >= b + SGC_ARENA || b >= a + SGC_ARENA;
}

static void note_size(size_t size)
{
    size_t max = sgc_aw_load(&max_size);

    while (size > max && !sgc_aw_cas(&max_size, max, size))
        max = sgc_aw_load(&max_size);
}

/* ---- the limit ---- */

enum { HEAP_SHARE = 8 };        /* an eighth of the cgroup's limit is left for everything else */

size_t sgc_heap_limit(size_t wanted)
{
    size_t group = sgc_limit_cgroup_memory();
    size_t max = group / HEAP_SHARE * (HEAP_SHARE - 1);

    sgc_assert(group != 0);
    return group != SIZE_MAX && (wanted == 0 || wanted > max) ? max : wanted;
}

enum {
    NEAR_SHARE = 4,             /* a heap below a quarter of it is not what gets the process
                                 * killed */
    MARGIN_SHARE = 16,          /* a sixteenth of it is to stay free in the group */
    STEP_SHARE = 16,            /* of the heap: by so much the group's limit gives way */
};

struct group_limit {
    sgc_aw_t set;               /* bytes; SIZE_MAX: none */
    sgc_aw_t group;             /* the cgroup's limit, bytes; SIZE_MAX: none */
};

SGC_STATE static struct group_limit group_limit;

void sgc_group_limit_set(size_t wanted)
{
    size_t bytes = sgc_heap_limit(wanted);

    sgc_aw_store(&group_limit.group, sgc_limit_cgroup_memory());
    sgc_assert(sgc_aw_load(&group_limit.group) != 0);
    sgc_aw_store(&group_limit.set, bytes != 0 ? bytes : SIZE_MAX);
    sgc_pool_set_limit(bytes);
}

static void set_pool_limit(size_t bytes)
{
    if (bytes / SGC_PAGE == sgc_aw_load(&sgc_pool.limit))
        return;
    sgc_pool_set_limit(bytes);
    sgc_pacing_reconsider();
}

/* Asks the cgroup how much memory is left, if that may matter: reads some files, on some 16 KB of
 * stack.  Without an answer there is plenty.  A limit that is set meanwhile counts. */
static void ask_group(size_t heap, size_t group)
{
    size_t set, remaining, room;

    sgc_assert(group != 0 && group != SIZE_MAX);
    if (heap < group / NEAR_SHARE)
        return;
    remaining = sgc_limit_cgroup_remaining();
    room = sgc_pace_less(remaining, group / MARGIN_SHARE);
    set = sgc_aw_load(&group_limit.set);
    set_pool_limit(room < SIZE_MAX - heap ? sgc_pace_smaller(heap + room, set) : set);
}

enum { STACK_TO_ASK = 64 << 10 };       /* room for long names of groups */

static bool can_ask(const struct sgc_mutator *self)
{
    uintptr_t sp = sgc_stack_pointer();

    return sgc_mutator_at_home(self, sp) && sp - self->stack.low >= STACK_TO_ASK;
}

SGC_STATE static sgc_aw_t asked_size;

/* A thread with little of its own stack left, or on another, leaves it to the next that has it. */
static void watch_group(const struct sgc_mutator *self)
{
    size_t group = sgc_aw_load(&group_limit.group), size, asked;

    sgc_assert(sgc_mutator_mine(self) && self->cache.section.held == 0);
    if (group == SIZE_MAX)
        return;
    size = sgc_heap_size();
    asked = sgc_aw_load(&asked_size);
    if (differ_by_arena(size, asked) && can_ask(self) && sgc_aw_cas(&asked_size, asked, size))
        ask_group(sgc_pool_heap_bytes(), group);
}

bool sgc_group_limit_gives_way(size_t bytes)
{
    size_t set = sgc_aw_load(&group_limit.set), now = sgc_aw_load(&sgc_pool.limit);
    size_t step = sgc_pool_heap_bytes() / STEP_SHARE + bytes + SGC_ARENA;

    sgc_assert(set != 0);
    if (sgc_aw_load(&group_limit.group) == SIZE_MAX || now >= set / SGC_PAGE)
        return false;
    set_pool_limit(step < SIZE_MAX - now * SGC_PAGE ? sgc_pace_smaller(now * SGC_PAGE + step, set) : set);
    return true;
}

/* ---- growth ---- */

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
    sgc_guard_enter(sgc_section_of(self));          /* others wait for the thread that makes the
                                                     * heap grow */
    expanded = sgc_pool_expand(pages, sgc_section_of(self));
    sgc_guard_leave(sgc_section_of(self));
    if (expanded)
        sgc_pacing_grant(size + pages * SGC_PAGE, bytes);
    sgc_heap_watch(self);
    return expanded;
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

/* ---- what the system grants and refuses ---- */

struct reported {
    sgc_aw_t end;               /* of the heap, from its base: the client knows of what is below */
    size_t begun;               /* or it is being told, or its hook has left by a jump */
};

SGC_STATE static struct reported reported;
SGC_STATE sgc_aw_t sgc_on_os_get_mem;

typedef void memory_hook(void *space, size_t bytes);

/* Another thread that gets such memory waits here until the hook has returned. */
static void report_granted(struct sgc_mutator *self, memory_hook *hook, size_t end)
{
    bool closed = sgc_gc_lock_enter(self);
    size_t from = sgc_pace_larger(sgc_aw_load(&reported.end), reported.begun);

    sgc_assert(sgc_gc_lock_held());
    if (end > from) {
        reported.begun = end;
        hook((void *)(sgc_heap.base + from), end - from);
        sgc_aw_store_rel(&reported.end, end);
    }
    sgc_gc_lock_leave(closed);
}

static void report_refused(struct sgc_mutator *self, memory_hook *hook)
{
    size_t bytes = sgc_aw_swap(&sgc_pool.refused, 0);
    bool closed;

    if (bytes == 0)
        return;
    closed = sgc_gc_lock_enter(self);
    hook(NULL, bytes);
    sgc_gc_lock_leave(closed);
}

/* Without a hook nobody waits for the lock. */
static void watch_system(struct sgc_mutator *self)
{
    memory_hook *hook = (memory_hook *)sgc_aw_load_acq(&sgc_on_os_get_mem);
    size_t end = sgc_aw_load_acq(&sgc_heap.limit), known = sgc_aw_load_acq(&reported.end);

    sgc_assert(!self->service);
    if (end > known && hook == NULL)
        sgc_aw_cas(&reported.end, known, end);
    else if (end > known)
        report_granted(self, hook, end);
    if (hook != NULL && sgc_aw_load(&sgc_pool.refused) != 0)
        report_refused(self, hook);
}

/* ---- the watch ---- */

void sgc_heap_watch(struct sgc_mutator *self)
{
    size_t size = sgc_heap_size();
    size_t known = sgc_aw_load(&reported_size);

    sgc_assert(sgc_section_of(self)->held == 0);
    watch_group(self);
    if (self->service)
        return;
    watch_system(self);
    if (!differ_by_arena(size, known) || !sgc_aw_cas(&reported_size, known, size))
        return;
    note_size(size);
    if (size > known) {
        SGC_PROBE(heap__grown, size - known);
        SGC_EVENT(heap_grown, size - known);
    }
    call_hook(self, size);
}
