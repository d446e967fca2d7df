/* SPDX-License-Identifier: MIT */
/*
 * Torture mode, SGC_TORTURE=N: every N-th allocation of a thread collects, what is reclaimed is
 * poisoned, all invariants are checked after every phase, and threads are delayed at random where
 * protocols meet.
 */
#ifndef SGC_GC_COLLECT_TORTURE_H
#define SGC_GC_COLLECT_TORTURE_H

#include "gc/threads/mutator.h"

/* Should this allocation collect?  On the allocating thread. */
bool sgc_torture_due(struct sgc_mutator *m);

/* Sometimes waits a little.  Raw system calls only: also in a suspend handler. */
void sgc_torture_delay(struct sgc_mutator *m);

/* Installs the delays at seams, if torture is on.  At start. */
void sgc_torture_init(void);

/* Checks everything.  World stopped. */
void sgc_torture_check(void);

#endif
