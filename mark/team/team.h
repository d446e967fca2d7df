/* SPDX-License-Identifier: MIT */
/*
 * A team of markers: the collecting thread is marker 0, helper threads are the others.
 *
 * The collecting thread begins a mark alone.  When there is enough to do it calls its helpers; they
 * wake when the system lets them, come in as idle markers, steal work, and go when all markers are
 * idle.  Between marks, and while they have nothing to do, they touch nothing of the heap or of
 * other markers: nobody ever waits for a helper that sleeps.
 *
 * mark/team/team_state.h has the team itself, and says who may touch what of it.
 */
#ifndef SGC_MARK_TEAM_TEAM_H
#define SGC_MARK_TEAM_TEAM_H

#include "mark/team/team_state.h"

/* The counts of a mark, added up over its markers. */
struct sgc_team_totals {
    size_t objects, bytes, pointer_free, root_bytes, rescans, deepest, steals, stolen, steals_far;
    uint32_t markers;                   /* that marked anything */
};

/* False if there is no memory for even one marker.  Outside pauses. */
bool sgc_team_init(struct sgc_team *team, const struct sgc_team_config *config);

/* Frees it all.  There must be no helper thread. */
void sgc_team_release(struct sgc_team *team);

/* Marker 0, the collecting thread's. */
struct sgc_marker *sgc_team_first(struct sgc_team *team);

/* The number of the next helper, whose thread is about to be started; 0 when there can be no more.
 * Outside pauses, on the collecting thread, which waits until the helper has its marker. */
uint32_t sgc_team_add(struct sgc_team *team);

/* The new helper's thread makes its marker, so that the memory comes from where it runs.  `core`:
 * that it is bound to, or SGC_NO_CORE; `beyond`: another helper is bound to it.  False: there is no
 * memory. */
bool sgc_team_make(struct sgc_team *team, uint32_t i, uint32_t core, bool beyond);

/* The life of helper i, until helpers are dismissed. */
void sgc_team_serve(struct sgc_team *team, uint32_t i);

/* Ends the helpers' threads.  Each has left the team when this returns; its marker stays for
 * another.  With the GC lock, while nobody marks. */
void sgc_team_dismiss(struct sgc_team *team);

/* All of the following: the collecting thread, world stopped. */

/* `want`: markers that are expected to be useful.  With more than one they are called at once, so
 * that they are awake when the roots have been looked at; otherwise when marking takes longer than
 * expected.  Returns marker 0. */
struct sgc_marker *sgc_team_begin(struct sgc_team *team, uint32_t want);

/* Calls helpers as sgc_team_begin does, in a mark that began with one marker so that no other
 * looked at the heap before.  Before roots are marked. */
void sgc_team_call(struct sgc_team *team, uint32_t want);

/* From now on there is that source of work, too; NULL: none.  Before sgc_team_begin, or when nobody
 * marks. */
static inline void sgc_team_set_source(struct sgc_team *team, const struct sgc_source *source)
{
    sgc_assert(sgc_a32_load(&team->state) == 0);
    team->source = source;
}

/* After a mark that was not given up: does all that the source has, and marks what is reachable
 * from what that marked.  helpers: it is enough to call them. */
void sgc_team_round(struct sgc_team *team, const struct sgc_source *source, bool helpers);

/* ---- a mark beside the program ----
 *
 *   stop                  sgc_team_begin_concurrent, roots, sgc_team_go_on
 *   the program runs      sgc_team_go_on; sgc_marker_renew after written pages were armed anew; sgc_mark_written; again
 *   a stop, or several    roots, sgc_mark_written, sgc_team_go_on_flagged; the program runs again
 *   the last stop         sgc_team_finish_begin; roots, sgc_mark_written, and as in a stopped mark sgc_team_mark,
 *                         sgc_team_rescan; sources of work are looked at here only
 *
 * Only marker 0 marks until sgc_team_finish_begin, on whatever thread, one at a time; so marks are
 * stored plainly.  The exception is sgc_team_go_on while the program runs: helpers and assistants
 * may come in then, and are out when it returns.  Nobody else may write mark words meanwhile, and
 * nobody may take down a page that had objects.  sgc_team_abandon ends it at
 * any time, but not during a call of sgc_team_go_on. */

/* Makes the markers of assistants, as far as there is memory, so that there may be some.  Outside
 * pauses, while the team is closed. */
void sgc_team_make_spares(struct sgc_team *team);

/* World stopped.  As sgc_team_begin with one marker, but no helpers are called, however long it
 * takes. */
struct sgc_marker *sgc_team_begin_concurrent(struct sgc_team *team);

/* The program is about to run.  Nothing that waits on the stack names memory outside the heap. */
void sgc_team_program_runs(struct sgc_team *team);

/* It has been stopped: the heap's limit is taken anew, behind which no word counts as a pointer. */
void sgc_team_program_stopped(struct sgc_team *team);

/* Marks all that is reachable from the work that waits: true; or until `stop` says so, which the
 * calling thread asks every some microseconds (NULL: never): false, and the rest waits for the next
 * call, or its page is flagged.  Some work is done in any case.  While the program runs helpers are
 * called, as config.concurrent_markers says, if it takes longer than that. */
bool sgc_team_go_on(struct sgc_team *team, bool (*stop)(void *arg), void *arg);

/* How many bytes marker 0 and assistants have marked so far, about.  For `stop`. */
size_t sgc_team_marked(const struct sgc_team *team);

/* Something has changed that `stop` looks at: a calling thread that has nothing to do, and sleeps,
 * asks it at once.  Any thread. */
void sgc_team_nudge(struct sgc_team *team);

/* Any thread that counts as stopped, holds no lock and has signals blocked: marks with those who
 * do, beside the program, until the clock (sgc_clock_ns) says until_ns, or nothing is left, or
 * sgc_team_go_on is to return, which waits for it.  False at once if nobody marks, no spare marker
 * is free, or nobody has work to give away; a mark that marker 0 does alone is opened after the
 * first who asks, so that the next one may find some. */
bool sgc_team_assist(struct sgc_team *team, uint64_t until_ns);

/* In a stop: marks as sgc_team_go_on does, and then from the marked objects of flagged pages.
 * Pages whose objects may only be scanned in a stop stay flagged: if the program goes on, they must
 * be scanned again in the next stop. */
bool sgc_team_go_on_flagged(struct sgc_team *team, bool (*stop)(void *arg), void *arg);

/* In the last stop: from now on it is a mark of a stopped world like any other, which keeps its
 * marks, totals and work.  Calls helpers as sgc_team_begin does. */
void sgc_team_finish_begin(struct sgc_team *team, uint32_t want);

/* ---- */

/* Marks what is reachable from the roots so far.  stop: asked now and then (NULL: never); false if
 * it said so. */
bool sgc_team_mark(struct sgc_team *team, int (*stop)(void));

/* Scans the marked objects of flagged pages again until no page is flagged. */
bool sgc_team_rescan(struct sgc_team *team, int (*stop)(void));

/* A mark that was stopped: forgets its work.  The caller clears the mark bits. */
void sgc_team_abandon(struct sgc_team *team);

void sgc_team_totals(const struct sgc_team *team, struct sgc_team_totals *totals);

/* Gives back what a deep mark took.  Outside pauses. */
void sgc_team_trim(struct sgc_team *team);

/* Bytes of the mark stacks that have memory behind them.  While nobody marks. */
size_t sgc_team_stacks_resident(const struct sgc_team *team);

/* Calls visit with the memory of each mark stack, used or not, and the node where its marker ran
 * last.  When a call returns false there are no more, and that is the answer.  While nobody
 * marks. */
typedef bool (*sgc_visit_stack_t)(const void *start, size_t bytes, int node, void *arg);
bool sgc_team_visit_stacks(const struct sgc_team *team, sgc_visit_stack_t visit, void *arg);

/* Panics on a contradiction.  Between marks. */
void sgc_team_check(const struct sgc_team *team);

/* In the child of a fork: there are no helpers. */
void sgc_team_after_fork(struct sgc_team *team);

#endif
