/* SPDX-License-Identifier: MIT */
/*
 * A lock between markers: a few looks, then a futex.  World stopped, so no section and no rank is involved (those are
 * the business of platform/lock.h); whoever holds one takes no other.
 *
 *   what    written by                    read by    ordering
 *   word    whoever takes it: to held;    same       taking is an acquire, freeing a release of this word:
 *           its holder: to free                      whoever takes it sees what the last holder did
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
