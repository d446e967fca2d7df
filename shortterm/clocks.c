/* SPDX-License-Identifier: MIT */
/* Clocks that a thread has beside its own one: shortterm/clocks.h. */
#include "shortterm/clocks.h"

/* After so many ticks no date is left. */
void sgc_clock_release(struct sgc_dates *d, struct SGC_clock *clock)
{
    sgc_assert(sgc_mutator_mine(d->owner) && clock->dates == d);
    for (uint32_t i = 0; i <= sgc_shortterm.extension; i++)
        sgc_clock_go_on(d, &clock->objects, &clock->regions);
    sgc_dates_drop_clock(d, clock, sgc_section_of(d->owner));
}
