/* SPDX-License-Identifier: MIT */
/*
 * The work of a collection on dates that are counted, before it marks anything: dates that are over
 * and that their thread has not taken off yet are taken off for it, whether it runs, waits or does
 * nothing any more; and numbers of dates that have become too high are counted anew.
 *
 * With the world stopped an object is freed as another thread frees it: small ones by their remote bits, large ones by the
 * bit of the first page.  The mark does not find it then, and its place is found after the cycle.
 */
#ifndef SGC_SHORTTERM_EXPIRE_STOPPED_H
#define SGC_SHORTTERM_EXPIRE_STOPPED_H

#include "shortterm/dates.h"

/* Both of these: world stopped, caches retired, nothing marked; where dates are counted. */

/* Takes off dates that are over, and frees the objects that expire by that. */
void sgc_expire_stopped(void);

/* All dates are counted again, if there is doubt; each as one of the owner of the object's page, or of another thread, as
 * things are now. */
void sgc_count_dates_again(void);

/* After a complete mark, world stopped: forgets FREEABLE of objects without dates that the mark has
 * not reached (hybrid). */
void sgc_expire_marked(void);

#endif
