/* SPDX-License-Identifier: MIT */
/* Clocks that a thread has beside its own one: shortterm/dates.h says what they are made of. */
#ifndef SGC_SHORTTERM_CLOCKS_H
#define SGC_SHORTTERM_CLOCKS_H

#include "shortterm/dates.h"

/* All dates of the thread's clocks are over, and the clocks are no more.  On the thread, which ends, outside sections. */
void sgc_clocks_release(struct sgc_dates *d);

#endif
