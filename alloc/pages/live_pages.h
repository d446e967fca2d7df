/* SPDX-License-Identifier: MIT */
/*
 * How many pages were live at the end of the last mark, and the maxima that [Endo] ch. 2 calls l
 * (over all threads together) and u_i (of thread i).
 *
 * A page is counted when it is swept and something lives in it: nobody walks the heap for this, and
 * the counts of an epoch are complete when everything is swept; until then they are too low, never
 * too high.  Spans are not counted: they come from the common index whatever the policy.
 *
 *   what             written by                               read by         ordering
 *   an owner's       whoever sweeps a page of it, under the   reports         the lock; readers relaxed: figures
 *   count and most   lock of the lists the page is on
 *   total, most      who sweeps, compare-and-swap             the policy      relaxed would do: an estimate
 *   generation       who gave memory back                     who sweeps      who has an old value changes nothing
 *                 */
#ifndef SGC_ALLOC_PAGES_LIVE_PAGES_H
#define SGC_ALLOC_PAGES_LIVE_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Before the first page is swept.  If the system refuses memory, owners are not told apart. */
void sgc_live_pages_init(void);

/* A page of the owner (SGC_NO_OWNER: an orphan) has been swept for the first time in this epoch,
 * and something lives in it.  Under the lock of the lists it is on. */
void sgc_live_pages_count(uint32_t owner);

/* Memory was given back: the maxima start again from the counts of this epoch. */
void sgc_live_pages_renew(void);

size_t sgc_live_pages_max(void);               /* l */
size_t sgc_live_pages_max_of_owners(uint32_t owners);   /* the sum of the u_i of owners below that
                                                           number, for reports */

#endif
