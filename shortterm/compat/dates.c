/* SPDX-License-Identifier: MIT */
/*
 * libscm's refreshes and ticks; its clocks and regions; and threads of programs written for it,
 * which are mutators from their first call on, and take part in global time when they say so, or by
 * their first global call.
 *
 * Clocks and regions are numbers of the calling thread for SGC's.  Number 0 is the thread's own
 * clock.  The tables are roots, as thread-local variables are.
 */
#include "shortterm/compat/compat.h"

#include <errno.h>
#include <stdlib.h>

/* ---- refreshes ---- */

/* Ends the program. */
static _Noreturn void fail(const char *message)
{
    GC_abort_func report = GC_get_abort_func();

    if (report != NULL)
        report(message);
    abort();
}

static unsigned largest_extension(void)
{
    struct SGC_shortterm now = { .extension = 0 };

    SGC_get_shortterm(&now, sizeof now);
    return (unsigned)now.extension;
}

/* Does `refresh` with that argument and the extension, or with the largest that there is. */
typedef int (*refresh_fn)(void *what, unsigned extension, void *clock);

static int clamped(refresh_fn refresh, void *what, unsigned extension, void *clock)
{
    int error = refresh(what, extension, clock);

    return error != ERANGE ? error : refresh(what, largest_extension(), clock);
}

/* Without memory for the date what has expired is freed, and then it is tried again; after that the
 * program ends.  An object that nobody knows is no matter; a date that is missing would free one
 * too early. */
__attribute__((noinline))
static void refresh_or_fail(refresh_fn refresh, void *what, unsigned extension, void *clock)
{
    if (clamped(refresh, what, extension, clock) != ENOMEM)
        return;
    SGC_expire(SIZE_MAX);
    if (clamped(refresh, what, extension, clock) == ENOMEM)
        fail("libscm: an object was to be refreshed, and there is no memory for the date; free memory or refresh "
             "fewer objects");
}

static int by_own_clock(void *object, unsigned extension, void *clock)
{
    (void)clock;
    return SGC_refresh(object, extension);
}

static int by_global_time(void *object, unsigned extension, void *clock)
{
    (void)clock;
    return SGC_refresh_global(object, extension);
}

void scm_refresh(void *object, unsigned extension)
{
    sgc_scm_enter();
    if (SGC_refresh(object, extension) != 0)
        refresh_or_fail(by_own_clock, object, extension, NULL);
}

void scm_global_refresh(void *object, unsigned extension)
{
    sgc_scm_enter();
    if (SGC_refresh_global(object, extension) != 0)
        refresh_or_fail(by_global_time, object, extension, NULL);
}

/* ---- ticks ---- */

void scm_tick(void)
{
    sgc_scm_enter();
    SGC_tick();
}

void scm_global_tick(void)
{
    sgc_scm_enter();
    SGC_tick_global();
}

void scm_collect(void)
{
    sgc_scm_enter();
    SGC_expire(SIZE_MAX);
}

/* ---- clocks ---- */

static _Thread_local SGC_clock_t *clocks[SCM_MAX_CLOCKS];       /* that of number 0 is NULL */

static bool is_known(unsigned number)
{
    return number == 0 || (number < SCM_MAX_CLOCKS && clocks[number] != NULL);
}

int scm_register_clock(void)
{
    sgc_scm_enter();
    for (int number = 1; number < SCM_MAX_CLOCKS; number++)
        if (clocks[number] == NULL) {
            clocks[number] = SGC_clock_new();
            return clocks[number] != NULL ? number : -1;
        }
    return -1;
}

void scm_unregister_clock(int clock)
{
    if (clock <= 0 || !is_known((unsigned)clock))
        return;
    SGC_clock_release(clocks[clock]);
    clocks[clock] = NULL;
}

static int by_clock(void *object, unsigned extension, void *clock)
{
    return SGC_refresh_clock(object, extension, clock);
}

void scm_refresh_with_clock(void *object, unsigned extension, unsigned clock)
{
    if (clock == 0)
        scm_refresh(object, extension);
    else if (is_known(clock))
        refresh_or_fail(by_clock, object, extension, clocks[clock]);
}

void scm_tick_clock(unsigned clock)
{
    if (clock == 0)
        scm_tick();
    else if (is_known(clock))
        SGC_tick_clock(clocks[clock]);
}

/* ---- regions ---- */

static _Thread_local SGC_region_t *regions[SCM_MAX_REGIONS];

static SGC_region_t *find_region(int number)
{
    return number >= 0 && number < SCM_MAX_REGIONS ? regions[number] : NULL;
}

int scm_create_region(void)
{
    sgc_scm_enter();
    for (int number = 0; number < SCM_MAX_REGIONS; number++)
        if (regions[number] == NULL) {
            regions[number] = SGC_region_new();
            return regions[number] != NULL ? number : -1;
        }
    return -1;
}

void scm_unregister_region(int region)
{
    SGC_region_t *closed = find_region(region);

    if (closed == NULL)
        return;
    regions[region] = NULL;
    SGC_region_close(closed);
}

void *scm_malloc_in_region(size_t size, int region)
{
    SGC_region_t *in = find_region(region);
    void *object = in != NULL ? SGC_region_malloc(in, size) : NULL;

    if (object == NULL)
        errno = in != NULL ? ENOMEM : EINVAL;
    return object;
}

static int region_by_clock(void *region, unsigned extension, void *clock)
{
    return SGC_region_refresh_clock(region, extension, clock);
}

static int region_by_global_time(void *region, unsigned extension, void *clock)
{
    (void)clock;
    return SGC_region_refresh_global(region, extension);
}

void scm_refresh_region_with_clock(int region, unsigned extension, unsigned clock)
{
    if (find_region(region) != NULL && is_known(clock))
        refresh_or_fail(region_by_clock, find_region(region), extension, clocks[clock]);
}

void scm_refresh_region(int region, unsigned extension)
{
    scm_refresh_region_with_clock(region, extension, 0);
}

void scm_global_refresh_region(int region, unsigned extension)
{
    if (find_region(region) != NULL)
        refresh_or_fail(region_by_global_time, find_region(region), extension, NULL);
}

/* ---- threads ---- */

_Thread_local bool sgc_scm_known;

/* It stops to be one by itself when it ends. */
__attribute__((noinline))
void sgc_scm_know_thread(void)
{
    struct GC_stack_base base;

    sgc_scm_known = true;
    if (!GC_thread_is_registered() && GC_get_stack_base(&base) == GC_SUCCESS)
        GC_register_my_thread(&base);
}

static _Thread_local bool blocked;      /* it would take part in global time, but that it waits */

void scm_register_thread(void)
{
    sgc_scm_enter();
    SGC_join_time();
}

void scm_unregister_thread(void)
{
    sgc_scm_enter();
    SGC_leave_time();
}

/* A thread that takes no part does not begin to when it has waited. */
void scm_block_thread(void)
{
    sgc_scm_enter();
    if (SGC_leave_time() == 0)
        blocked = true;
}

void scm_resume_thread(void)
{
    if (blocked)
        SGC_join_time();
    blocked = false;
}
