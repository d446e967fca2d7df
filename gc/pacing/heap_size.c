/* SPDX-License-Identifier: MIT */
/* The size of the heap.  gc/pacing/heap_size.h says which thread writes and reads each figure. */
#include "gc/pacing/heap_size.h"

#include "alloc/pages/pool.h"
#include "gc/pacing/pacing_rules.h"
#include "platform/platform.h"

enum { HEAP_SHARE = 8 };        /* an eighth of the cgroup's limit is left for everything else */

struct heap_size {
    sgc_aw_t promised;
    sgc_aw_t max;
};

SGC_STATE static struct heap_size heap_size;

size_t sgc_heap_size(void)
{
    return sgc_pace_larger(sgc_pool_heap_bytes(), sgc_aw_load(&heap_size.promised));
}

size_t sgc_heap_committed(void)
{
    return sgc_pace_larger(sgc_aw_load_acq(&sgc_heap.limit), sgc_aw_load(&heap_size.promised));
}

size_t sgc_heap_max(void)
{
    return sgc_pace_larger(sgc_heap_size(), sgc_aw_load(&heap_size.max));
}

void sgc_heap_promise(size_t bytes)
{
    sgc_aw_store(&heap_size.promised, bytes);
}

size_t sgc_heap_promised(void)
{
    return sgc_aw_load(&heap_size.promised);
}

void sgc_heap_note_max(size_t size)
{
    size_t max = sgc_aw_load(&heap_size.max);

    while (size > max && !sgc_aw_cas(&heap_size.max, max, size))
        max = sgc_aw_load(&heap_size.max);
}

size_t sgc_heap_limit(size_t wanted)
{
    size_t group = sgc_limit_cgroup_memory();
    size_t max = group / HEAP_SHARE * (HEAP_SHARE - 1);

    sgc_assert(group != 0);
    return group != SIZE_MAX && (wanted == 0 || wanted > max) ? max : wanted;
}
