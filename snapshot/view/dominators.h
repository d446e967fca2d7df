/* SPDX-License-Identifier: MIT */
/*
 * The dominator tree of a graph: which object keeps which.
 *
 * A node dominates another if each way from the roots to that one leads through it.  So, if nothing
 * led to the node any more, all objects that it dominates would go away with it: their bytes are
 * what it retains.  Each node that can be reached has one that dominates it at once.
 *
 * Nodes are objects, by their numbers; behind them the roots (snapshot/view/groups.h), and last the
 * virtual root, which leads to all of these and stands for all that is reachable.  It dominates at
 * once the roots, and the objects that no single root keeps, since several lead there.  The bytes
 * that its children retain add up to all that is reachable.
 *
 * A root leads only to objects to which no root of an earlier level leads (groups.h): so objects to
 * which static data leads are not shared with the stacks of functions that work on them, and
 * finalizers keep what the mark has not reached.
 *
 * 24 bytes for each node; while they are found 24 to 32, and 4 for each pointer that is not the
 * first way to its object.
 */
#ifndef SGC_SNAPSHOT_VIEW_DOMINATORS_H
#define SGC_SNAPSHOT_VIEW_DOMINATORS_H

#include "snapshot/view/groups.h"

struct sgc_dominators {
    uint32_t objects, nodes;            /* objects of the graph; all nodes: the last is the virtual
                                         * root */
    uint32_t *of;                       /* the one that dominates it at once; SGC_GRAPH_NONE: it is
                                         * not reached, or is the virtual root */
    uint32_t *child, *sibling;          /* the first that it dominates at once, and the next one
                                         * that is dominated as it is; SGC_GRAPH_NONE: none.  In the
                                         * order of a search in depth */
    uint32_t *count;                    /* of objects that it dominates, itself included */
    uint64_t *retained;                 /* their bytes */
    uint64_t *beyond[SGC_ROOTS_LEVELS]; /* a bit an object: only roots of that level, and later
                                         * ones, lead to it; NULL for the first level */
    uint64_t *alone;                    /* a bit an object: it is kept by itself, without what its
                                         * pointers lead to */
};

/* False if there is no memory, or if there are 2^32 nodes or edges; *d is to be released in any
 * case. */
bool sgc_dominators_find(struct sgc_dominators *d, const struct sgc_graph *g, const struct sgc_roots *roots);
void sgc_dominators_release(struct sgc_dominators *d);

static inline uint32_t sgc_dominators_top(const struct sgc_dominators *d)
{
    sgc_assert(d->nodes > d->objects);
    return d->nodes - 1;
}

static inline bool sgc_dominators_reached(const struct sgc_dominators *d, uint32_t node)
{
    sgc_assert(node < d->nodes);
    return d->of[node] != SGC_GRAPH_NONE || node == d->nodes - 1;
}

/* Do the pointers of the object count? */
static inline bool sgc_dominators_follows(const struct sgc_dominators *d, uint32_t object)
{
    sgc_assert(object < d->objects);
    return (d->alone[object / 64] >> object % 64 & 1) == 0;
}

/* Does it count if a root of that level leads there? */
static inline bool sgc_dominators_counts(const struct sgc_dominators *d, enum sgc_roots_level level, uint32_t object)
{
    sgc_assert(object < d->objects);
    return level == SGC_ROOTS_LASTING || (d->beyond[level][object / 64] >> object % 64 & 1) != 0;
}

/* The node behind that one in a walk over all that `top` dominates, each before those that it
 * dominates; SGC_GRAPH_NONE: it was the last.  With `below` false, what the node dominates is left
 * out. */
static inline uint32_t sgc_dominators_next(const struct sgc_dominators *d, uint32_t node, uint32_t top, bool below)
{
    sgc_assert(node < d->nodes && top < d->nodes);
    if (below && d->child[node] != SGC_GRAPH_NONE)
        return d->child[node];
    while (node != top && d->sibling[node] == SGC_GRAPH_NONE)
        node = d->of[node];
    return node == top ? SGC_GRAPH_NONE : d->sibling[node];
}

#endif
