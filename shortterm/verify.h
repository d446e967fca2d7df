/* SPDX-License-Identifier: MIT */
/*
 * SGC_SHORTTERM=verify: an object that has expired is kept until a collection has looked whether
 * the program can still reach it, and would break with free.
 *
 * Dates that are over wait with their threads, and are no roots.  When a collection has marked all
 * that is reachable without any date, they are taken off, but for those whose objects the program
 * wants to do something with (SGC_set_expiry_proc): these are left to their threads.  An object
 * whose last date that was is noted (shortterm/expired.h), and each collection looks for ways to
 * it, as long as it lasts.
 *
 *   unheld  a thread that takes a hold back, or has asked about an    same     the lock; stopping the world
 *           object, under the lock of the pages of dates; world
 *           stopped: the collecting thread
 */
#ifndef SGC_SHORTTERM_VERIFY_H
#define SGC_SHORTTERM_VERIFY_H

#include "mark/team.h"
#include "shortterm/dates.h"

/* Marks what has dates, and says what was reachable without.  World stopped: gc/threads/upper.h. */
void sgc_verify_mark(struct sgc_team *team);

/* The last hold of the object is taken back, and goes on counting as one of its dates until the next collection takes that off.
 * False: there is no page for it.  With the lock of the pages of dates. */
bool sgc_verify_unheld(struct sgc_dates *d, uintptr_t object, uintptr_t caller);

/* Calls fn for each stretch of dates that are over and no thread's.  World stopped. */
void sgc_verify_visit_gone(sgc_visit_dates_t fn, void *arg);

/* The program is asked what it wants to do with objects whose last dates a collection has left to the thread.  On it, outside
 * sections. */
void sgc_verify_due(struct sgc_dates *d);

/* A clock of the thread has gone on: tells what was found, and checks if it is time (SGC_SHORTTERM_CHECK).  On the thread,
 * outside sections. */
void sgc_verify_tick(struct sgc_dates *d);

/* Of the last collection: bytes that nothing but dates has kept. */
size_t sgc_verify_kept_bytes(void);

#endif
