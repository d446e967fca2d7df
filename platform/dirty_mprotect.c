/* SPDX-License-Identifier: MIT */
/*
 * Protected pages: arming makes OS pages read-only, and the handler of SIGSEGV makes the one that is stored into
 * writable again.  Works everywhere, and is the last choice: a store into a clean page costs a signal, system calls
 * that write into one fail with EFAULT, some with loss of data (a datagram), and a thread that blocks SIGSEGV and
 * stores into one ends the process.
 *
 * Shared, besides what opening writes before there are others:
 *
 *   word                        written by                        read by                     under
 *   watched, a bit an OS page   arming, collecting (set);         the same                    `lock`
 *                               the handler (clears)
 *   armed, opened               arming and collecting, handler    the handler                 `lock`
 *
 * With the lock free a page is read-only by our doing just where its bit is set.  The handler runs with all signals
 * blocked, so a thread that is stopped is not in it; whoever holds the lock is running, and stores into no watched page.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "platform/dirty.h"
#include "platform/faults.h"
#include "platform/lock.h"
#include "platform/platform.h"
#include "platform/proc_file_linux.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { WORD = 64, PIECE = 4096, COARSE = 64 };          /* OS pages */

static SGC_STATE struct {
    struct sgc_lock lock;
    uintptr_t low, high;
    uintptr_t pages;
    uint64_t *watched;
    size_t armed;               /* how often pages were protected */
    size_t opened;              /* pages made writable and not protected again: two mappings each, at most */
    size_t maps_max;            /* mappings that a process may have */
    struct sigaction before;    /* the handler that was there */
} source = { .lock = SGC_LOCK_INIT(SGC_RANK_CACHE) };

static uintptr_t page_number(uintptr_t address)
{
    sgc_assert(address >= source.low && address <= source.high);
    return (address - source.low) / sgc_os_page_size();
}

static bool is_watched(uintptr_t page)
{
    return page < source.pages && (source.watched[page / WORD] >> page % WORD & 1) != 0;
}

static void set_watched(uintptr_t page, bool watched)
{
    uint64_t bit = UINT64_C(1) << page % WORD;

    if (watched)
        source.watched[page / WORD] |= bit;
    else
        source.watched[page / WORD] &= ~bit;
}

/* Its bits agree afterwards, unless the system refuses. */
static bool set_access(uintptr_t from, uintptr_t to, bool watched)
{
    size_t bytes = sgc_os_page_size();
    int access = watched ? PROT_READ : PROT_READ | PROT_WRITE;

    if (sgc_syscall(SYS_mprotect, (long)(source.low + from * bytes), (long)((to - from) * bytes), access, 0) != 0)
        return false;
    for (uintptr_t page = from; page < to; page++)
        set_watched(page, watched);
    return true;
}

/* ---- the handler ---- */

/* Opens the page, and with it watched neighbours up to `most` on each side. */
static bool open_run(uintptr_t page, uintptr_t most)
{
    uintptr_t from = page, to = page + 1;

    while (from > 0 && page - from < most && is_watched(from - 1))
        from--;
    while (to - page <= most && is_watched(to))
        to++;
    source.opened += to - from;
    return set_access(from, to, false);
}

/* A call splits a mapping; where the process comes near the number that it may have, fewer and larger ones do.  All
 * neighbours together are a whole mapping, which splits nothing. */
static bool open_page(uintptr_t page)
{
    uintptr_t most = source.opened < source.maps_max / 8 ? 0 : COARSE;

    return open_run(page, most) || open_run(page, source.pages);
}

/* False: the fault is none of ours.  Another thread may have opened the page before we got the lock: then the store is tried
 * again, once as long as nothing is armed. */
static bool answer(uintptr_t page)
{
    static _Thread_local uintptr_t last __attribute__((tls_model("initial-exec")));
    static _Thread_local size_t last_armed __attribute__((tls_model("initial-exec")));
    bool ours;

    sgc_lock(&source.lock, NULL);
    if (is_watched(page))
        ours = open_page(page);
    else
        ours = source.armed > 0 && (last != page || last_armed != source.armed);
    last = page;
    last_armed = source.armed;
    sgc_unlock(&source.lock, NULL);
    return ours;
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    if ((source.before.sa_flags & SA_SIGINFO) != 0)
        source.before.sa_sigaction(signal, info, context);
    else if (source.before.sa_handler != SIG_DFL && source.before.sa_handler != SIG_IGN)
        source.before.sa_handler(signal);
    else
        sigaction(signal, &source.before, NULL);        /* the instruction runs again, and ends the process */
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    int saved = errno;

    if (info->si_code != SEGV_ACCERR || address < source.low || address >= source.high || !answer(page_number(address)))
        pass_on(signal, info, context);
    errno = saved;
}

/* ---- opening and closing ---- */

static size_t read_maps_max(void)
{
    char line[32];
    const char *text = line;
    uint64_t number;

    if (sgc_read_line_of("/proc/sys/vm/max_map_count", line, sizeof line) && sgc_parse_number(&text, 10, &number))
        return (size_t)number;
    return 65530;
}

static bool is_installed(void)
{
    struct sigaction now;

    return sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault;
}

static bool install(void)
{
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

    sigfillset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &source.before) == 0;
}

static size_t bitmap_bytes(void)
{
    return (source.pages + WORD - 1) / WORD * sizeof *source.watched;
}

static bool protect_open(uintptr_t low, uintptr_t high, struct sgc_dirty_refusal *why)
{
    sgc_assert(source.watched == NULL && low < high);
    source.low = low;
    source.high = high;
    source.pages = page_number(high);
    source.armed = source.opened = 0;
    source.maps_max = read_maps_max();
    source.watched = sgc_mem_obtain(bitmap_bytes());
    *why = (struct sgc_dirty_refusal){ "memory for a bit an OS page", ENOMEM };
    if (source.watched == NULL)
        return false;
    if (install())
        return true;
    *why = (struct sgc_dirty_refusal){ "sigaction", errno };
    sgc_mem_release(source.watched, bitmap_bytes());
    source.watched = NULL;
    return false;
}

static void open_all(void)
{
    sgc_lock(&source.lock, NULL);
    for (uintptr_t page = 0; page < source.pages; page++)
        if (is_watched(page))
            open_run(page, source.pages);
    sgc_unlock(&source.lock, NULL);
}

/* The handler stays where another one was put before it, which may call it. */
static void protect_close(void)
{
    if (source.watched == NULL)
        return;
    open_all();
    if (is_installed())
        sigaction(SIGSEGV, &source.before, NULL);
    sgc_mem_release(source.watched, bitmap_bytes());
    source.watched = NULL;
    source.low = source.high = source.pages = 0;
}

/* ---- arming and collecting ---- */

static bool is_open(void)
{
    return source.watched != NULL && is_installed();
}

static void forget_opened(uintptr_t from, uintptr_t to)
{
    size_t pages = 0;

    for (uintptr_t page = from; page < to; page++)
        pages += !is_watched(page);
    source.opened -= pages < source.opened ? pages : source.opened;
}

/* One piece, in one hold of the lock.  If the system refuses, all of it may be written and counts as written. */
static bool protect_piece(uintptr_t from, uintptr_t to)
{
    bool done;

    sgc_lock(&source.lock, NULL);
    source.armed++;
    forget_opened(from, to);
    done = set_access(from, to, true);
    if (!done)
        set_access(from, to, false);        /* what was protected is whole mappings now: this splits none */
    sgc_unlock(&source.lock, NULL);
    return done;
}

static bool protect_again(uintptr_t from, uintptr_t to)
{
    if (!sgc_fault(SGC_FAULT_NOT_REARMED))
        return protect_piece(from, to);
    for (uintptr_t page = from; page < to; page++)
        set_watched(page, true);
    return true;
}

static bool protect_arm(uintptr_t low, uintptr_t high)
{
    uintptr_t end, to;

    if (!is_open())
        return false;
    end = page_number(high);
    for (uintptr_t from = page_number(low); from < end; from = to) {
        to = from + PIECE < end ? from + PIECE : end;
        if (!protect_piece(from, to))
            return false;
    }
    return true;
}

/* Where the next run of dirty pages begins and ends, from `from` on. */
static uintptr_t dirty_run(uintptr_t *from, uintptr_t end)
{
    uintptr_t to;

    while (*from < end && is_watched(*from))
        ++*from;
    for (to = *from; to < end && to - *from < PIECE && !is_watched(to); to++)
        continue;
    return to;
}

static uintptr_t next_run(uintptr_t *from, uintptr_t end)
{
    uintptr_t to;

    sgc_lock(&source.lock, NULL);
    to = dirty_run(from, end);
    sgc_unlock(&source.lock, NULL);
    return to;
}

static bool collect_runs(uintptr_t first, uintptr_t end, bool rearm, uint64_t *dirty)
{
    for (uintptr_t from = first, to; (to = next_run(&from, end)) > from; from = to) {
        sgc_dirty_set(dirty, from - first, to - first);
        if (rearm && !protect_again(from, to))
            return false;
    }
    return true;
}

/* A page that is opened after it was looked at is dirty in the next round; one that was found open stays so until it is
 * protected. */
static bool protect_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *dirty)
{
    if (is_open() && collect_runs(page_number(low), page_number(high), rearm, dirty))
        return true;
    sgc_dirty_set(dirty, 0, (high - low) / sgc_os_page_size());
    return false;
}

const struct sgc_dirty_source sgc_dirty_mprotect = {
    .name = "mprotect",
    .rearms_running = true,
    .kernel_writes = false,
    .open = protect_open,
    .close = protect_close,
    .arm = protect_arm,
    .collect = protect_collect,
};
