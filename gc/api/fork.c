/* SPDX-License-Identifier: MIT */
/*
 * Signals and fork: what must be chosen before the start, and fork by hand.  On the thread that
 * forks.
 */
#include "gc/api/api.h"

#include <signal.h>

#include "gc/collect/start.h"
#include "gc/config/options.h"
#include "options/option_table.h"

/* ---- signals ---- */

SGC_STATE static sgc_a32_t restart_signal = SGC_ATOMIC_INIT(SIGXCPU);   /* kept and answered only: relaxed */

void GC_set_suspend_signal(int signal)
{
    if (sgc_api_too_late("GC_set_suspend_signal", signal == GC_get_suspend_signal()))
        return;
    if (!sgc_signal_can_suspend(signal))
        sgc_warn("GC_set_suspend_signal(%d): this signal cannot stop threads; nothing is changed. Pass one that can be "
                 "caught and that nothing else uses: SIGPWR, SIGUSR1, SIGUSR2, SIGRTMIN and above", signal);
    else
        sgc_api_set_option("SGC_SUSPEND_SIGNAL", signal);
}

int GC_get_suspend_signal(void)
{
    sgc_assert(sgc_signal_can_suspend(sgc_options.suspend_signal));
    return sgc_options.suspend_signal;
}

void GC_set_thr_restart_signal(int signal)
{
    if (sgc_api_too_late("GC_set_thr_restart_signal", signal == GC_get_thr_restart_signal()))
        return;
    if (signal < 1 || signal >= NSIG || signal == SIGKILL || signal == SIGSTOP)
        sgc_warn("GC_set_thr_restart_signal(%d): expected a signal that can be caught, 1 to %d; nothing is changed",
                 signal, NSIG - 1);
    else
        sgc_a32_store(&restart_signal, (uint32_t)signal);
}

int GC_get_thr_restart_signal(void)
{
    return (int)sgc_a32_load(&restart_signal);
}

/* ---- fork ---- */

void GC_set_handle_fork(int mode)
{
    if (mode < -1 || mode > 1)
        sgc_warn("GC_set_handle_fork(%d): expected 1 (handled), 0 (not) or -1 (by the program); nothing is changed",
                 mode);
    else if (!sgc_api_too_late("GC_set_handle_fork", mode == sgc_fork_mode))
        sgc_fork_mode = mode;
}

void GC_atfork_prepare(void)
{
    if (sgc_fork_mode == -1)
        sgc_fork_prepare();
}

void GC_atfork_parent(void)
{
    if (sgc_fork_mode == -1)
        sgc_fork_parent();
}

void GC_atfork_child(void)
{
    if (sgc_fork_mode == -1)
        sgc_fork_child();
}
