/* SPDX-License-Identifier: MIT */
/*
 * Ticks: clocks go on, and dates are over.
 */
#include "gc/api/api.h"

#include <errno.h>

#include "shortterm/clocks.h"
#include "shortterm/expire.h"
#include "shortterm/global_time.h"
#include "shortterm/orphan_dates.h"
#include "shortterm/start.h"
#include "shortterm/verify.h"
#include "sgc_shortterm.h"

__attribute__((noinline))
static int tick_slowly(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    if (d == NULL)
        return error;
    sgc_assert(sgc_dates_ok(d));
    d->ticks++;
    sgc_clock_go_on(d, &d->local, &d->local_regions);
    if (sgc_verifies())
        sgc_verify_tick(d);
    return 0;
}

int SGC_tick(void)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;

    if (__builtin_expect(d == NULL || d->room == 0, 0))
        return tick_slowly();
    sgc_assert(sgc_dates_ok(d) && !sgc_verifies());
    d->ticks++;
    sgc_clock_go_on(d, &d->local, &d->local_regions);
    return 0;
}

/* The thread takes part in global time. */
__attribute__((always_inline))
static inline void tick_global(struct sgc_dates *d)
{
    sgc_assert(d->in_time && sgc_dates_ok(d));
    if (!sgc_time_pass(d))
        return;
    d->global_ticks++;
    sgc_orphan_dates_take(d);
    sgc_clock_go_on(d, &d->global, &d->global_regions);
}

__attribute__((noinline))
static int tick_global_slowly(void)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);
    uint64_t before;

    if (d == NULL)
        return error;
    if (!sgc_time_enter(d))
        return ENOMEM;
    before = d->global_ticks;
    tick_global(d);
    if (sgc_verifies() && d->global_ticks != before)
        sgc_verify_tick(d);
    return 0;
}

/* A callback of a collection runs under a guard, and is refused. */
int SGC_tick_global(void)
{
    struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;

    if (__builtin_expect(d == NULL || d->room == 0 || !d->in_time || self->cache.section.guards != 0, 0))
        return tick_global_slowly();
    tick_global(d);
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
    if (!sgc_time_exit(d))
        return EALREADY;
    sgc_orphan_dates_take(d);
    sgc_expire_tick(d);
    return 0;
}

size_t SGC_expire(size_t most)
{
    int error;
    struct sgc_dates *d = sgc_dates_now(&error);

    return d == NULL ? 0 : sgc_expire(d, most);
}
