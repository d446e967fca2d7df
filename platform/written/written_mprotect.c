/* SPDX-License-Identifier: MIT */
/*
 * Protected pages: arming makes OS pages read-only, and the handler of SIGSEGV makes the one that
 * is stored into writable again.  Works everywhere, and is the last choice: a store into a clean
 * page costs a signal, system calls that write into one fail with EFAULT, some with loss of data (a
 * datagram), and a thread that blocks SIGSEGV and stores into one ends the process.
 *
 * The handler stands in front of the one that the program has installed before.  It is installed
 * once and stays, since a store that has met a protected page may reach it late.
 *
 *   word                      written by                       read by              under
 *   watched, a bit an         arming, collecting (set);        all of these         `lock`
 *   OS page                   the handler, keep_open, rest,
 *                             closing (clear)
 *   kept, a bit an OS page    keep_open (sets), rest (clears)  arming, collecting   `lock`
 *   the rest of `range`       all of these, opening            all of these         `lock`; none to
 *                                                                                   read `broken`
 *   faults                    opening, before there are any    the handler          that order
 *
 * A page's bit is set before it is protected and cleared after it is writable, so no page without a
 * bit is protected by us.  The thread that holds the lock has all signals blocked that stop
 * threads, and stores into no watched page, so it goes on running.  The lock lies in memory that is
 * zeroed in the child of a fork, where its holder may not exist.
 *
 * Pages have numbers, from 0 at the range's begin.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "platform/faults.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/section/lock.h"
#include "platform/syscall_linux.h"
#include "platform/written/written.h"

enum {
    PIECE = 4096,               /* so many pages at a time, so that no store waits long */
    COARSE = 64,                /* so many neighbours are opened with a page */
    BITS = 64                   /* of a word of a bitmap */
};

static SGC_STATE struct {
    struct sgc_lock *lock;      /* NULL before the source is opened for the first time */
    uintptr_t low, high;
    uintptr_t pages;            /* 0: closed */
    uintptr_t top;              /* no page from there on has been watched, or kept */
    uint64_t *watched, *kept;
    sgc_a32_t broken;           /* the system has refused to make pages writable: all counts as
                                   written */
    bool keeps;                 /* some bit of `kept` may be set */
    size_t armed;               /* how often pages were protected */
    size_t opened;              /* pages made writable and not protected again: two mappings each,
                                   at most */
    size_t maps_max;            /* mappings that a process may have */
} range;

static SGC_STATE struct {
    struct sigaction before;    /* what the program has installed */
    bool installed;             /* ours, some time */
} faults;

/* ---- the lock ---- */

static void take_lock(sigset_t *signals)
{
    sgc_assert(range.lock != NULL && signals != NULL);
    sgc_signals_block(signals);
    sgc_lock(range.lock, NULL);
}

static void give_lock(const sigset_t *signals)
{
    sgc_assert(sgc_lock_taken(range.lock));
    sgc_unlock(range.lock, NULL);
    sgc_signals_restore(signals);
}

static bool is_broken(void)
{
    return sgc_a32_load(&range.broken) != 0;
}

/* Bytes of one bit each for so many pages. */
static size_t bitmap_bytes(uintptr_t pages)
{
    return (pages + BITS - 1) / BITS * sizeof(uint64_t);
}

/* ---- pages, with the lock ---- */

/* Of an address in the range, or its end. */
static uintptr_t page_of(uintptr_t address)
{
    sgc_assert(address >= range.low && address <= range.high);
    return (address - range.low) / sgc_os_page_size();
}

/* The range, its bitmaps and its pages agree.  Not so in the child of a fork while another thread
 * sets the range: there it is closed before anything is watched again. */
static void check_range(void)
{
    sgc_assert(sgc_lock_taken(range.lock));
    sgc_assert(range.low <= range.high);
    sgc_assert((range.watched == NULL) == (range.pages == 0));
    sgc_assert((range.watched == NULL) == (range.kept == NULL));
    sgc_assert(range.pages == 0 || range.pages == page_of(range.high));
    sgc_assert(range.top <= range.pages);
}

static bool has_bit(const uint64_t *bits, uintptr_t page)
{
    sgc_assert(sgc_lock_taken(range.lock));
    return page < range.pages && (bits[page / BITS] >> page % BITS & 1) != 0;
}

static bool is_watched(uintptr_t page)
{
    return has_bit(range.watched, page);
}

static bool is_kept(uintptr_t page)
{
    return range.keeps && has_bit(range.kept, page);
}

static void set_bits(uint64_t *bits, uintptr_t from, uintptr_t to, bool on)
{
    sgc_assert(bits != NULL && sgc_lock_taken(range.lock));
    sgc_assert(from <= to && to <= range.pages);
    for (uintptr_t page = from; page < to; page++)
        if (on)
            bits[page / BITS] |= UINT64_C(1) << page % BITS;
        else
            bits[page / BITS] &= ~(UINT64_C(1) << page % BITS);
    if (on && to > range.top)
        range.top = to;
}

static bool change(uintptr_t from, uintptr_t to, int access)
{
    size_t bytes = sgc_os_page_size();

    sgc_assert(sgc_lock_taken(range.lock) && from < to && to <= range.pages);
    return sgc_syscall(SYS_mprotect, (long)(range.low + from * bytes), (long)((to - from) * bytes), access, 0) == 0;
}

/* Makes these pages writable, watched or not.  False: the system refuses. */
static bool open_range(uintptr_t from, uintptr_t to)
{
    if (!change(from, to, PROT_READ | PROT_WRITE))
        return false;
    range.opened += to - from;
    set_bits(range.watched, from, to, false);
    return true;
}

/* Opens the page, and with it watched neighbours up to `max` on each side. */
static bool open_run(uintptr_t page, uintptr_t max)
{
    uintptr_t from = page, to = page + 1;

    sgc_assert(page < range.pages);
    while (from > 0 && page - from < max && is_watched(from - 1))
        from--;
    while (to - page <= max && is_watched(to))
        to++;
    return open_range(from, to);
}

/* Makes a watched page writable, and maybe neighbours, which count as written then.  False: the
 * system refuses.  A call splits a mapping; where the process comes near the number that it may
 * have, fewer and larger ones do.  All neighbours together are a whole mapping, which splits
 * nothing. */
static bool open_page(uintptr_t page)
{
    uintptr_t max = range.opened < range.maps_max / 8 ? 0 : COARSE;

    sgc_assert(is_watched(page));
    return open_run(page, max) || open_run(page, range.pages);
}

/* Makes those pages writable that are watched.  False: the system refuses, and what is still
 * protected counts as written. */
static bool open_watched(uintptr_t from, uintptr_t to)
{
    sgc_assert(from <= to && to <= range.pages);
    for (uintptr_t page = from; page < to; page++)
        if (is_watched(page) && !open_run(page, range.pages))
            sgc_a32_store(&range.broken, 1);
    return !is_broken();
}

static void forget_opened(uintptr_t from, uintptr_t to)
{
    size_t pages = 0;

    for (uintptr_t page = from; page < to; page++)
        pages += !is_watched(page);
    range.opened -= pages < range.opened ? pages : range.opened;
}

/* Makes the pages read-only, and watches them.  False: the system refuses, and they are open.  Part
 * of them may be protected then: it is opened with all its neighbours, which splits no mapping. */
static bool protect_pages(uintptr_t from, uintptr_t to)
{
    sgc_assert(from < to && to <= range.pages);
    range.armed++;
    forget_opened(from, to);
    set_bits(range.watched, from, to, true);
    if (change(from, to, PROT_READ))
        return true;
    open_watched(from, to);
    return false;
}

/* From now on it is that range, with two bitmaps of zeros; NULL: none.  Takes the lock. */
static void set_range(uintptr_t low, uintptr_t high, uint64_t *bits)
{
    sigset_t signals;

    sgc_assert(low < high && (bits == NULL || range.watched == NULL));
    take_lock(&signals);
    range.low = low;
    range.high = high;
    range.pages = bits != NULL ? page_of(high) : 0;
    range.watched = bits;
    range.kept = bits != NULL ? bits + bitmap_bytes(range.pages) / sizeof *bits : NULL;
    range.top = range.opened = 0;
    range.keeps = false;
    sgc_a32_store(&range.broken, 0);
    check_range();
    give_lock(&signals);
}

/* ---- faults ---- */

/* False: the fault is none of ours.  Another thread may have opened the page before we got the
 * lock: then the store is tried again, once as long as nothing is armed. */
static bool answer(uintptr_t address)
{
    static _Thread_local uintptr_t last __attribute__((tls_model("initial-exec")));
    static _Thread_local size_t last_armed __attribute__((tls_model("initial-exec")));
    uintptr_t page = address / sgc_os_page_size();
    bool ours = false;

    sgc_lock(range.lock, NULL);
    if (address >= range.low && address < range.high) {
        if (is_watched(page_of(address)))
            ours = open_page(page_of(address));
        else
            ours = range.armed > 0 && (last != page || last_armed != range.armed);
        last = page;
        last_armed = range.armed;
    }
    sgc_unlock(range.lock, NULL);
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

    sgc_assert(signal == SIGSEGV && info != NULL && range.lock != NULL);
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

    sgc_assert(why != NULL && range.lock != NULL);
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
    if (range.watched != NULL)
        return false;
    /* Pages that are read-only do not count as data: there may be no room for them when they are to
     * be writable again. */
    *why = (struct sgc_written_refusal){ "a limit on data (ulimit -d)", 0 };
    if (sgc_limit_data())
        return false;
    *why = (struct sgc_written_refusal){ "MADV_WIPEONFORK", EINVAL };
    if (range.lock == NULL)
        range.lock = sgc_mem_obtain_wiped(sizeof *range.lock);
    if (range.lock == NULL || !begin_faults(why))
        return false;
    *why = (struct sgc_written_refusal){ "memory for two bits an OS page", ENOMEM };
    bits = sgc_mem_obtain(2 * bitmap_bytes((high - low) / sgc_os_page_size()));
    if (bits == NULL)
        return false;
    sgc_assert((uintptr_t)bits % sizeof *bits == 0 && range.watched == NULL);
    range.maps_max = sgc_limit_mappings();
    set_range(low, high, bits);
    return true;
}

static bool open_piece(uintptr_t *from)
{
    uintptr_t to = *from + PIECE < range.top ? *from + PIECE : range.top;

    sgc_assert(*from <= range.top);
    if (*from >= to)
        return false;
    open_watched(*from, to);
    *from = to;
    return true;
}

/* In pieces, so that no store waits long. */
static bool open_all(void)
{
    sigset_t signals;
    bool more = true;

    for (uintptr_t from = 0; more;) {
        take_lock(&signals);
        more = open_piece(&from);
        give_lock(&signals);
    }
    return !is_broken();
}

/* Pages that cannot be made writable stay watched, so that the fault handler goes on trying. */
static void protect_close(void)
{
    uint64_t *bits = range.watched;
    size_t bytes = 2 * bitmap_bytes(range.pages);

    if (bits == NULL || !open_all())
        return;
    set_range(range.low, range.high, NULL);
    sgc_mem_release(bits, bytes);
}

/* ---- arming and collecting ---- */

/* A handler above ours may take a store into a protected page for a mistake of the program's. */
static bool is_usable(void)
{
    if (range.watched == NULL)
        return false;
    if (faults_arrive() && !sgc_limit_data())
        return !is_broken();
    open_all();
    return false;
}

/* One piece, in one hold of the lock; without what is kept open. */
static bool protect_piece(uintptr_t from, uintptr_t to)
{
    sigset_t signals;
    bool done = true;

    take_lock(&signals);
    sgc_assert(from <= to && to <= range.pages && to - from <= PIECE);
    for (uintptr_t end; from < to && done; from = end) {
        bool kept = is_kept(from);

        for (end = from + 1; end < to && is_kept(end) == kept; end++)
            continue;
        done = kept || protect_pages(from, end);
    }
    give_lock(&signals);
    return done;
}

static bool protect_again(uintptr_t from, uintptr_t to)
{
    sigset_t signals;

    if (!sgc_fault(SGC_FAULT_NOT_REARMED))
        return protect_piece(from, to);
    take_lock(&signals);
    set_bits(range.watched, from, to, true);
    give_lock(&signals);
    return true;
}

static bool protect_arm(uintptr_t low, uintptr_t high)
{
    uintptr_t end, to;

    sgc_assert(low < high);
    if (!is_usable())
        return false;
    end = page_of(high);
    for (uintptr_t from = page_of(low); from < end; from = to) {
        to = from + PIECE < end ? from + PIECE : end;
        if (!protect_piece(from, to))
            return false;
    }
    return true;
}

/* Where the next run of written pages begins and ends, from `from` on. */
static uintptr_t written_run(uintptr_t *from, uintptr_t end)
{
    uintptr_t to;

    sgc_assert(*from <= end && end <= range.pages);
    while (*from < end && is_watched(*from))
        ++*from;
    for (to = *from; to < end && to - *from < PIECE && !is_watched(to); to++)
        continue;
    return to;
}

static uintptr_t next_run(uintptr_t *from, uintptr_t end)
{
    sigset_t signals;
    uintptr_t to;

    take_lock(&signals);
    to = written_run(from, end);
    give_lock(&signals);
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
    return !is_broken();
}

/* A page that is opened after it was looked at counts as written in the next round; one that was
 * found open stays so until it is protected. */
static bool protect_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *written)
{
    sgc_assert(low <= high && (high - low) % sgc_os_page_size() == 0);
    if (is_usable() && collect_runs(page_of(low), page_of(high), rearm, written))
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

    take_lock(&signals);
    check_range();
    sgc_assert(low <= high);
    if (range.watched != NULL) {
        from = page_of(sgc_round_down(low, bytes));
        to = page_of(sgc_round_up(high, bytes));
        set_bits(range.kept, from, to, true);
        range.keeps = true;
        if (!open_range(from, to))
            open_watched(from, to);
    }
    give_lock(&signals);
}

static void forget_kept(void)
{
    sigset_t signals;

    take_lock(&signals);
    check_range();
    if (range.keeps)
        set_bits(range.kept, 0, range.top, false);
    range.keeps = false;
    give_lock(&signals);
}

/* Between cycles nothing is protected: no handler of the program's meets our faults, no system call
 * fails. */
static void protect_rest(void)
{
    if (range.watched == NULL)
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
