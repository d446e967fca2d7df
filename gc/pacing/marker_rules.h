/* SPDX-License-Identifier: MIT */
/*
 * How many markers a mark is worth: by what it takes, and by what the memory nodes can serve.  Pure
 * functions of plain numbers, without state, clock or collector.
 */
#ifndef SGC_GC_PACING_MARKER_RULES_H
#define SGC_GC_PACING_MARKER_RULES_H

#include <stddef.h>

#include "mark/team/contention_rules.h"
#include "platform/compiler.h"

enum {
    SGC_MARK_ALONE_NS = 9000000,
    SGC_MARK_EACH_NS = 1000000,
    SGC_MARK_WITHIN = 5,         /* percent of the time of all markers that fewer may take longer */
    SGC_MARK_NODE_MB_S = 150000, /* what a node is taken to give its processors: a socket with eight
                                    channels of memory */
    SGC_MARK_NODES = 64,
};

/* A mark of less than 9 ms is done by one marker: waking others, and the lost contents of the
 * processors' caches, cost more than they save.  Beyond that each marker is to have a millisecond's
 * work. */
static inline uint32_t sgc_markers_by_cost(uint64_t ns, uint32_t max)
{
    sgc_assert(max > 0);
    if (ns < SGC_MARK_ALONE_NS)
        return 1;
    return ns / SGC_MARK_EACH_NS < max ? (uint32_t)(ns / SGC_MARK_EACH_NS) + 1 : max;
}

struct sgc_marking {
    uint64_t ns;           /* that one marker takes for it */
    size_t bytes;          /* to be read */
    const uint32_t *share; /* of the bytes, by node: in proportion, not all 0 */
    uint32_t nodes;
    uint64_t node_mb_s; /* 10^6 bytes a second that a node serves */
};

/* Of the markers that are worth it by cost, the fewest that take at most SGC_MARK_WITHIN percent
 * longer than all of them: [Endo]'s fast predictor (4.4.4).  The time of one marker includes its
 * cache misses; so here markers only wait for memory. */
static inline uint32_t sgc_markers_by_model(const struct sgc_marking *m, uint32_t max)
{
    struct sgc_node_load node[SGC_MARK_NODES];
    struct sgc_memory_load load = { node, m->nodes, { (double)SGC_CACHE_LINE * 1000 / (double)m->node_mb_s, 0 }, 1 };
    double all = 0, lines = (double)m->bytes / SGC_CACHE_LINE;

    sgc_assert(m->nodes >= 1 && m->nodes <= SGC_MARK_NODES && m->node_mb_s > 0);
    for (uint32_t j = 0; j < m->nodes; j++)
        all += m->share[j];
    sgc_assert(all > 0);
    for (uint32_t j = 0; j < m->nodes; j++)
        node[j] = (struct sgc_node_load){ .requests = { lines * m->share[j] / all, 0 } };
    return sgc_memory_enough(&load, (double)m->ns, sgc_markers_by_cost(m->ns, max), SGC_MARK_WITHIN);
}

#endif
