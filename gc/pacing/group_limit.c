/* SPDX-License-Identifier: MIT */
/* The limit of the heap in a cgroup.  Who may call what: gc/pacing/group_limit.h. */
#include "gc/pacing/group_limit.h"

#include "alloc/pages/pool.h"
#include "gc/pacing/heap_size.h"
#include "gc/pacing/pacing.h"
#include "gc/pacing/pacing_rules.h"

enum {
    NEAR_SHARE = 4,             /* a heap below a quarter of it is not what gets the process killed */
    MARGIN_SHARE = 16,          /* a sixteenth of it is to stay free in the group */
    STEP_SHARE = 16,            /* of the heap: by so much the group's limit gives way */
};

struct group_limit {
    sgc_aw_t set;               /* bytes; SIZE_MAX: none */
    size_t group;               /* the cgroup's limit, bytes; SIZE_MAX: none */
};

SGC_STATE static struct group_limit limit;

void sgc_group_limit_set(size_t wanted)
{
    size_t bytes = sgc_heap_limit(wanted);

    limit.group = sgc_limit_cgroup_memory();
    sgc_assert(limit.group != 0);
    sgc_aw_store(&limit.set, bytes != 0 ? bytes : SIZE_MAX);
    sgc_pool_set_limit(bytes);
}

static void set_pool_limit(size_t bytes)
{
    if (bytes / SGC_PAGE == sgc_aw_load(&sgc_pool.limit))
        return;
    sgc_pool_set_limit(bytes);
    sgc_pacing_reconsider();
}

/* What the group cannot say counts as plenty. */
void sgc_group_limit_look(size_t heap)
{
    size_t set = sgc_aw_load(&limit.set), left, room;

    sgc_assert(limit.group != 0);
    if (limit.group == SIZE_MAX || heap < limit.group / NEAR_SHARE)
        return;
    left = sgc_limit_cgroup_left();
    room = sgc_pace_less(left, limit.group / MARGIN_SHARE);
    set_pool_limit(room < SIZE_MAX - heap ? sgc_pace_smaller(heap + room, set) : set);
}

bool sgc_group_limit_gives_way(size_t bytes)
{
    size_t set = sgc_aw_load(&limit.set), now = sgc_aw_load(&sgc_pool.limit);
    size_t step = sgc_pool_heap_bytes() / STEP_SHARE + bytes + SGC_ARENA;

    sgc_assert(limit.group != 0 && set != 0);
    if (limit.group == SIZE_MAX || now >= set / SGC_PAGE)
        return false;
    set_pool_limit(step < SIZE_MAX - now * SGC_PAGE ? sgc_pace_smaller(now * SGC_PAGE + step, set) : set);
    return true;
}
