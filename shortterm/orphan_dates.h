/* SPDX-License-Identifier: MIT */
/*
 * Dates of global time that threads have left which are no more, of objects and of regions.
 *
 * Other threads were promised time to refresh these themselves, so these dates are not over with
 * their thread.  They are over when global time has gone on, since the thread ended, as far as the
 * longest date asks for; then a thread that makes a global tick, leaves global time, blocks or ends
 * takes them off: by each of these time may go on.  They are gathered, and wait together: those
 * that come meanwhile wait for the next turn.
 *
 *   all of it   under the lock of short-term memory   same; world stopped: the collecting thread
 *   wait        also under that lock                  anybody: relaxed, a hint
 */
#ifndef SGC_SHORTTERM_ORPHAN_DATES_H
#define SGC_SHORTTERM_ORPHAN_DATES_H

#include "shortterm/dates.h"

extern sgc_a32_t sgc_orphan_dates_wait;

/* Dates of objects that are over, and no thread's: with verify, until a collection has looked.
 * Under the lock; world stopped: the collecting thread. */
extern struct sgc_date_queue sgc_orphan_dates_over;

/* The thread ends: its lists of global time are empty afterwards, and with verify what it had to
 * take off.  On it, outside sections, while its pages are its own; or by the thread that buries
 * it. */
void sgc_orphan_dates_gather(struct sgc_dates *d, struct sgc_section *self);

/* The thread gets the dates that are over.  On it, outside sections. */
void sgc_orphan_dates_take_slowly(struct sgc_dates *d);

static inline void sgc_orphan_dates_take(struct sgc_dates *d)
{
    if (__builtin_expect(sgc_a32_load(&sgc_orphan_dates_wait) != 0, 0))
        sgc_orphan_dates_take_slowly(d);
}

/* Calls fn for each stretch of dates; or of those of objects alone.  World stopped. */
void sgc_orphan_dates_visit_objects(sgc_visit_dates_t fn, void *arg);
void sgc_orphan_dates_visit(sgc_visit_dates_t fn, void *arg);

#endif
