/* SPDX-License-Identifier: MIT */
/*
 * A lock between markers: a few looks, then a futex.  No section and no rank is involved (those are
 * the business of platform/section/lock.h); a thread that holds one takes no other.
 *
 *   what    written by                       read by    ordering
 *   word    the thread that takes it: to     same       taking is an acquire, freeing a release
 *           held; its holder: to free                   of this word: the next holder sees what
 *                                                       the last one did
 */
#ifndef SGC_MARK_WORK_FUTEX_LOCK_H
#define SGC_MARK_WORK_FUTEX_LOCK_H

#include "platform/atomics.h"

enum {
    SGC_FUTEX_FREE,
    SGC_FUTEX_HELD,
    SGC_FUTEX_SLEPT_ON,         /* held, and somebody sleeps or is about to */
};

struct sgc_futex_lock {
    sgc_a32_t word;             /* zero: free */
};

void sgc_futex_lock(struct sgc_futex_lock *lock);
void sgc_futex_unlock(struct sgc_futex_lock *lock);

#endif
