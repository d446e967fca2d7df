/* SPDX-License-Identifier: MIT */
/*
 * A lock between markers.  On any marker.
 */
#include "mark/work/futex_lock.h"

#include "platform/platform.h"
#include "platform/report.h"

/* Looks before sleeping; tests in which time passes otherwise have their own. */
#ifndef SGC_FUTEX_SPINS
#define SGC_FUTEX_SPINS 64
#endif

static bool take_spinning(struct sgc_futex_lock *lock)
{
    for (int i = 0; i < SGC_FUTEX_SPINS; i++) {
        if (sgc_a32_load(&lock->word) == SGC_FUTEX_FREE && sgc_a32_cas(&lock->word, SGC_FUTEX_FREE, SGC_FUTEX_HELD))
            return true;
        sgc_spin_hint();
    }
    return false;
}

/* A thread that had to sleep takes the lock as slept on: others may still sleep, and the thread
 * that frees the lock wakes one of them. */
void sgc_futex_lock(struct sgc_futex_lock *lock)
{
    if (take_spinning(lock))
        return;
    while (sgc_a32_swap(&lock->word, SGC_FUTEX_SLEPT_ON) != SGC_FUTEX_FREE)
        sgc_wait(&lock->word, SGC_FUTEX_SLEPT_ON, -1);
}

void sgc_futex_unlock(struct sgc_futex_lock *lock)
{
    uint32_t was = sgc_a32_swap(&lock->word, SGC_FUTEX_FREE);

    sgc_assert(was != SGC_FUTEX_FREE);
    if (was == SGC_FUTEX_SLEPT_ON)
        sgc_wake(&lock->word, 1);
}
