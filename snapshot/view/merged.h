/* SPDX-License-Identifier: MIT */
/*
 * The dominator tree by groups: all that stands for "what is retained", as text, as a flame graph.
 *
 * The children of a node that are of one group become one, and its children are theirs.  A child of
 * its own parent's group is merged with the parent, so that a list is one node and no way of a
 * million.  Nodes that retain too little, or lie too deep, are one node "the rest" of their
 * parent.
 */
#ifndef SGC_SNAPSHOT_VIEW_MERGED_H
#define SGC_SNAPSHOT_VIEW_MERGED_H

#include "snapshot/view/view.h"

enum sgc_merged_is {
    SGC_MERGED_ALL,                     /* all that is reachable: node 0 */
    SGC_MERGED_ROOT,
    SGC_MERGED_SEVERAL,                 /* what the root leads to, as the first of several */
    SGC_MERGED_GROUP,
    SGC_MERGED_REST,
};

struct sgc_merged_node {
    uint32_t parent, depth;             /* of node 0: 0 */
    uint32_t number;                    /* of the root or the group */
    uint8_t is;                         /* enum sgc_merged_is */
    uint64_t objects, bytes;            /* its own; of the rest: all */
    uint64_t retained_objects, retained;        /* with all below it */
};

/* Nodes stand before what is below them, and those of one parent in the order of what they
 * retain, the rest last. */
struct sgc_merged {
    const struct sgc_view *v;
    uint32_t count, capacity;
    struct sgc_merged_node *node;
};

enum { SGC_MERGED_DEPTH = 200 };        /* at most */

/* Nodes that retain fewer bytes than `smallest`, or would be deeper than `depth`, are the rest.
 * False if there is no memory; *m is to be released in any case. */
bool sgc_merged_make(struct sgc_merged *m, const struct sgc_view *v, uint64_t smallest, uint32_t depth);
void sgc_merged_release(struct sgc_merged *m);

const char *sgc_merged_name(const struct sgc_merged *m, uint32_t node);

#endif
