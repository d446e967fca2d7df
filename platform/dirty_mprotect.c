/* SPDX-License-Identifier: MIT */
/*
 * Protected pages: arming makes OS pages read-only, and the handler of SIGSEGV makes the one that is stored into
 * writable again.  Works everywhere, and is the last choice: a store into a clean page costs a signal, system calls
 * that write into one fail with EFAULT, some with loss of data (a datagram), and a thread that blocks SIGSEGV and
 * stores into one ends the process.
 *
 * Shared:
 *
 *   word                        written by                        read by                     under
 *   watched, a bit an OS page   arming, collecting (set);         the same                    `lock`
 *                               the handler (clears)
 *   kept, a bit an OS page      keep_open (sets), rest            arming                      `lock`
 *   the rest                    opening, closing, arming,         the handler                 `lock`
 *                               collecting, the handler
 *
 * A page's bit is set before it is protected and cleared after it is writable, so no page without a bit is protected by us.
 * Whoever holds the lock has all signals blocked that stop threads, and stores into no watched page: it is running.  The
 * lock lies in memory that is zeroed in the child of a fork, where its holder may not exist.
 */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "platform/dirty.h"
#include "platform/faults.h"
#include "platform/lock.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "platform/store_faults.h"
#include "platform/syscall_linux.h"

enum { WORD = 64, PIECE = 4096, COARSE = 64 };          /* OS pages */

static SGC_STATE struct {
    struct sgc_lock *lock;
    uintptr_t low, high;
    uintptr_t pages;            /* 0: closed */
    uintptr_t top;              /* no page from there on has been watched, or kept */
    uint64_t *watched, *kept;
    sgc_a32_t broken;           /* the system has refused to make pages writable: all counts as written */
    bool keeps;                 /* some bit of `kept` may be set */
    size_t armed;               /* how often pages were protected */
    size_t opened;              /* pages made writable and not protected again: two mappings each, at most */
    size_t maps_max;            /* mappings that a process may have */
} source;

static void take(sigset_t *signals)
{
    sgc_signals_block(signals);
    sgc_lock(source.lock, NULL);
}

static void give(const sigset_t *signals)
{
    sgc_unlock(source.lock, NULL);
    sgc_signals_restore(signals);
}

/* ---- pages, with the lock ---- */

static uintptr_t page_number(uintptr_t address)
{
    sgc_assert(address >= source.low && address <= source.high);
    return (address - source.low) / sgc_os_page_size();
}

static bool has_bit(const uint64_t *bits, uintptr_t page)
{
    return page < source.pages && (bits[page / WORD] >> page % WORD & 1) != 0;
}

static bool is_watched(uintptr_t page)
{
    return has_bit(source.watched, page);
}

static bool is_kept(uintptr_t page)
{
    return source.keeps && has_bit(source.kept, page);
}

static void set_bits(uint64_t *bits, uintptr_t from, uintptr_t to, bool on)
{
    sgc_assert(from <= to && to <= source.pages);
    for (uintptr_t page = from; page < to; page++)
        if (on)
            bits[page / WORD] |= UINT64_C(1) << page % WORD;
        else
            bits[page / WORD] &= ~(UINT64_C(1) << page % WORD);
    if (on && to > source.top)
        source.top = to;
}

static bool change(uintptr_t from, uintptr_t to, int access)
{
    size_t bytes = sgc_os_page_size();

    sgc_assert(sgc_lock_taken(source.lock) && from < to);
    return sgc_syscall(SYS_mprotect, (long)(source.low + from * bytes), (long)((to - from) * bytes), access, 0) == 0;
}

static bool is_broken(void)
{
    return sgc_a32_load(&source.broken) != 0;
}

static bool open_range(uintptr_t from, uintptr_t to)
{
    if (!change(from, to, PROT_READ | PROT_WRITE))
        return false;
    source.opened += to - from;
    set_bits(source.watched, from, to, false);
    return true;
}

/* Opens the page, and with it watched neighbours up to `most` on each side. */
static bool open_run(uintptr_t page, uintptr_t most)
{
    uintptr_t from = page, to = page + 1;

    while (from > 0 && page - from < most && is_watched(from - 1))
        from--;
    while (to - page <= most && is_watched(to))
        to++;
    return open_range(from, to);
}

/* A call splits a mapping; where the process comes near the number that it may have, fewer and larger ones do.  All
 * neighbours together are a whole mapping, which splits nothing. */
static bool open_page(uintptr_t page)
{
    uintptr_t most = source.opened < source.maps_max / 8 ? 0 : COARSE;

    sgc_assert(is_watched(page));
    return open_run(page, most) || open_run(page, source.pages);
}

/* False: the system refuses, and what is still protected counts as written. */
static bool open_watched(uintptr_t from, uintptr_t to)
{
    for (uintptr_t page = from; page < to; page++)
        if (is_watched(page) && !open_run(page, source.pages))
            sgc_a32_store(&source.broken, 1);
    return !is_broken();
}

/* ---- faults ---- */

/* False: the fault is none of ours.  Another thread may have opened the page before we got the lock: then the store is tried
 * again, once as long as nothing is armed. */
static bool answer(uintptr_t address)
{
    static _Thread_local uintptr_t last __attribute__((tls_model("initial-exec")));
    static _Thread_local size_t last_armed __attribute__((tls_model("initial-exec")));
    uintptr_t page = address / sgc_os_page_size();
    bool ours = false;

    sgc_lock(source.lock, NULL);
    if (address >= source.low && address < source.high) {
        if (is_watched(page_number(address)))
            ours = open_page(page_number(address));
        else
            ours = source.armed > 0 && (last != page || last_armed != source.armed);
        last = page;
        last_armed = source.armed;
    }
    sgc_unlock(source.lock, NULL);
    return ours;
}

/* ---- opening and closing ---- */

static size_t bitmap_bytes(uintptr_t pages)
{
    return (pages + WORD - 1) / WORD * sizeof *source.watched;
}

static void set_range(uintptr_t low, uintptr_t high, uint64_t *bits)
{
    sigset_t signals;

    take(&signals);
    source.low = low;
    source.high = high;
    source.pages = bits != NULL ? page_number(high) : 0;
    source.watched = bits;
    source.kept = bits != NULL ? bits + bitmap_bytes(source.pages) / sizeof *bits : NULL;
    source.top = source.opened = 0;
    source.keeps = false;
    sgc_a32_store(&source.broken, 0);
    give(&signals);
}

static bool protect_open(uintptr_t low, uintptr_t high, struct sgc_dirty_refusal *why)
{
    uint64_t *bits;

    sgc_assert(low < high);
    *why = (struct sgc_dirty_refusal){ "pages cannot be made writable again", 0 };
    if (source.watched != NULL)
        return false;
    /* Pages that are read-only do not count as data: there may be no room for them when they are to be writable again. */
    *why = (struct sgc_dirty_refusal){ "a limit on data (ulimit -d)", 0 };
    if (sgc_limit_data())
        return false;
    *why = (struct sgc_dirty_refusal){ "MADV_WIPEONFORK", EINVAL };
    if (source.lock == NULL)
        source.lock = sgc_mem_obtain_wiped(sizeof *source.lock);
    if (source.lock == NULL || !sgc_store_faults_begin(answer, why))
        return false;
    *why = (struct sgc_dirty_refusal){ "memory for two bits an OS page", ENOMEM };
    bits = sgc_mem_obtain(2 * bitmap_bytes((high - low) / sgc_os_page_size()));
    if (bits == NULL)
        return false;
    source.maps_max = sgc_limit_mappings();
    set_range(low, high, bits);
    return true;
}

static bool open_piece(uintptr_t *from)
{
    uintptr_t to = *from + PIECE < source.top ? *from + PIECE : source.top;

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
        take(&signals);
        more = open_piece(&from);
        give(&signals);
    }
    return !is_broken();
}

/* What cannot be made writable stays watched: there is nobody else who would. */
static void protect_close(void)
{
    uint64_t *bits = source.watched;
    size_t bytes = 2 * bitmap_bytes(source.pages);

    if (bits == NULL || !open_all())
        return;
    set_range(source.low, source.high, NULL);
    sgc_mem_release(bits, bytes);
}

/* ---- arming and collecting ---- */

/* A handler above ours may take a store into a protected page for a mistake of the program's. */
static bool is_usable(void)
{
    if (source.watched == NULL)
        return false;
    if (sgc_store_faults_arrive() && !sgc_limit_data())
        return !is_broken();
    open_all();
    return false;
}

static void forget_opened(uintptr_t from, uintptr_t to)
{
    size_t pages = 0;

    for (uintptr_t page = from; page < to; page++)
        pages += !is_watched(page);
    source.opened -= pages < source.opened ? pages : source.opened;
}

/* If the system refuses, part of it may be protected: then it is opened with all its neighbours, which splits no mapping. */
static bool protect_run(uintptr_t from, uintptr_t to)
{
    source.armed++;
    forget_opened(from, to);
    set_bits(source.watched, from, to, true);
    if (change(from, to, PROT_READ))
        return true;
    open_watched(from, to);
    return false;
}

/* One piece, in one hold of the lock; without what is kept open. */
static bool protect_piece(uintptr_t from, uintptr_t to)
{
    sigset_t signals;
    bool done = true;

    take(&signals);
    for (uintptr_t end; from < to && done; from = end) {
        bool kept = is_kept(from);

        for (end = from + 1; end < to && is_kept(end) == kept; end++)
            continue;
        done = kept || protect_run(from, end);
    }
    give(&signals);
    return done;
}

static bool protect_again(uintptr_t from, uintptr_t to)
{
    if (!sgc_fault(SGC_FAULT_NOT_REARMED))
        return protect_piece(from, to);
    set_bits(source.watched, from, to, true);
    return true;
}

static bool protect_arm(uintptr_t low, uintptr_t high)
{
    uintptr_t end, to;

    if (!is_usable())
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
    sigset_t signals;
    uintptr_t to;

    take(&signals);
    to = dirty_run(from, end);
    give(&signals);
    return to;
}

static bool collect_runs(uintptr_t first, uintptr_t end, bool rearm, uint64_t *dirty)
{
    for (uintptr_t from = first, to; (to = next_run(&from, end)) > from; from = to) {
        sgc_dirty_set(dirty, from - first, to - first);
        if (rearm && !protect_again(from, to))
            return false;
    }
    return !is_broken();
}

/* A page that is opened after it was looked at is dirty in the next round; one that was found open stays so until it is
 * protected. */
static bool protect_collect(uintptr_t low, uintptr_t high, bool rearm, uint64_t *dirty)
{
    if (is_usable() && collect_runs(page_number(low), page_number(high), rearm, dirty))
        return true;
    sgc_dirty_set(dirty, 0, (high - low) / sgc_os_page_size());
    return false;
}

/* ---- around cycles ---- */

static void protect_keep_open(uintptr_t low, uintptr_t high)
{
    size_t bytes = sgc_os_page_size();
    uintptr_t from, to;
    sigset_t signals;

    take(&signals);
    if (source.watched != NULL) {
        from = page_number(sgc_round_down(low, bytes));
        to = page_number(sgc_round_up(high, bytes));
        set_bits(source.kept, from, to, true);
        source.keeps = true;
        if (!open_range(from, to))
            open_watched(from, to);
    }
    give(&signals);
}

static void forget_kept(void)
{
    sigset_t signals;

    take(&signals);
    if (source.keeps)
        set_bits(source.kept, 0, source.top, false);
    source.keeps = false;
    give(&signals);
}

/* Between cycles nothing is protected: no handler of the program's meets our faults, no system call fails. */
static void protect_rest(void)
{
    if (source.watched == NULL)
        return;
    open_all();
    forget_kept();
}

const struct sgc_dirty_source sgc_dirty_mprotect = {
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
