/* SPDX-License-Identifier: MIT */
/* A graph with what all views of it need: groups, roots, dominators. */
#ifndef SGC_SNAPSHOT_VIEW_VIEW_H
#define SGC_SNAPSHOT_VIEW_VIEW_H

#include "snapshot/view/dominators.h"

/* The name of what keeps an object that no single root keeps. */
#define SGC_VIEW_SEVERAL "several roots"

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

/* Objects by the root that alone keeps them. */
struct sgc_held_sum {
    uint64_t objects, bytes;
};

/* Adds up the objects that `wanted` has a bit for (NULL: all that can be reached): those of group
 * i to sums[row[i] * (roots + 1) + root], unless row[i] is SGC_NAMES_NONE.  Those that several
 * roots keep go to the number of roots. */
void sgc_view_held(const struct sgc_view *v, const uint64_t *wanted, const uint32_t *row, struct sgc_held_sum *sums);

static inline const char *sgc_view_root_name(const struct sgc_view *v, uint32_t root)
{
    sgc_assert(root <= v->roots.count);
    return root == v->roots.count ? SGC_VIEW_SEVERAL : v->roots.name[root];
}

/* Bytes of the objects of a node: none of a root. */
static inline uint64_t sgc_view_bytes(const struct sgc_view *v, uint32_t node)
{
    return node < v->g->objects ? sgc_graph_bytes(v->g, node) : 0;
}

#endif
