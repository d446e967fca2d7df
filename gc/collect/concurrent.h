/* SPDX-License-Identifier: MIT */
/*
 * Concurrent cycles: marking while the program runs, between short stops (doc/design/concurrent.md).
 *
 * The service thread leads: it sweeps everything, has the pages watched, has the program stopped
 * for its roots, marks beside it, looks at the pages written meanwhile, and has the program stopped
 * again for the rest: by a thread of the program that allocates, if one does (gc/collect/turn.h).
 * While the lead marks, or waits for a stop, it counts as stopped and holds no lock.  Helper
 * markers, and threads that assist, mark with it; they are out of the heap whenever it is.  Each
 * stop is an attempt to finish; one that would take longer than the target lets the program go on,
 * and keeps its marks.
 *
 * The holder, which is the thread that has the GC lock, may take the cycle from the lead between
 * two pieces of work, to finish it or to give it up.
 *
 *   what      written by                              read by          ordering
 *   state     any thread: IDLE to ASKED by CAS; the   everybody        acquire-release RMW; a stale
 *             lead and the holder: the rest                            IDLE or MARKING costs one
 *                                                                      question too many
 *   asked_in  any thread, before it looks at `state`  the lead, after  sequentially consistent, as
 *                                                     its over         `state` is there: one of the
 *                                                                      two sees the other's word
 *   again_at  the lead; a thread that asks, enables   any thread       relaxed: a stale one costs a
 *             or rules out concurrent cycles                           look
 *   held      the holder                              the lead         sequentially consistent with
 *                                                                      `inside`: each side writes
 *   inside    the lead                                the holder       its own word, then reads the
 *                                                                      other's
 *   the rest  the lead, while it is inside or has     same             the GC lock, `held` and
 *             the GC lock; the holder that has                         `inside`
 *             taken the cycle
 */
#ifndef SGC_GC_COLLECT_CONCURRENT_H
#define SGC_GC_COLLECT_CONCURRENT_H

#include <stdbool.h>
#include <stddef.h>

#include "gc/events/events.h"
#include "gc/threads/mutator.h"
#include "mark/team.h"

/* From now on cycles may be concurrent, if the system can tell which pages were written; says what is missing otherwise.
 * On any thread, outside sections. */
void sgc_concurrent_enable(void);
bool sgc_concurrent_enabled(void);

/* A cycle is wanted.  Any thread; outside sections, the GC lock not held. */
void sgc_concurrent_ask(struct sgc_mutator *self);

/* While cycles stop the program although concurrent ones were asked for: has the lead look again,
 * if it is time, whether these can be had now.  Any thread; outside sections, the GC lock not
 * held. */
void sgc_concurrent_ask_again(struct sgc_mutator *self);

/* One is wanted, or has begun, and is not over; it has begun. */
bool sgc_concurrent_busy(void);
bool sgc_concurrent_marks(void);

/* Waits until no cycle is busy, but no longer than that.  In a blocked region. */
void sgc_concurrent_wait_over(uint64_t max_ns);

/* ---- by who has the GC lock, world running ---- */

/* Takes the cycle, if there is one, from the lead, which stays out of the heap until sgc_concurrent_release, as does everybody
 * who marks with it. */
void sgc_concurrent_hold(void);
void sgc_concurrent_release(void);

/* Resident bytes of the mark stacks, which are the markers' own while they mark; and where they are.  Also from a callback of a
 * collection. */
size_t sgc_concurrent_stacks_resident(void);
bool sgc_concurrent_visit_stacks(sgc_visit_stack_t visit, void *arg);

/* Finishes the cycle in one stop, on the calling thread, whose stack is scanned from `from`.  False if the world could not be
 * stopped. */
bool sgc_concurrent_finish(struct sgc_mutator *self, enum sgc_reason reason, uintptr_t from);

/* Gives the cycle up: what it has marked is forgotten.  False if the world could not be stopped for that. */
bool sgc_concurrent_cancel(struct sgc_mutator *self);

/* The layer on top wants to look at each mark with the program stopped: there are no concurrent cycles any more, which is said
 * if they were wanted.  One that goes on is given up, or, if the world cannot be stopped, is the last. */
void sgc_concurrent_rule_out(struct sgc_mutator *self);

/* In the child of a fork: there is no lead, and no cycle. */
void sgc_concurrent_after_fork(void);

#endif
