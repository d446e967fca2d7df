/* SPDX-License-Identifier: MIT */
/*
 * The OS pages of one range of memory, of which some are read-only until somebody stores into them:
 * the state of each page, and the calls that protect and open pages.
 * platform/written/written_mprotect.c decides when to call them.
 *
 *   word                      written by                       read by              under
 *   watched, a bit an         arming, collecting (set);        all of these         `lock`
 *   OS page                   the handler, keep_open, rest,
 *                             closing (clear)
 *   kept, a bit an OS page    keep_open (sets), rest (clears)  arming, collecting   `lock`
 *   the rest                  all of these, opening            all of these         `lock`; none to
 *                                                                                   read `broken`
 *
 * A page's bit is set before it is protected and cleared after it is writable, so no page without a
 * bit is protected by us.  The thread that holds the lock has all signals blocked that stop
 * threads, and stores into no watched page, so it goes on running.  The lock lies in memory that is
 * zeroed in the child of a fork, where its holder may not exist.
 *
 * Pages have numbers, from 0 at the range's begin.
 */
#ifndef SGC_PLATFORM_WRITTEN_PROTECTED_PAGES_H
#define SGC_PLATFORM_WRITTEN_PROTECTED_PAGES_H

#include <signal.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/section/lock.h"

enum { SGC_PROTECTED_PIECE = 4096 };            /* so many at a time, so that no store waits long */

struct sgc_protected {
    struct sgc_lock *lock;
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
};

extern struct sgc_protected sgc_protected;

static inline void sgc_protected_take(sigset_t *signals)
{
    sgc_assert(sgc_protected.lock != NULL && signals != NULL);
    sgc_signals_block(signals);
    sgc_lock(sgc_protected.lock, NULL);
}

static inline void sgc_protected_give(const sigset_t *signals)
{
    sgc_assert(sgc_lock_taken(sgc_protected.lock));
    sgc_unlock(sgc_protected.lock, NULL);
    sgc_signals_restore(signals);
}

static inline bool sgc_protected_broken(void)
{
    return sgc_a32_load(&sgc_protected.broken) != 0;
}

/* Bytes of one bit each for so many pages. */
static inline size_t sgc_protected_bitmap_bytes(uintptr_t pages)
{
    return (pages + 63) / 64 * sizeof(uint64_t);
}

/* From now on it is that range, with two bitmaps of zeros; NULL: none.  Takes the lock. */
void sgc_protected_set_range(uintptr_t low, uintptr_t high, uint64_t *bits);

/* ---- with the lock ---- */

/* Of an address in the range, or its end. */
static inline uintptr_t sgc_protected_page(uintptr_t address)
{
    sgc_assert(address >= sgc_protected.low && address <= sgc_protected.high);
    return (address - sgc_protected.low) / sgc_os_page_size();
}

/* The range, its bitmaps and its pages agree. */
static inline void sgc_protected_check(void)
{
    sgc_assert(sgc_lock_taken(sgc_protected.lock));
    sgc_assert(sgc_protected.low <= sgc_protected.high);
    sgc_assert((sgc_protected.watched == NULL) == (sgc_protected.pages == 0));
    sgc_assert((sgc_protected.watched == NULL) == (sgc_protected.kept == NULL));
    sgc_assert(sgc_protected.pages == 0 || sgc_protected.pages == sgc_protected_page(sgc_protected.high));
    sgc_assert(sgc_protected.top <= sgc_protected.pages);
}

static inline bool sgc_protected_has(const uint64_t *bits, uintptr_t page)
{
    sgc_assert(sgc_lock_taken(sgc_protected.lock));
    return page < sgc_protected.pages && (bits[page / 64] >> page % 64 & 1) != 0;
}

static inline bool sgc_protected_watched(uintptr_t page)
{
    return sgc_protected_has(sgc_protected.watched, page);
}

static inline bool sgc_protected_kept(uintptr_t page)
{
    return sgc_protected.keeps && sgc_protected_has(sgc_protected.kept, page);
}

void sgc_protected_set_watched(uintptr_t from, uintptr_t to);
void sgc_protected_set_kept(uintptr_t from, uintptr_t to, bool on);

/* Makes a watched page writable, and maybe neighbours, which count as written then.  False: the
 * system refuses. */
bool sgc_protected_open(uintptr_t page);

/* Makes these pages writable, watched or not, and those that are watched.  False: the system
 * refuses; what is still protected counts as written, after the second. */
bool sgc_protected_open_range(uintptr_t from, uintptr_t to);
bool sgc_protected_open_watched(uintptr_t from, uintptr_t to);

/* Makes them read-only, and watches them.  False: the system refuses, and they are open. */
bool sgc_protected_protect(uintptr_t from, uintptr_t to);

#endif
