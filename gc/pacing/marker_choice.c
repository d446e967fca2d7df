/* SPDX-License-Identifier: MIT */
/* How many markers the next mark is to have.  Reads options and the homes of arenas, which never change; owns nothing. */
#include "gc/pacing/marker_choice.h"

#include "alloc/pages/homes.h"
#include "gc/config/options.h"
#include "gc/pacing/marker_rules.h"

/* The heap's arenas by node; one that has no home is on all of them.  Returns how many nodes there are. */
static uint32_t count_homes(uint32_t *share)
{
    uint32_t nodes = sgc_heap.homes > 1 ? sgc_heap.homes : 1;
    uint32_t arenas = (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);

    sgc_assert(nodes <= SGC_MARK_NODES);
    for (uint32_t j = 0; j < nodes; j++)
        share[j] = nodes == 1 || arenas == 0;
    for (uint32_t a = 0; nodes > 1 && a < arenas; a++) {
        int node = sgc_arena_node(a);

        for (uint32_t j = 0; j < nodes; j++)
            share[j] += node < 0 || j == (uint32_t)node;
    }
    return nodes;
}

static uint32_t by_model(uint64_t marking_ns, size_t bytes, uint32_t max)
{
    uint32_t share[SGC_MARK_NODES];
    struct sgc_marking marking = { marking_ns, bytes, share, 0, (uint64_t)sgc_options.node_mb_s };

    if (marking.node_mb_s == 0)
        marking.node_mb_s = SGC_MARK_NODE_MB_S;
    marking.nodes = count_homes(share);
    return sgc_markers_by_model(&marking, max);
}

int sgc_marker_choice(uint64_t marking_ns, size_t bytes, int max)
{
    sgc_assert(max >= 1);
    if (sgc_options.marker_choice == SGC_MARKERS_ALL)
        return max;
    if (sgc_options.marker_choice == SGC_MARKERS_MODEL)
        return (int)by_model(marking_ns, bytes, (uint32_t)max);
    return (int)sgc_markers_by_cost(marking_ns, (uint32_t)max);
}
