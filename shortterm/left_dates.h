/* SPDX-License-Identifier: MIT */
/*
 * Dates of global time that threads have left which are no more, where dates are counted.
 *
 * Other threads were promised time to refresh the objects themselves, so these dates are not over with their thread.  They are
 * over when global time has gone on, since the thread ended, as far as the longest date asks for; then a thread that makes a
 * global tick takes them off.  They are gathered, and wait together: those that come meanwhile wait for the next turn.
 *
 *   all of it   under the lock of the pages of dates             same; world stopped: the collecting thread
 *   some        likewise                                         anybody: relaxed, a hint
 */
#ifndef SGC_SHORTTERM_LEFT_DATES_H
#define SGC_SHORTTERM_LEFT_DATES_H

#include "shortterm/dates.h"

extern sgc_a32_t sgc_left_some;

/* The thread ends: its lists of global time are empty afterwards.  On it, outside sections, while its pages are its own. */
void sgc_left_leave(struct sgc_dates *d);

/* Global time has gone on, for the thread: it gets the dates that are over. */
void sgc_left_take_slowly(struct sgc_dates *d);

static inline void sgc_left_take(struct sgc_dates *d)
{
    if (__builtin_expect(sgc_a32_load(&sgc_left_some) != 0, 0))
        sgc_left_take_slowly(d);
}

/* Calls fn for each stretch of dates.  World stopped. */
void sgc_left_visit(sgc_visit_dates_t fn, void *arg);

#endif
