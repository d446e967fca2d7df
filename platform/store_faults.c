/* SPDX-License-Identifier: MIT */
/* See platform/store_faults.h. */
#include "platform/store_faults.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "platform/platform.h"
#include "platform/report.h"

static SGC_STATE struct {
    bool (*answer)(uintptr_t address);
    struct sigaction before;    /* what the program has installed */
    bool installed;             /* ours, some time */
} faults;

/* ---- the program's own ---- */

static bool program_handles(void)
{
    return faults.before.sa_handler != SIG_DFL && faults.before.sa_handler != SIG_IGN;
}

/* As the kernel would have called it: a handler that jumps out of itself goes on with the signals that are blocked then. */
static void call_before(int signal, siginfo_t *info, void *context)
{
    struct sigaction before = faults.before;
    sigset_t mask;

    sigorset(&mask, &((ucontext_t *)context)->uc_sigmask, &before.sa_mask);
    if ((before.sa_flags & SA_NODEFER) == 0)
        sigaddset(&mask, signal);
    if ((before.sa_flags & (int)SA_RESETHAND) != 0)
        faults.before.sa_handler = SIG_DFL;
    sgc_signals_restore(&mask);
    if ((before.sa_flags & SA_SIGINFO) != 0)
        before.sa_sigaction(signal, info, context);
    else
        before.sa_handler(signal);
}

/* A fault that nobody handles ends the process when the instruction runs again; a signal that was sent is sent once more. */
static void end_process(int signal, bool sent)
{
    struct sigaction nobody = { .sa_handler = SIG_DFL };

    sigaction(signal, &nobody, NULL);
    if (sent)
        sgc_thread_kill(sgc_process_id(), sgc_thread_id(), signal);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0;

    if (program_handles())
        call_before(signal, info, context);
    else if (!sent || faults.before.sa_handler != SIG_IGN)
        end_process(signal, sent);
}

/* ---- ours ---- */

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int saved = errno;

    sgc_assert(signal == SIGSEGV && faults.answer != NULL);
    if (info->si_code != SEGV_ACCERR || !faults.answer((uintptr_t)info->si_addr))
        pass_on(signal, info, context);
    errno = saved;
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_fault;
}

bool sgc_store_faults_arrive(void)
{
    struct sigaction now;

    return sigaction(SIGSEGV, NULL, &now) == 0 && is_ours(&now);
}

/* One that was put above ours may call it, and would then be called by it, for ever. */
static bool may_call_ours(const struct sigaction *action)
{
    return faults.installed && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
           action->sa_handler != faults.before.sa_handler;
}

static bool install(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

    sigfillset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &faults.before) == 0;
}

bool sgc_store_faults_begin(bool (*answer)(uintptr_t address), struct sgc_dirty_refusal *why)
{
    struct sigaction now = { .sa_handler = SIG_DFL };

    sgc_assert(answer != NULL && (faults.answer == NULL || faults.answer == answer));
    faults.answer = answer;
    if (sigaction(SIGSEGV, NULL, &now) == 0 && is_ours(&now))
        return true;
    *why = (struct sgc_dirty_refusal){ "another handler of SIGSEGV was installed after the collector's", 0 };
    if (may_call_ours(&now))
        return false;
    faults.installed = install();
    *why = (struct sgc_dirty_refusal){ "sigaction", errno };
    return faults.installed;
}
