/* SPDX-License-Identifier: MIT */
/*
 * libscm's clocks: numbers of the calling thread for SGC's.  Number 0 is the thread's own clock.
 */
#include "shortterm/compat/compat.h"

static _Thread_local SGC_clock_t *clocks[SCM_MAX_CLOCKS];       /* that of number 0 is NULL */

static bool is_known(unsigned number)
{
    return number == 0 || (number < SCM_MAX_CLOCKS && clocks[number] != NULL);
}

SGC_clock_t *sgc_scm_clock(unsigned number)
{
    return is_known(number) ? clocks[number] : NULL;
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
        sgc_scm_refresh(by_clock, object, extension, clocks[clock]);
}

void scm_tick_clock(unsigned clock)
{
    if (clock == 0)
        scm_tick();
    else if (is_known(clock))
        SGC_tick_clock(clocks[clock]);
}
