/* SPDX-License-Identifier: MIT */
/*
 * Takes off dates that are over, where dates are counted (shortterm/counts.h).  An object that
 * loses its last date is freed, or kept, as the mode says.
 *
 * A thread takes off the dates that it has made, in the order in which they were over: lazily, a
 * few at each refresh and tick, or eagerly, all at the tick ([SCM-C] 3.4).  An object whose date a
 * jump leaves half taken off has a count that is too high, and is the tracer's.
 *
 * On the thread of the dates, outside sections.
 */
#ifndef SGC_SHORTTERM_EXPIRE_H
#define SGC_SHORTTERM_EXPIRE_H

#include "shortterm/dates.h"

/* Takes off up to `max` dates; how many. */
size_t sgc_expire(struct sgc_dates *d, size_t max);

/* Takes off the first; none, if a collection has taken them off meanwhile. */
void sgc_expire_one(struct sgc_dates *d);

/* World stopped: the queue has been changed, and a call of sgc_expire that is under way goes on to the end of what is left. */
static inline void sgc_expire_go_on(struct sgc_dates *d)
{
    if (d->expire_to != NULL)
        d->expire_to = d->expired.first != NULL ? d->expired.last : NULL;
}

/* verify: takes off the first date.  True: it was the object's last, and was given at *caller. */
bool sgc_expire_first(struct sgc_dates *d, uintptr_t *object, uintptr_t *caller);

/* Takes off dates that are over at a tick: all (eager), or `step` of them (lazy). */
static inline void sgc_expire_tick(struct sgc_dates *d)
{
    if (d->expired.first != NULL)
        sgc_expire(d, sgc_shortterm.eager ? SIZE_MAX : sgc_shortterm.step);
}

/* Takes off, at a refresh, `step` of the dates that ticks have left; none if eager. */
static inline void sgc_expire_step(struct sgc_dates *d)
{
    if (sgc_shortterm.step == 1 && !sgc_shortterm.eager)
        sgc_expire_one(d);
    else if (!sgc_shortterm.eager)
        sgc_expire(d, sgc_shortterm.step);
}

/* The calling thread has taken off the object's last date, and has it to itself. */
void sgc_expire_object(struct sgc_dates *d, uintptr_t object);

/* GC_free of the object (or GC_realloc, which has moved it): true if it has dates, and stays. */
bool sgc_expire_keeps(struct sgc_mutator *self, uintptr_t object, bool freed);

#endif
