/* SPDX-License-Identifier: MIT */
/*
 * The lead of concurrent cycles, and the thread that takes a cycle from it
 * (doc/design/concurrent.md).
 *
 * The service thread leads: it sweeps everything, has the pages watched, has the program stopped
 * for its roots, marks while it runs, scans again what is marked on the pages written meanwhile,
 * and has the program stopped for the rest.  While the lead marks, or waits for a stop, it counts
 * as stopped and holds no lock.  Helper markers, and threads that assist, mark with it; they are
 * out of the heap whenever it is.
 *
 * The holder, which is the thread that has the GC lock, may take the cycle from the lead between
 * two pieces of work, to finish it or to give it up.
 *
 * The lead could stop the program between any two of its instructions.  A program that runs one
 * thread has never been stopped there: with other collectors, and in stop mode, it collects where
 * it allocates.  It may rely on that, knowingly or not, when it changes what its mark procedures
 * and hooks read.  So the lead offers the stop, and the first thread of the program that
 * allocates, or asks for a collection, takes its turn and makes it; the others are stopped by
 * their signal, as ever.  Meanwhile the program runs.  If every thread counts as stopped, or
 * nobody has come after a while, the lead makes the stop itself.
 *
 * How far the cycle has come is in sgc_cycle.state (gc/collect/cycle.h); besides:
 *
 *   what      written by                             read by     ordering
 *   held      the holder                             the lead    sequentially consistent with
 *   inside    the lead                               the holder  `inside`: each side writes its own
 *                                                                word, then reads the other's
 *   turn      the lead: OFFERED, without the GC      everybody   release / acquire; futex of the
 *             lock; the thread with the GC lock:                 lead.  The offered stop is made
 *             the rest                                           with the GC lock
 *   its stop  the lead, before it offers; the        same        `turn`, then the GC lock
 *             thread that has the GC lock and finds
 *             it offered
 *   the rest  the lead, while it is inside or has    same        the GC lock, `held` and `inside`
 *             the GC lock; the holder that has
 *             taken the cycle
 */
#ifndef SGC_GC_COLLECT_LEAD_H
#define SGC_GC_COLLECT_LEAD_H

#include "gc/collect/cycle.h"
#include "gc/events/events.h"
#include "gc/threads/mutator.h"
#include "mark/team/team.h"

/* ---- the lead: the service thread ---- */

enum sgc_lead_result {
    SGC_LEAD_UNARMED,           /* pages cannot be watched: there is no cycle, and it is not over */
    SGC_LEAD_NOT_BEGUN,         /* another cycle came first, or nothing may be collected now */
    SGC_LEAD_OVER,              /* it was finished, or given up, by the lead or another thread */
};

/* Leads a cycle that was asked for, from sweeping on; the heap's epoch was that before. */
enum sgc_lead_result sgc_lead_cycle(struct sgc_mutator *self, uint32_t epoch);

/* A cycle that was asked for is over, or does not begin: threads that wait for it go on. */
void sgc_lead_over(void);

/* ---- turns: threads of the program ---- */

enum { SGC_TURN_NONE, SGC_TURN_OFFERED, SGC_TURN_TAKEN };
extern sgc_a32_t sgc_turn_word;

static inline bool sgc_turn_offered(void)
{
    return __builtin_expect(sgc_a32_load(&sgc_turn_word) == SGC_TURN_OFFERED, 0);
}

/* Makes the stop that is offered; the thread's stack is scanned from `from`, 0: from here.  Outside
 * sections, no object in the thread's hands; under the GC lock it does nothing. */
void sgc_turn_take(struct sgc_mutator *self, uintptr_t from);

/* ---- the thread that has the GC lock, world running ---- */

/* Takes the cycle, if there is one, from the lead, which stays out of the heap until
 * sgc_lead_release, as does everybody who marks with it. */
void sgc_lead_hold(void);
void sgc_lead_release(void);

/* Resident bytes of the mark stacks, which are the markers' own while they mark; and where they
 * are.  Also from a callback of a collection. */
size_t sgc_lead_stacks_resident(void);
bool sgc_lead_visit_stacks(sgc_visit_stack_t visit, void *arg);

/* Finishes the cycle in one stop, on the calling thread, whose stack is scanned from `from`.
 * False, and the cycle goes on, if the world could not be stopped, or stop() (NULL: never) has said
 * so. */
bool sgc_lead_finish(struct sgc_mutator *self, enum sgc_reason reason, enum sgc_stopped_for what, int (*stop)(void),
                     uintptr_t from);

/* The lead need not wait for its stop any more: it sees that the cycle is over, or that another
 * came before. */
void sgc_lead_withdraw(void);

/* Gives the cycle up: what it has marked is forgotten.  False if the world could not be stopped for
 * that. */
bool sgc_lead_cancel(struct sgc_mutator *self);

/* In the child of a fork: there is no lead, and no cycle. */
void sgc_lead_after_fork(void);

#endif
