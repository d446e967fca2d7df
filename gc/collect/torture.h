/* SPDX-License-Identifier: MIT */
/*
 * Checks that cost much: torture mode, and the closure of marks.
 *
 * Torture mode, SGC_TORTURE=N: every N-th allocation of a thread collects, what is reclaimed is
 * poisoned, all invariants are checked after every phase, and threads are delayed at random where
 * protocols meet.
 *
 * In concurrent mode such an allocation asks for a cycle beside the program if there is none.
 * While there is one, some of them finish it, and some give it up and collect in one stop; the
 * lead's attempts have deadlines at random, and now and then everything counts as written.
 */
#ifndef SGC_GC_COLLECT_TORTURE_H
#define SGC_GC_COLLECT_TORTURE_H

#include "gc/config/options.h"
#include "gc/threads/mutator.h"

/* Should this allocation collect?  On the allocating thread. */
bool sgc_torture_due(struct sgc_mutator *m);

/* Is it so this time, once in n times?  Never if torture is off, or on a thread that is not
 * registered (NULL). */
bool sgc_torture_chance(struct sgc_mutator *m, uint32_t n);

/* How long an attempt that should take so long at most is to take instead, in nanoseconds. */
uint64_t sgc_torture_deadline(struct sgc_mutator *m, uint64_t given_ns);

/* Sometimes waits a little.  Raw system calls only: also in a suspend handler. */
void sgc_torture_delay(struct sgc_mutator *m);

/* Installs the delays at seams, if torture is on.  At start. */
void sgc_torture_init(void);

/* Checks everything.  World stopped. */
void sgc_torture_check(void);

/* ---- the closure of a mark (gc/collect/closure.c) ----
 *
 * A check of the mark that does not trust it (SGC_VERIFY=marks, and under torture): each word of a
 * root, and of a marked object, that leads to an object leads to a marked one. */

/* Are marks checked? */
static inline bool sgc_closure_is_checked(void)
{
    return sgc_options.verify == SGC_VERIFY_MARKS || sgc_options.torture > 0;
}

/* A word that leads to an object without mark. */
struct sgc_gap {
    const char *where;          /* "static data", "an object", ...; NULL: there is no gap */
    uintptr_t word, target;     /* where the word lies; the object's first address */
};

/* A mark beside the program begins.  Words may lead to objects that come where nothing is now:
 * these are no gaps, so such places are looked for (alloc/pages/dangling.h), in all objects that
 * there are.  World stopped, caches retired, on the collecting thread. */
void sgc_closure_begin(void);

/* The first gap of a mark that is complete.  Before the flip, world stopped, caches retired, on the
 * collecting thread. */
struct sgc_gap sgc_closure_find_gap(void);

/* Ends the process if there is one.  Says nothing of programs that have set marks themselves
 * (GC_set_mark_bit). */
void sgc_closure_check(void);

#endif
