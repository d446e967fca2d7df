/* SPDX-License-Identifier: MIT */
/* A graph with what all views of it need: groups, roots, dominators. */
#ifndef SGC_SNAPSHOT_VIEW_VIEW_H
#define SGC_SNAPSHOT_VIEW_VIEW_H

#include "snapshot/view/dominators.h"

struct sgc_view {
    const struct sgc_graph *g;
    struct sgc_groups groups;
    struct sgc_roots roots;
    struct sgc_dominators d;
};

/* `names` may be NULL; the graph stays the caller's.  False if there is no memory, or too much in
 * the graph (dominators.h); *v is to be released in any case. */
bool sgc_view_make(struct sgc_view *v, const struct sgc_graph *g, const struct sgc_names *names);
void sgc_view_release(struct sgc_view *v);

/* The objects of a group that can be reached. */
struct sgc_group_sum {
    uint32_t group;
    uint64_t objects, bytes;
    uint64_t retained;                  /* bytes of the objects, each counted once, that an object of
                                         * the group dominates; those themselves are among them, and
                                         * not what several of them hold together and none by
                                         * itself */
};

/* Of each group, by its number; the caller frees them.  NULL if there is no memory. */
struct sgc_group_sum *sgc_view_sums(const struct sgc_view *v);

/*
 * Objects by holders: the root that keeps them alone, or the number of roots more, if several lead
 * there and it is the first.  The virtual root's children stand in an order by which this can be
 * seen: the first root that leads to an object is the last one before it.
 */
struct sgc_held_sum {
    uint64_t objects, bytes;
    uint32_t first;                     /* number of one of them, of sgc_view_held */
};

/* Adds up the objects that `wanted` has a bit for (NULL: all that can be reached): those of group
 * i to sums[row[i] * holders + holder], unless row[i] is SGC_NAMES_NONE. */
void sgc_view_held(const struct sgc_view *v, const uint64_t *wanted, const uint32_t *row, struct sgc_held_sum *sums);

static inline uint32_t sgc_view_holders(const struct sgc_view *v)
{
    return 2 * v->roots.count;
}

static inline const char *sgc_view_holder_name(const struct sgc_view *v, uint32_t holder)
{
    sgc_assert(holder < sgc_view_holders(v));
    return holder < v->roots.count ? v->roots.name[holder] : v->roots.with_others[holder - v->roots.count];
}

/* The holder of a child of the virtual root, if that of the child before is `before`. */
static inline uint32_t sgc_view_holder(const struct sgc_view *v, uint32_t child, uint32_t before)
{
    uint32_t roots = v->roots.count;

    sgc_assert(child < v->d.nodes - 1 && before < sgc_view_holders(v));
    if (child >= v->g->objects)
        return child - v->g->objects;
    return before < roots ? roots + before : before;
}

/* Bytes of the objects of a node: none of a root. */
static inline uint64_t sgc_view_bytes(const struct sgc_view *v, uint32_t node)
{
    return node < v->g->objects ? sgc_graph_bytes(v->g, node) : 0;
}

#endif
