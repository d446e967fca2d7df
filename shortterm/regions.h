/* SPDX-License-Identifier: MIT */
/*
 * Regions: memory for objects that go together.
 *
 * A region's dates are counted in it, in all modes, and have lists of their own: there are few of them.  What regions are made
 * of, and who may change it: shortterm/region_chunks.h.
 */
#ifndef SGC_SHORTTERM_REGIONS_H
#define SGC_SHORTTERM_REGIONS_H

#include "shortterm/dates.h"
#include "shortterm/region_chunks.h"

struct sgc_region_date {
    uint32_t extension;                 /* not too large */
    bool global;
    struct SGC_clock *clock;            /* if it is not global; NULL: the thread's own one */
};

/* All of these: by the thread of the dates, outside sections. */

/* Gives the region a date; an error number. */
int sgc_region_refresh(struct sgc_dates *d, struct SGC_region *r, const struct sgc_region_date *date);

/* By its owner: its last date is over, as another thread has found out. */
void sgc_region_empty(struct SGC_region *r);

/* The clock of these dates of regions goes on, and one list of them is over. */
void sgc_regions_go_on(struct sgc_dates *d, struct sgc_date_buffer *buffer);

/* The thread ends: dates of its own clock are over, and those of global time are left to the collector. */
void sgc_regions_leave(struct sgc_dates *d);

/* The thread is gone without a word, or is in the parent of a fork: its dates are left to the collector.  By another thread. */
void sgc_regions_vanished(struct sgc_dates *d);

#endif
