/* SPDX-License-Identifier: MIT */
/*
 * The OS pages of one range of memory, of which some are read-only until somebody stores into them:
 * the state of each page, and the calls that protect and open pages.  platform/dirty_mprotect.c
 * decides when to call them.
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
#ifndef SGC_PLATFORM_PROTECTED_PAGES_H
#define SGC_PLATFORM_PROTECTED_PAGES_H

#include <signal.h>

#include "platform/lock.h"
#include "platform/platform.h"
#include "platform/report.h"

enum { SGC_PROTECTED_PIECE = 4096 };            /* so many at a time, so that no store waits long */

struct sgc_protected {
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
};

extern struct sgc_protected sgc_protected;

void sgc_protected_take(sigset_t *signals);
void sgc_protected_give(const sigset_t *signals);

bool sgc_protected_broken(void);

/* Bytes of one bit each for so many pages. */
size_t sgc_protected_bitmap_bytes(uintptr_t pages);

/* From now on it is that range, with two bitmaps of zeros; NULL: none.  Takes the lock. */
void sgc_protected_set_range(uintptr_t low, uintptr_t high, uint64_t *bits);

/* ---- with the lock ---- */

/* Of an address in the range, or its end. */
static inline uintptr_t sgc_protected_page(uintptr_t address)
{
    sgc_assert(address >= sgc_protected.low && address <= sgc_protected.high);
    return (address - sgc_protected.low) / sgc_os_page_size();
}

bool sgc_protected_watched(uintptr_t page);
bool sgc_protected_kept(uintptr_t page);

void sgc_protected_set_watched(uintptr_t from, uintptr_t to);
void sgc_protected_set_kept(uintptr_t from, uintptr_t to, bool on);

/* Makes a watched page writable, and maybe neighbours, which count as written then.  False: the system refuses. */
bool sgc_protected_open(uintptr_t page);

/* Makes these pages writable, watched or not, and those that are watched.  False: the system refuses; what is still protected
 * counts as written, after the second. */
bool sgc_protected_open_range(uintptr_t from, uintptr_t to);
bool sgc_protected_open_watched(uintptr_t from, uintptr_t to);

/* Makes them read-only, and watches them.  False: the system refuses, and they are open. */
bool sgc_protected_protect(uintptr_t from, uintptr_t to);

#endif
