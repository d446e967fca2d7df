/* SPDX-License-Identifier: MIT */
/*
 * Holds: dates without an end, which are no thread's.
 *
 *   the tree    under the lock of the pages of dates; world stopped: who visits      same, and anybody in a section: acquire
 *   a hold      under that lock                                                      same; world stopped: who visits
 */
#ifndef SGC_SHORTTERM_HOLDS_H
#define SGC_SHORTTERM_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

struct sgc_mutator;
struct sgc_range;

/* Room for one hold more, also where dates are counted: a hold is one that is not the owner's.  False: there is no memory.  On
 * the thread, outside sections. */
bool sgc_holds_reach(struct sgc_mutator *self, uintptr_t object);

/* An object that begins there is held once more, or once less; an error number.  Under the lock, the first after
 * sgc_holds_reach.  *last: nobody holds it any more, and the caller has to take off the date that counts for that. */
int sgc_hold(struct sgc_mutator *self, uintptr_t object);
int sgc_unhold(struct sgc_mutator *self, uintptr_t object, bool *last);

/* Does anybody hold the object, which begins there?  In a section: in between a collection takes parts of the tree away. */
bool sgc_held(uintptr_t object);

/* Calls fn for the words that say which objects are held.  World stopped. */
void sgc_holds_visit(void (*fn)(void *arg, struct sgc_range range), void *arg);

#endif
