/* SPDX-License-Identifier: MIT */
/* Clocks that a thread has beside its own one: shortterm/clocks.h. */
#include "shortterm/clocks.h"

/* After so many ticks no date is left.  The clock is gone before the program is asked what is to be done with objects, and may
 * leave this by a jump or an exception. */
void sgc_clock_release(struct sgc_dates *d, struct SGC_clock *clock)
{
    sgc_assert(sgc_mutator_mine(d->owner) && clock->dates == d);
    for (uint32_t i = 0; i <= sgc_shortterm.extension; i++) {
        sgc_clock_over(d, &clock->objects);
        if (clock->regions.list != NULL)
            sgc_regions_go_on(d, &clock->regions);
    }
    sgc_dates_drop_clock(d, clock, sgc_section_of(d->owner));
    if (d->expired.first != NULL)
        sgc_expire(d, sgc_shortterm.eager ? SIZE_MAX : (size_t)sgc_shortterm.step * (sgc_shortterm.extension + 1));
}
