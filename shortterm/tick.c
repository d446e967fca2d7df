/* SPDX-License-Identifier: MIT */
/*
 * Ticks: clocks go on, and dates are over.
 */
#include "gc/api/internal.h"

#include <errno.h>

#include "shortterm/global_time.h"
#include "shortterm/start.h"
#include "sgc_shortterm.h"

/* The dates of one list are over. */
static void go_on(struct sgc_dates *d, struct sgc_date_buffer *buffer)
{
    struct sgc_section *section = sgc_section_of(d->owner);
    struct sgc_date_page *first, *last;

    sgc_assert(sgc_section_mine(section) && sgc_date_buffer_ok(buffer));
    sgc_section_enter(section);
    sgc_date_list_clear(sgc_date_buffer_tick(buffer), &first, &last);
    sgc_section_leave(section);
    if (__builtin_expect(first != NULL, 0))
        sgc_date_pages_give(&d->pool, first, last, section);
}

__attribute__((noinline))
static int tick_slowly(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL)
        return error;
    d->ticks++;
    go_on(d, &d->local);
    return 0;
}

int SGC_tick(void)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;

    if (__builtin_expect(d == NULL || d->room == 0, 0))
        return tick_slowly();
    d->ticks++;
    go_on(d, &d->local);
    return 0;
}

int SGC_tick_global(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL)
        return error;
    if (!sgc_time_enter(d))
        return ENOMEM;
    if (sgc_time_pass(d)) {
        d->global_ticks++;
        go_on(d, &d->global);
    }
    return 0;
}

int SGC_join_time(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL)
        return error;
    return sgc_time_enter(d) ? 0 : ENOMEM;
}

int SGC_leave_time(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL)
        return error;
    sgc_time_exit(d);
    return 0;
}
