/* SPDX-License-Identifier: MIT */
/*
 * libscm's refreshes and ticks, and threads of programs written for it: they are mutators from
 * their first call on, and take part in global time when they say so, or by their first global
 * call.
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

static int clamped(sgc_scm_refresh_t refresh, void *what, unsigned extension, void *clock)
{
    int error = refresh(what, extension, clock);

    return error != ERANGE ? error : refresh(what, largest_extension(), clock);
}

/* An object that nobody knows is no matter; a date that is missing would free one too early. */
void sgc_scm_refresh(sgc_scm_refresh_t refresh, void *what, unsigned extension, void *clock)
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
        sgc_scm_refresh(by_own_clock, object, extension, NULL);
}

void scm_global_refresh(void *object, unsigned extension)
{
    sgc_scm_enter();
    if (SGC_refresh_global(object, extension) != 0)
        sgc_scm_refresh(by_global_time, object, extension, NULL);
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
