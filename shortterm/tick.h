/* SPDX-License-Identifier: MIT */
/* What ticks of all clocks have in common.  On the thread of the dates, outside sections. */
#ifndef SGC_SHORTTERM_TICK_H
#define SGC_SHORTTERM_TICK_H

#include "shortterm/dates.h"

/* The calling thread's dates, if it may change them now, made if need be; otherwise NULL and the error. */
struct sgc_dates *sgc_dates_now(int *error);

/* The clock of these dates of objects goes on, and one list of them is over. */
void sgc_dates_go_on(struct sgc_dates *d, struct sgc_date_buffer *buffer);

#endif
