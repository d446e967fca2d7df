/* SPDX-License-Identifier: MIT */
/*
 * A team of markers: the collecting thread is marker 0, helper threads are the others.
 *
 * The collecting thread begins a mark alone.  When there is enough to do it calls its helpers; they wake when the system
 * lets them, come in as idle markers, steal work, and go when all markers are idle.  Between marks, and while they have
 * nothing to do, they touch nothing of the heap or of other markers: nobody ever waits for a helper that sleeps.
 *
 *   what              written by                             read by          ordering
 *   state             the collecting thread: open, closed;   same             acquire-release RMW: who comes in sees all that was
 *                     helpers: come in, go out                                written before it was opened; who closes and then
 *                                                                             sees nobody inside sees all that helpers did
 *   call              the collecting thread, after state     helpers          release / acquire; a futex word
 *   arena             its markers: atomic add                its markers      acquire-release add, acquire load
 *   marker[i]         the collecting thread, once, before    its markers      release of `state`
 *                     helper i exists
 *   the other fields  the collecting thread, while closed    its markers      release of `state`
 *   owners            see mark/owners.h; begun by the collecting thread before the first call of a mark
 *   a marker's own    that marker while inside; the          others: only     see mark/work/deque.h for its deque
 *   fields            collecting thread while closed         its deque
 */
#ifndef SGC_MARK_TEAM_H
#define SGC_MARK_TEAM_H

#include "mark/work/idle.h"
#include "mark/marker.h"
#include "mark/work/termination.h"

struct sgc_team_config {
    struct sgc_mark_config mark;        /* of each marker */
    uint32_t most;                      /* markers there may be */
    bool balance;                       /* markers without work steal */
    enum sgc_steal steal;
    enum sgc_termination_form termination;
    enum sgc_markbit markbit;           /* when there are several */
};

/* Work that lies on no stack, and is given out in units.  A marker takes one when it has nothing else; the callers owe
 * that taking one releases, and finding none left acquires, on the same variable: see mark/work/termination.h. */
struct sgc_source {
    bool (*left)(void);
    bool (*take)(struct sgc_marker *marker);    /* does one unit; false if there was none */
};

struct sgc_team {
    struct sgc_team_config config;
    struct sgc_marker **marker;
    uint32_t made;                      /* markers that exist: 0 and those of helpers */
    uint32_t markers;                   /* that may take part in this mark */
    bool called;                        /* helpers were told of this mark */
    bool rescanning;
    bool again;                         /* objects may be looked at that have been already */
    const struct sgc_source *source;    /* NULL: none */
    uint32_t next_root;                 /* balance off: who gets the next piece of the roots */
    sgc_a32_t arena;
    int (*stop)(void);
    sgc_a32_t state, call;
    struct sgc_termination termination;
    struct sgc_idle idle;
    struct sgc_owners owners;           /* whose pages are whose; made for the first helper */
};

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

/* ---- for the marker's loop ---- */

/* Asked every now and then by a marker that works: false if the mark is to be given up. */
bool sgc_team_pause(struct sgc_marker *marker);

/* Are so many bytes of roots to be passed on, instead of scanned on the spot? */
bool sgc_team_wants_roots(const struct sgc_marker *marker, size_t bytes);

/* Gives a piece of the roots to whoever's turn it is.  False if there is no room: the caller scans it. */
bool sgc_team_give_roots(struct sgc_marker *marker, uintptr_t start, size_t bytes);

#endif
