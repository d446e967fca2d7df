/* SPDX-License-Identifier: MIT */
/*
 * Torture mode, SGC_TORTURE=N: every N-th allocation of a thread collects, what is reclaimed is
 * poisoned, all invariants are checked after every phase, and threads are delayed at random where
 * protocols meet.
 *
 * In concurrent mode such an allocation asks for a cycle beside the program if there is none.  While there is one, some of them
 * finish it, and some give it up and collect in one stop; the lead's attempts have deadlines at random, and now and then
 * everything counts as written.
 */
#ifndef SGC_GC_COLLECT_TORTURE_H
#define SGC_GC_COLLECT_TORTURE_H

#include "gc/threads/mutator.h"

/* Should this allocation collect?  On the allocating thread. */
bool sgc_torture_due(struct sgc_mutator *m);

/* Is it so this time, once in n times?  Never if torture is off, or on a thread that is not registered (NULL). */
bool sgc_torture_chance(struct sgc_mutator *m, uint32_t n);

/* How long an attempt that should take so long at most is to take instead, in nanoseconds. */
uint64_t sgc_torture_deadline(struct sgc_mutator *m, uint64_t given_ns);

/* In concurrent mode: does this allocation, which is due, leave collecting to the lead? */
bool sgc_torture_leaves_it(struct sgc_mutator *m);

/* Sometimes waits a little.  Raw system calls only: also in a suspend handler. */
void sgc_torture_delay(struct sgc_mutator *m);

/* Installs the delays at seams, if torture is on.  At start. */
void sgc_torture_init(void);

/* Checks everything.  World stopped. */
void sgc_torture_check(void);

#endif
