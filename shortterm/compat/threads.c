/* SPDX-License-Identifier: MIT */
/*
 * Threads of programs written for libscm: they are mutators from their first call on, and take part in global time when they
 * say so, or by their first global call.
 */
#include "shortterm/compat/compat.h"

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
