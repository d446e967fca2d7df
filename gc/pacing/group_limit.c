/* SPDX-License-Identifier: MIT */
/* The limit of the heap in a cgroup.  Who may call what: gc/pacing/group_limit.h. */
#include "gc/pacing/group_limit.h"

#include "alloc/pages/pool.h"
#include "gc/events/events.h"
#include "gc/pacing/heap_size.h"
#include "gc/pacing/pacing.h"

enum {
    NEAR_SHARE = 4,             /* a heap below a quarter of it is not what gets the process killed */
    MARGIN_SHARE = 16,          /* a sixteenth of it is to stay free in the group */
    STEP_SHARE = 16,            /* of the heap: by so much the group's limit gives way */
};

struct group_limit {
    sgc_aw_t set;               /* bytes; SIZE_MAX: none */
    size_t group;               /* the cgroup's limit, bytes; SIZE_MAX: none */
    sgc_aw_t next;              /* the size of the heap at which the group is asked again */
    sgc_aw_t looked_at;         /* in this cycle it was asked last */
};

SGC_STATE static struct group_limit limit;

void sgc_group_limit_set(size_t wanted)
{
    size_t bytes = sgc_heap_limit(wanted);

    limit.group = sgc_limit_cgroup_memory();
    sgc_aw_store(&limit.set, bytes != 0 ? bytes : SIZE_MAX);
    sgc_aw_store(&limit.next, limit.group != SIZE_MAX ? limit.group / NEAR_SHARE : SIZE_MAX);
    sgc_pool_set_limit(bytes);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void set_pool_limit(size_t bytes)
{
    if (bytes / SGC_PAGE == sgc_aw_load(&sgc_pool.limit))
        return;
    sgc_pool_set_limit(bytes);
    sgc_pacing_reconsider();
}

/* Again when half of what was left is used up.  What the group cannot say counts as plenty. */
static void ask_group(size_t heap)
{
    size_t left = sgc_limit_cgroup_left();
    size_t margin = limit.group / MARGIN_SHARE;
    size_t room = left > margin ? left - margin : 0;
    size_t half = room / 2 > SGC_ARENA ? room / 2 : SGC_ARENA;

    sgc_aw_store(&limit.looked_at, sgc_cycles_finished());
    sgc_aw_store(&limit.next, room < SIZE_MAX - heap ? heap + half : SIZE_MAX);
    set_pool_limit(room < SIZE_MAX - heap ? smaller(heap + room, sgc_aw_load(&limit.set)) : sgc_aw_load(&limit.set));
}

/* Once a cycle in any case: the rest of the program may have grown since, and the heap shrunk. */
void sgc_group_limit_look(size_t heap)
{
    bool near = limit.group != SIZE_MAX && heap >= limit.group / NEAR_SHARE;

    if (near && (heap >= sgc_aw_load(&limit.next) || sgc_cycles_finished() != sgc_aw_load(&limit.looked_at)))
        ask_group(heap);
}

bool sgc_group_limit_gives_way(size_t bytes)
{
    size_t set = sgc_aw_load(&limit.set), now = sgc_aw_load(&sgc_pool.limit);
    size_t step = sgc_pool_heap_bytes() / STEP_SHARE + bytes + SGC_ARENA;

    if (limit.group == SIZE_MAX || now >= set / SGC_PAGE)
        return false;
    set_pool_limit(step < SIZE_MAX - now * SGC_PAGE ? smaller(now * SGC_PAGE + step, set) : set);
    return true;
}
