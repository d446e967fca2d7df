/* SPDX-License-Identifier: MIT */
/*
 * A team of markers: the collecting thread is marker 0, helper threads are the others.
 *
 * The collecting thread begins a mark alone.  When there is enough to do it calls its helpers; they wake when the system
 * lets them, come in as idle markers, steal work, and go when all markers are idle.  Between marks, and while they have
 * nothing to do, they touch nothing of the heap or of other markers: nobody ever waits for a helper that sleeps.
 *
 * mark/team_state.h has the team itself, and says who may touch what of it.
 */
#ifndef SGC_MARK_TEAM_H
#define SGC_MARK_TEAM_H

#include "mark/team_state.h"

/* What a mark has found, added up over its markers. */
struct sgc_team_totals {
    size_t objects, bytes, pointer_free, root_bytes, rescans, deepest, steals, stolen;
    uint32_t markers;                   /* that marked anything */
};

/* False if there is no memory for even one marker.  Outside pauses. */
bool sgc_team_init(struct sgc_team *team, const struct sgc_team_config *config);

/* Frees it all.  There must be no helper thread. */
void sgc_team_release(struct sgc_team *team);

/* Marker 0, the collecting thread's. */
struct sgc_marker *sgc_team_first(struct sgc_team *team);

/* Makes the next marker for a helper thread that is about to be started; its number, or 0 when there can be no more.
 * Outside pauses, on the collecting thread. */
uint32_t sgc_team_add(struct sgc_team *team);

/* The thread of the helper that was to be last could not be started. */
void sgc_team_drop(struct sgc_team *team);

/* The life of helper i.  Does not return. */
void sgc_team_serve(struct sgc_team *team, uint32_t i);

/* All of the following: the collecting thread, world stopped. */

/* `want`: markers that are expected to be useful.  With more than one they are called at once, so that they are
 * awake when the roots have been looked at; otherwise when marking takes longer than expected. */
void sgc_team_begin(struct sgc_team *team, uint32_t want);

/* The same call later: who begins with one marker has nobody else look at the heap until then.  Before roots are marked. */
void sgc_team_call(struct sgc_team *team, uint32_t want);

/* From now on there is that source of work, too; NULL: none.  Before sgc_team_begin, or when nobody marks. */
void sgc_team_set_source(struct sgc_team *team, const struct sgc_source *source);

/* After a mark that was not given up: does all that the source has, and marks what is reachable from what that
 * marked.  helpers: it is enough to call them. */
void sgc_team_look_through(struct sgc_team *team, const struct sgc_source *source, bool helpers);

/* Marks what is reachable from the roots so far.  stop: asked now and then (NULL: never); false if it said so. */
bool sgc_team_mark(struct sgc_team *team, int (*stop)(void));

/* Scans the marked objects of flagged pages again until no page is flagged. */
bool sgc_team_rescan(struct sgc_team *team, int (*stop)(void));

/* A mark that was stopped: forgets its work.  The caller clears the mark bits. */
void sgc_team_abandon(struct sgc_team *team);

void sgc_team_totals(const struct sgc_team *team, struct sgc_team_totals *totals);

/* Gives back what a deep mark took.  Outside pauses. */
void sgc_team_trim(struct sgc_team *team);

/* Bytes of the mark stacks that have memory behind them.  Outside pauses. */
size_t sgc_team_stacks_resident(const struct sgc_team *team);

/* Panics on a contradiction.  Between marks. */
void sgc_team_check(const struct sgc_team *team);

/* In the child of a fork: there are no helpers. */
void sgc_team_after_fork(struct sgc_team *team);

#endif
