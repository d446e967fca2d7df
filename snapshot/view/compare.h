/* SPDX-License-Identifier: MIT */
/*
 * Two snapshots of a process: which groups have grown, and which roots hold what is new.
 *
 * Groups are the same if their names are.  An object is the same as one of the older snapshot if
 * its address, its size and its group are: one that has been freed, and whose place another one of
 * its group has now, cannot be told from it.  Only what can be reached counts.
 */
#ifndef SGC_SNAPSHOT_VIEW_COMPARE_H
#define SGC_SNAPSHOT_VIEW_COMPARE_H

#include "snapshot/view/view.h"

struct sgc_growth {
    const char *name;                   /* of the group */
    uint32_t group;                     /* in the newer snapshot; SGC_NAMES_NONE: not there any
                                         * more */
    struct sgc_held_sum before, now;
    struct sgc_held_sum fresh;          /* of now: those that are not the same as before */
    struct sgc_held_sum *held;          /* these by holders of the newer one; NULL: it is not one of
                                         * the first */
};

struct sgc_comparison {
    uint32_t count;
    struct sgc_growth *growth;          /* those that have grown by more bytes come first */
    struct sgc_held_sum *held;          /* what `held` of all of them point into */
};

/* Are they of one process, whose heap lies where it did?  If not, no object is the same. */
bool sgc_compare_one_process(const struct sgc_graph *older, const struct sgc_graph *newer);

/* `first` of the groups that have grown get their roots.  False if there is no memory; *c is to be
 * released in any case. */
bool sgc_compare(struct sgc_comparison *c, const struct sgc_view *older, const struct sgc_view *newer, uint32_t first);
void sgc_comparison_release(struct sgc_comparison *c);

#endif
