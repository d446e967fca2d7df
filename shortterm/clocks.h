/* SPDX-License-Identifier: MIT */
/*
 * Clocks go on: the own one of a thread, global time for a thread, and those that a thread has
 * beside them (struct SGC_clock in shortterm/dates.h).  On the thread of the dates, outside
 * sections.
 */
#ifndef SGC_SHORTTERM_CLOCKS_H
#define SGC_SHORTTERM_CLOCKS_H

#include "shortterm/dates.h"
#include "shortterm/expire.h"
#include "shortterm/regions.h"

/* The dates of one list are over. */
__attribute__((always_inline))
static inline void sgc_clock_over(struct sgc_dates *d, struct sgc_date_buffer *objects)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct sgc_date_page *first = NULL, *last;
    struct sgc_date_list *over;

    sgc_assert(sgc_section_mine(section) && sgc_date_buffer_ok(objects));
    sgc_section_enter(section);
    over = sgc_date_buffer_tick(objects);
    if (sgc_shortterm.counts)
        sgc_date_queue_append(&d->expired, over);
    else
        sgc_date_list_clear(over, &first, &last);
    sgc_section_leave(section);
    if (__builtin_expect(first != NULL, 0))
        sgc_date_pages_give(&d->pool, first, last, section);
}

/* A tick of one clock, for its dates of objects and of regions.  Objects expire last: the program's
 * function for one may leave the tick by a jump or an exception. */
__attribute__((always_inline))
static inline void sgc_clock_go_on(struct sgc_dates *d, struct sgc_date_buffer *objects, struct sgc_date_buffer *regions)
{
    sgc_assert(objects != regions && (regions->list == NULL || sgc_date_buffer_ok(regions)));
    sgc_clock_over(d, objects);
    if (__builtin_expect(regions->list != NULL, 0))
        sgc_regions_go_on(d, regions);
    sgc_expire_tick(d);
}

/* All dates of the clock are over, and it is no more. */
void sgc_clock_release(struct sgc_dates *d, struct SGC_clock *clock);

#endif
