/* SPDX-License-Identifier: MIT */
/*
 * Takes off dates that are over, where dates are counted (shortterm/dates/counts.h).  An object
 * that loses its last date is freed, or kept, as the mode says.
 *
 * A thread takes off the dates that it has made, in the order in which they were over: lazily, a
 * few at each refresh and tick, or eagerly, all at the tick ([SCM-C] 3.4).  An object whose date a
 * jump leaves half taken off has a count that is too high, and is the tracer's.
 *
 * A collection takes off dates that their thread has not yet taken off, whether it runs, waits or
 * does nothing any more, before it marks anything; and it counts all dates anew if numbers of them
 * may have become too high.  With the world stopped an object is freed as another thread frees it:
 * small ones by their remote bits, large ones by the bit of the first page.  The mark does not find
 * it then, and its place is found after the cycle.
 */
#ifndef SGC_SHORTTERM_EXPIRE_H
#define SGC_SHORTTERM_EXPIRE_H

#include "shortterm/dates.h"

/* ---- on the thread of the dates, outside sections ---- */

/* Takes off up to `max` dates; how many. */
size_t sgc_expire(struct sgc_dates *d, size_t max);

/* Takes off the first; none, if a collection has taken them off meanwhile. */
void sgc_expire_one(struct sgc_dates *d);

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
    sgc_assert(sgc_shortterm.counts && d->owner != NULL);
    if (sgc_shortterm.step == 1 && !sgc_shortterm.eager)
        sgc_expire_one(d);
    else if (!sgc_shortterm.eager)
        sgc_expire(d, sgc_shortterm.step);
}

/* The calling thread has taken off the object's last date, and has it to itself. */
void sgc_expire_object(struct sgc_dates *d, uintptr_t object);

/* ---- world stopped (shortterm/expire_stopped.c) ---- */

/* Takes off dates that are over, and frees the objects that expire by that, but with verify; then
 * counts all dates again if there is doubt.  Caches are retired, nothing is marked; where dates are
 * counted. */
void sgc_expire_stopped(void);

/* After a complete mark: forgets FREEABLE of objects without dates that the mark has not reached
 * (hybrid). */
void sgc_expire_marked(void);

#endif
