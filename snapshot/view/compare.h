/* SPDX-License-Identifier: MIT */
/*
 * Two snapshots of a process: which groups have grown, and which roots hold what is new.
 *
 * Groups are the same if their names are.  An object is the same as one of the older snapshot if
 * its address, its size and its group are: one that has been freed, and whose place another one of
 * its group has now, cannot be told from it.  If only its group is another, an object has been
 * renamed if its kind and its first word are as before, as when a kind gets a name, or when the
 * module is gone where the first word points: this is no growth.  Only what can be reached counts.
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
    struct sgc_held_sum came, went;     /* renamed: of now, and of before */
    struct sgc_held_sum *held;          /* these by holders of the newer one; NULL: it is not one of
                                         * the first */
};

struct sgc_comparison {
    uint32_t count;
    struct sgc_growth *growth;          /* those that have grown by more bytes come first */
    struct sgc_held_sum renamed;        /* objects, */
    const char *old_name, *new_name;    /* and groups of one of them */
    struct sgc_held_sum *held;          /* what `held` of all of them point into */
};

/* By bytes, but for what was renamed. */
static inline int64_t sgc_growth_bytes(const struct sgc_growth *growth)
{
    sgc_assert(growth->came.bytes <= growth->now.bytes && growth->went.bytes <= growth->before.bytes);
    return (int64_t)(growth->now.bytes - growth->came.bytes - (growth->before.bytes - growth->went.bytes));
}

/* Are they of one process, whose heap lies where it did?  If not, no object is the same. */
bool sgc_compare_one_process(const struct sgc_graph *older, const struct sgc_graph *newer);

/* `first` of the groups that have grown get their roots.  False if there is no memory; *c is to be
 * released in any case. */
bool sgc_compare(struct sgc_comparison *c, const struct sgc_view *older, const struct sgc_view *newer, uint32_t first);
void sgc_comparison_release(struct sgc_comparison *c);

#endif
