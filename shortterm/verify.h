/* SPDX-License-Identifier: MIT */
/*
 * SGC_SHORTTERM=verify: what has expired is kept until a collection has looked whether the program can still reach it, which is
 * what free would have broken.
 *
 * Dates that are over wait with their threads, and are no roots.  When a collection has marked all that is reachable without
 * any date, they are taken off.  An object whose last date that was is garbage like any other if it has no mark.  If it has
 * one, something leads to it: a finding.  Then what has dates is marked.  An expired object that has a mark only now is needed
 * by one that has not expired: a finding, too.  From then on both are ordinary objects, of which nothing more is said.
 *
 *   gone,   a thread that ends, or takes a hold back, under the lock of   same     the lock; stopping the world
 *   unheld  the pages of dates; world stopped: the collecting thread
 *   still   the collecting thread, world stopped                          same     the GC lock
 */
#ifndef SGC_SHORTTERM_VERIFY_H
#define SGC_SHORTTERM_VERIFY_H

#include "mark/team.h"
#include "shortterm/dates.h"

static inline bool sgc_verifies(void)
{
    return sgc_shortterm.mode == SGC_SHORTTERM_VERIFY;
}

/* Marks what has dates, and says what was reachable without.  World stopped: gc/threads/upper.h. */
void sgc_verify_mark(struct sgc_team *team);

/* The thread ends: its dates that are over are looked at in the next collection.  On the thread outside sections, or by who
 * buries it. */
void sgc_verify_leave(struct sgc_dates *d, struct sgc_section *self);

/* The last hold of the object is taken back, and goes on counting as one of its dates until the next collection takes that off.
 * False: there is no page for it.  With the lock of the pages of dates. */
bool sgc_verify_unheld(struct sgc_dates *d, uintptr_t object, uintptr_t caller);

/* Calls fn for each stretch of dates that are over and no thread's.  World stopped. */
void sgc_verify_visit_gone(sgc_visit_dates_t fn, void *arg);

/* A clock of the thread has gone on: tells what was found, and checks if it is time (SGC_SHORTTERM_CHECK).  On the thread,
 * outside sections. */
void sgc_verify_tick(struct sgc_dates *d);

/* Of the last collection: bytes that nothing but dates has kept. */
size_t sgc_verify_kept_bytes(void);

#endif
