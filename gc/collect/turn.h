/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is to make a stop of a concurrent cycle.
 *
 * The lead could stop the program between any two of its instructions.  A program that runs one thread has never been
 * stopped there: with other collectors, and in stop mode, it collects where it allocates.  It may rely on that, knowingly or
 * not, when it changes what its mark procedures and hooks look at.  So the lead offers the stop, and the first thread of the
 * program that allocates, or asks for a collection, makes it; the others are stopped by their signal, as ever.  Meanwhile the
 * program runs.  If every thread counts as stopped, or nobody has come after a while, the lead makes the stop itself.
 *
 *   what      written by                                   read by    ordering
 *   word      the lead: OFFERED, without the GC lock; the  everybody  release / acquire; futex of
 *             thread with the GC lock: the rest                       the lead.  The offered stop
 *                                                                     is made with the GC lock
 *   the rest  the lead, before it offers; the thread that  same       `word`, then the GC lock
 *             has the GC lock and finds it offered
 */
#ifndef SGC_GC_COLLECT_TURN_H
#define SGC_GC_COLLECT_TURN_H

#include "gc/threads/mutator.h"

/* Makes a stop, with the GC lock; the thread's stack is scanned from `from`, 0: from here. */
typedef void sgc_turn_t(struct sgc_mutator *self, uintptr_t from, void *arg);

/* Has stop(..., arg) called, once.  By the lead, which counts as stopped while it waits. */
void sgc_turn_offer(struct sgc_mutator *lead, sgc_turn_t *stop, void *arg);

enum { SGC_TURN_NONE, SGC_TURN_OFFERED, SGC_TURN_TAKEN };
extern sgc_a32_t sgc_turn_word;

static inline bool sgc_turn_offered(void)
{
    return __builtin_expect(sgc_a32_load(&sgc_turn_word) == SGC_TURN_OFFERED, 0);
}

/* Makes the stop that is offered.  Outside sections, no object in the thread's hands; under the GC lock it does nothing. */
void sgc_turn_take(struct sgc_mutator *self, uintptr_t from);

/* The cycle is over: the lead need not wait any more.  By who has the GC lock, in a stopped world, too. */
void sgc_turn_withdraw(void);

void sgc_turn_after_fork(void);

#endif
