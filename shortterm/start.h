/* SPDX-License-Identifier: MIT */
/* The first use of short-term memory, by the process and by each thread. */
#ifndef SGC_SHORTTERM_START_H
#define SGC_SHORTTERM_START_H

#include "shortterm/dates.h"

/* Starts the layer, if nobody has.  On a mutator, outside sections. */
void sgc_shortterm_start(struct sgc_mutator *self);

/* The thread's record, which is made if need be; NULL if there is no memory.  On the thread, outside sections. */
struct sgc_dates *sgc_dates_get(struct sgc_mutator *self);

/* The same of the calling thread, if it may change its dates now; otherwise NULL, and an error number. */
struct sgc_dates *sgc_dates_now(int *error);

#endif
