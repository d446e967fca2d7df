/* SPDX-License-Identifier: MIT */
/*
 * Protected pages: arming makes OS pages read-only, and the handler of SIGSEGV makes the one that
 * is stored into writable again.  Works everywhere, and is the last choice: a store into a clean
 * page costs a signal, system calls that write into one fail with EFAULT, some with loss of data (a
 * datagram), and a thread that blocks SIGSEGV and stores into one ends the process.
 *
 * platform/written/protected_pages.h has the shared state, and says which lock protects it.  The
 * handler stands in front of the one that the program has installed before.  It is installed once
 * and stays, since a store that has met a protected page may reach it late.
 *
 *   faults    written by the thread that opens the source, before there are such faults, and
 *             read by the handler
 */
#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#include "platform/faults.h"
#include "platform/written/protected_pages.h"
#include "platform/written/written.h"

static SGC_STATE struct {
    struct sigaction before;    /* what the program has installed */
    bool installed;             /* ours, some time */
} faults;

/* ---- faults ---- */

/* False: the fault is none of ours.  Another thread may have opened the page before we got the
 * lock: then the store is tried again, once as long as nothing is armed. */
static bool answer(uintptr_t address)
{
    static _Thread_local uintptr_t last __attribute__((tls_model("initial-exec")));
    static _Thread_local size_t last_armed __attribute__((tls_model("initial-exec")));
    uintptr_t page = address / sgc_os_page_size();
    bool ours = false;

    sgc_lock(sgc_protected.lock, NULL);
    sgc_protected_check();
    if (address >= sgc_protected.low && address < sgc_protected.high) {
        if (sgc_protected_watched(sgc_protected_page(address)))
            ours = sgc_protected_open(sgc_protected_page(address));
        else
            ours = sgc_protected.armed > 0 && (last != page || last_armed != sgc_protected.armed);
        last = page;
        last_armed = sgc_protected.armed;
    }
    sgc_unlock(sgc_protected.lock, NULL);
    return ours;
}

/* ---- the handler, and the program's own ---- */

static bool program_handles(void)
{
    return faults.before.sa_handler != SIG_DFL && faults.before.sa_handler != SIG_IGN;
}

/* As the kernel would have called it: a handler that jumps out of itself goes on with the signals
 * that are blocked then. */
static void call_before(int signal, siginfo_t *info, void *context)
{
    struct sigaction before = faults.before;
    sigset_t mask;

    sgc_assert(info != NULL && context != NULL);
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

/* A fault that nobody handles ends the process when the instruction runs again; a signal that was
 * sent is sent once more. */
static void end_process(int signal, bool sent)
{
    struct sigaction nobody = { .sa_handler = SIG_DFL };

    sgc_assert(signal == SIGSEGV);
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

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int saved = errno;

    sgc_assert(signal == SIGSEGV && info != NULL && sgc_protected.lock != NULL);
    if (info->si_code != SEGV_ACCERR || !answer((uintptr_t)info->si_addr))
        pass_on(signal, info, context);
    errno = saved;
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_fault;
}

/* Is it still this handler that the system calls? */
static bool faults_arrive(void)
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

/* False: the handler cannot be had. */
static bool begin_faults(struct sgc_written_refusal *why)
{
    struct sigaction now = { .sa_handler = SIG_DFL };

    sgc_assert(why != NULL && sgc_protected.lock != NULL);
    if (sigaction(SIGSEGV, NULL, &now) == 0 && is_ours(&now))
        return true;
    *why = (struct sgc_written_refusal){ "another handler of SIGSEGV was installed after the collector's", 0 };
    if (may_call_ours(&now))
        return false;
    faults.installed = install();
    *why = (struct sgc_written_refusal){ "sigaction", errno };
    return faults.installed;
}

/* ---- opening and closing ---- */

static bool protect_open(uintptr_t low, uintptr_t high, struct sgc_written_refusal *why)
{
    uint64_t *bits;

    sgc_assert(low < high && low % sgc_os_page_size() == 0 && high % sgc_os_page_size() == 0);
    *why = (struct sgc_written_refusal){ "pages cannot be made writable again", 0 };
    if (sgc_protected.watched != NULL)
        return false;
    /* Pages that are read-only do not count as data: there may be no room for them when they are to
     * be writable again. */
    *why = (struct sgc_written_refusal){ "a limit on data (ulimit -d)", 0 };
    if (sgc_limit_data())
        return false;
    *why = (struct sgc_written_refusal){ "MADV_WIPEONFORK", EINVAL };
    if (sgc_protected.lock == NULL)
        sgc_protected.lock = sgc_mem_obtain_wiped(sizeof *sgc_protected.lock);
    if (sgc_protected.lock == NULL || !begin_faults(why))
        return false;
    *why = (struct sgc_written_refusal){ "memory for two bits an OS page", ENOMEM };
    bits = sgc_mem_obtain(2 * sgc_protected_bitmap_bytes((high - low) / sgc_os_page_size()));
    if (bits == NULL)
        return false;
    sgc_assert((uintptr_t)bits % sizeof *bits == 0 && sgc_protected.pages == 0);
    sgc_protected.maps_max = sgc_limit_mappings();
    sgc_protected_set_range(low, high, bits);
    return true;
}

static bool open_piece(uintptr_t *from)
{
    uintptr_t to = *from + SGC_PROTECTED_PIECE < sgc_protected.top ? *from + SGC_PROTECTED_PIECE : sgc_protected.top;

    sgc_protected_check();
    sgc_assert(*from <= sgc_protected.top);
    if (*from >= to)
        return false;
    sgc_protected_open_watched(*from, to);
    *from = to;
    return true;
}

/* In pieces, so that no store waits long. */
static bool open_all(void)
{
    sigset_t signals;
    bool more = true;

    for (uintptr_t from = 0; more;) {
        sgc_protected_take(&signals);
        more = open_piece(&from);
        sgc_protected_give(&signals);
    }
    return !sgc_protected_broken();
}

/* Pages that cannot be made writable stay watched, so that the fault handler goes on trying. */
static void protect_close(void)
{
    uint64_t *bits = sgc_protected.watched;
    size_t bytes = 2 * sgc_protected_bitmap_bytes(sgc_protected.pages);

    if (bits == NULL || !open_all())
        return;
    sgc_protected_set_range(sgc_protected.low, sgc_protected.high, NULL);
    sgc_mem_release(bits, bytes);
}

/* ---- arming and collecting ---- */

/* A handler above ours may take a store into a protected page for a mistake of the program's. */
static bool is_usable(void)
{
    if (sgc_protected.watched == NULL)
        return false;
    if (faults_arrive() && !sgc_limit_data())
        return !sgc_protected_broken();
    open_all();
    return false;
}

/* One piece, in one hold of the lock; without what is kept open. */
static bool protect_piece(uintptr_t from, uintptr_t to)
{
    sigset_t signals;
    bool done = true;

    sgc_protected_take(&signals);
    sgc_assert(from <= to && to <= sgc_protected.pages && to - from <= SGC_PROTECTED_PIECE);
    for (uintptr_t end; from < to && done; from = end) {
        bool kept = sgc_protected_kept(from);

        for (end = from + 1; end < to && sgc_protected_kept(end) == kept; end++)
            continue;
        done = kept || sgc_protected_protect(from, end);
    }
    sgc_protected_give(&signals);
    return done;
}

static bool protect_again(uintptr_t from, uintptr_t to)
{
    sigset_t signals;

    if (!sgc_fault(SGC_FAULT_NOT_REARMED))
        return protect_piece(from, to);
    sgc_protected_take(&signals);
    sgc_protected_set_watched(from, to);
    sgc_protected_give(&signals);
    return true;
}

static bool protect_arm(uintptr_t low, uintptr_t high)
{
    uintptr_t end, to;

    sgc_assert(low < high);
    if (!is_usable())
        return false;
    end = sgc_protected_page(high);
    for (uintptr_t from = sgc_protected_page(low); from < end; from = to) {
        to = from + SGC_PROTECTED_PIECE < end ? from + SGC_PROTECTED_PIECE : end;
        if (!protect_piece(from, to))
            return false;
    }
    return true;
}

/* Where the next run of written pages begins and ends, from `from` on. */
static uintptr_t written_run(uintptr_t *from, uintptr_t end)
{
    uintptr_t to;

    sgc_assert(*from <= end && end <= sgc_protected.pages);
    while (*from < end && sgc_protected_watched(*from))
        ++*from;
    for (to = *from; to < end && to - *from < SGC_PROTECTED_PIECE && !sgc_protected_watched(to); to++)
        continue;
    return to;
}

static uintptr_t next_run(uintptr_t *from, uintptr_t end)
{
    sigset_t signals;
    uintptr_t to;

    sgc_protected_take(&signals);
    to = written_run(from, end);
    sgc_protected_give(&signals);
    return to;
}

static bool collect_runs(uintptr_t first, uintptr_t end, bool rearm, uint64_t *written)
{
    sgc_assert(first <= end && written != NULL);
    for (uintptr_t from = first, to; (to = next_run(&from, end)) > from; from = to) {
        sgc_written_set(written, from - first, to - first);
        if (rearm && !protect_again(from, to))
            return false;
    }
    return !sgc_protected_broken();
}

/* A page that is opened after it was looked at counts as written in the next round; one that was
 * found open stays so until it is protected. */
static bool protect_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written)
{
    sgc_assert(low <= high && (high - low) % sgc_os_page_size() == 0);
    if (is_usable() && collect_runs(sgc_protected_page(low), sgc_protected_page(high), rearm, written))
        return true;
    sgc_written_set(written, 0, (high - low) / sgc_os_page_size());
    return false;
}

/* ---- around cycles ---- */

static void protect_keep_open(uintptr_t low, uintptr_t high)
{
    size_t bytes = sgc_os_page_size();
    uintptr_t from, to;
    sigset_t signals;

    sgc_protected_take(&signals);
    sgc_protected_check();
    sgc_assert(low <= high);
    if (sgc_protected.watched != NULL) {
        from = sgc_protected_page(sgc_round_down(low, bytes));
        to = sgc_protected_page(sgc_round_up(high, bytes));
        sgc_protected_set_kept(from, to, true);
        sgc_protected.keeps = true;
        if (!sgc_protected_open_range(from, to))
            sgc_protected_open_watched(from, to);
    }
    sgc_protected_give(&signals);
}

static void forget_kept(void)
{
    sigset_t signals;

    sgc_protected_take(&signals);
    sgc_protected_check();
    if (sgc_protected.keeps)
        sgc_protected_set_kept(0, sgc_protected.top, false);
    sgc_protected.keeps = false;
    sgc_protected_give(&signals);
}

/* Between cycles nothing is protected: no handler of the program's meets our faults, no system call
 * fails. */
static void protect_rest(void)
{
    if (sgc_protected.watched == NULL)
        return;
    open_all();
    forget_kept();
}

const struct sgc_written_source sgc_written_mprotect = {
    .name = "mprotect",
    .rearms_running = true,
    .kernel_writes = false,
    .open = protect_open,
    .close = protect_close,
    .arm = protect_arm,
    .collect = protect_collect,
    .keep_open = protect_keep_open,
    .rest = protect_rest,
};
