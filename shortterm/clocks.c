/* SPDX-License-Identifier: MIT */
/*
 * Clocks that a thread has beside its own one, and the public functions for them:
 * shortterm/clocks.h.  Refreshes by these clocks are in shortterm/refresh.c.
 */
#include "gc/api/api.h"
#include "shortterm/clocks.h"

#include <errno.h>

#include "platform/platform.h"
#include "shortterm/start.h"
#include "shortterm/verify.h"
#include "sgc_shortterm.h"

/* After so many ticks no date is left.  The clock is gone before the program is asked what is to be
 * done with objects, and may leave this by a jump or an exception. */
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

/* ---- the public functions: on any mutator ---- */

static size_t bytes_of_clock(void)
{
    return sizeof(struct SGC_clock) + (sgc_shortterm.extension + 1) * sizeof(struct sgc_date_list);
}

SGC_clock_t *SGC_clock_new(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);
    struct SGC_clock *clock = d != NULL ? sgc_mem_obtain(bytes_of_clock()) : NULL;

    if (clock == NULL) {
        errno = d != NULL ? ENOMEM : error;
        return NULL;
    }
    sgc_assert(sgc_dates_ok(d) && clock->prev == NULL && clock->regions.list == NULL);
    clock->bytes = bytes_of_clock();
    clock->dates = d;
    clock->next = d->clocks;
    sgc_date_buffer_init(&clock->objects, (struct sgc_date_list *)(void *)(clock + 1), sgc_shortterm.extension + 1);
    sgc_section_enter(sgc_section_of(d->owner));
    if (d->clocks != NULL)
        d->clocks->prev = clock;
    sgc_compiler_barrier();
    d->clocks = clock;
    sgc_section_leave(sgc_section_of(d->owner));
    return clock;
}

int SGC_clock_release(SGC_clock_t *clock)
{
    int error;
    struct sgc_dates *d = clock != NULL ? sgc_dates_now(&error) : NULL;

    if (clock == NULL)
        return EINVAL;
    if (d == NULL)
        return error;
    if (clock->dates != d)
        return EPERM;
    sgc_clock_release(d, clock);
    return 0;
}

int SGC_tick_clock(SGC_clock_t *clock)
{
    int error;
    struct sgc_dates *d = clock != NULL ? sgc_dates_now(&error) : NULL;

    if (clock == NULL)
        return SGC_tick();
    if (d == NULL)
        return error;
    if (clock->dates != d)
        return EPERM;
    sgc_assert(sgc_mutator_mine(d->owner));
    sgc_clock_go_on(d, &clock->objects, &clock->regions);
    if (sgc_verifies())
        sgc_verify_tick(d);
    return 0;
}
