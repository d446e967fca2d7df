/* SPDX-License-Identifier: MIT */
/*
 * Regions: memory for objects that go together.
 *
 * A region's dates are counted in it, in all modes, and have lists of their own: there are few of
 * them.  shortterm/region_chunks.h says how they are made, and which thread may change them.
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

/* All of these, but where something else is said: by the thread of the dates, outside sections. */

/* Gives the region a date; an error number. */
int sgc_region_refresh(struct sgc_dates *d, struct SGC_region *r, struct sgc_region_date date);

/* The clock of these dates of regions goes on, and one list of them is over. */
void sgc_regions_go_on(struct sgc_dates *d, struct sgc_date_buffer *buffer);

/* The thread ends: dates of its own clocks are over.  Those of global time are somebody else's from
 * now on (shortterm/orphan_dates.h); its own regions among them are orphans. */
void sgc_regions_leave(struct sgc_dates *d);

/* The thread is gone without a word, or is in the parent of a fork: dates of its own clocks, or
 * (`all`) all its dates, are given up, and what they were of is left to the collector.  By another
 * thread. */
void sgc_regions_vanished(struct sgc_dates *d, bool all);

/* Takes off dates that a thread has left, since they are over.  In a section; what is returned goes
 * to sgc_regions_empty_all, outside. */
struct SGC_region *sgc_regions_take_off(struct sgc_dates *d, const struct sgc_date_queue *over);
void sgc_regions_empty_all(struct SGC_region *first);

#endif
