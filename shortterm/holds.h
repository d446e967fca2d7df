/* SPDX-License-Identifier: MIT */
/*
 * Holds: dates without an end, which are no thread's.
 *
 *   the tree     under the lock of short-term memory;      same, and anybody in a section: acquire
 *                world stopped: a visit
 *   a hold       under that lock                           same; world stopped: a visit
 *   sgc_unheld   under that lock; world stopped: the       same
 *                collecting thread
 */
#ifndef SGC_SHORTTERM_HOLDS_H
#define SGC_SHORTTERM_HOLDS_H

#include "shortterm/dates.h"

struct sgc_range;

/* Does anybody hold the object, which begins there?  In a section: in between a collection takes
 * parts of the tree away. */
bool sgc_held(uintptr_t object);

/* Calls fn for the words that say which objects are held.  World stopped. */
void sgc_holds_visit(void (*fn)(void *arg, struct sgc_range range), void *arg);

/* verify: dates that are over and were no thread's, until the next collection takes them off: the
 * last holds of objects, when they are taken back, and dates of objects whose expiry procedures
 * have been called. */
extern struct sgc_date_list sgc_unheld;

/* Such a date, which is counted as one of another thread's, given at `caller`.  False: there is no
 * page for it.  On the thread, under the lock. */
bool sgc_unheld_note(struct sgc_dates *d, uintptr_t object, uintptr_t caller);

#endif
