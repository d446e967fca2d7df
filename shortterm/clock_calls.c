/* SPDX-License-Identifier: MIT */
/*
 * The public functions for clocks that the program makes; refreshes by these clocks are in
 * shortterm/refresh.c.  On any mutator.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "platform/platform.h"
#include "shortterm/clocks.h"
#include "shortterm/start.h"
#include "shortterm/verify.h"
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
    sgc_clock_go_on(d, &clock->objects, &clock->regions);
    if (sgc_verifies())
        sgc_verify_tick(d);
    return 0;
}
