/* SPDX-License-Identifier: MIT */
/* Clocks that a thread has beside its own one: shortterm/clocks.h. */
#include "shortterm/clocks.h"

#include <errno.h>

#include "platform/platform.h"
#include "shortterm/regions.h"
#include "shortterm/tick.h"
#include "sgc_shortterm.h"

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
    clock->bytes = bytes_of_clock();
    clock->dates = d;
    clock->next = d->clocks;
    sgc_date_buffer_init(&clock->objects, (struct sgc_date_list *)(void *)(clock + 1), sgc_shortterm.extension + 1);
    sgc_section_enter(sgc_section_of(d->owner));
    d->clocks = clock;
    sgc_section_leave(sgc_section_of(d->owner));
    return clock;
}

static void go_on(struct sgc_dates *d, struct SGC_clock *clock)
{
    sgc_assert(clock->dates == d && sgc_date_buffer_ok(&clock->objects));
    sgc_dates_go_on(d, &clock->objects);
    if (clock->regions.list != NULL)
        sgc_regions_go_on(d, &clock->regions);
}

/* After so many ticks no date is left. */
static void release(struct sgc_dates *d, struct SGC_clock *clock)
{
    for (uint32_t i = 0; i <= sgc_shortterm.extension; i++)
        go_on(d, clock);
    sgc_dates_drop_clock(d, clock, sgc_section_of(d->owner));
}

void sgc_clocks_release(struct sgc_dates *d)
{
    sgc_assert(sgc_mutator_mine(d->owner));
    while (d->clocks != NULL)
        release(d, d->clocks);
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
    release(d, clock);
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
    go_on(d, clock);
    return 0;
}
