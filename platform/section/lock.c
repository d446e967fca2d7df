/* SPDX-License-Identifier: MIT */
/*
 * Ranked locks on a futex word.  Runs on any mutator and on the service thread.
 */
#include "platform/section/lock.h"

#include <limits.h>

#include "platform/platform.h"

enum { FREE, HELD, CONTENDED };

enum { SPINS = 64 };

static bool try_once(struct sgc_lock *lock)
{
    return sgc_a32_cas(&lock->word, FREE, HELD);
}

static bool try_spinning(struct sgc_lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        if (sgc_a32_load(&lock->word) == FREE && try_once(lock))
            return true;
        sgc_spin_hint();
    }
    return false;
}

/* Taken in the end it may stay marked as contended, which costs at most one wake too many. */
static void lock_inner(struct sgc_lock *lock)
{
    if (try_once(lock) || try_spinning(lock))
        return;
    while (sgc_a32_swap(&lock->word, CONTENDED) != FREE)
        sgc_wait(&lock->word, CONTENDED, -1);
}

/* Once a thread has slept it takes the lock as contended only: others may sleep still, and a thread
 * that frees a lock that is merely held wakes nobody. */
static bool try_first(struct sgc_lock *lock, bool slept)
{
    if (!slept && (try_once(lock) || try_spinning(lock)))
        return true;
    return sgc_a32_swap(&lock->word, CONTENDED) == FREE;
}

/* Each round is a section of its own; the sleep lies outside, where the thread can be stopped. */
static void lock_first(struct sgc_lock *lock, struct sgc_section *self)
{
    sgc_guard_enter(self);
    for (bool slept = false;; slept = true) {
        sgc_section_enter(self);
        if (try_first(lock, slept))
            return;
        sgc_section_leave(self);
        sgc_section_sleep(self, &lock->word, CONTENDED);
    }
}

void sgc_lock(struct sgc_lock *lock, struct sgc_section *self)
{
    if (self == NULL) {
        lock_inner(lock);
        return;
    }
    sgc_assert(lock->rank < SGC_RANK_COUNT);
    sgc_assert((self->held >> lock->rank) == 0);
    if (self->held != 0)
        lock_inner(lock);
    else
        lock_first(lock, self);
    self->held |= 1u << lock->rank;
    sgc_assert(sgc_lock_taken(lock) && self->sp != 0);
}

/* All sleepers are woken, not one: the one might be a thread that is stopped before it can take the
 * lock, while another waits inside a section for it, and the world for that one. */
static void release(struct sgc_lock *lock)
{
    uint32_t was = sgc_a32_swap(&lock->word, FREE);

    sgc_assert(was != FREE);
    if (was == CONTENDED)
        sgc_wake(&lock->word, INT_MAX);
}

void sgc_unlock(struct sgc_lock *lock, struct sgc_section *self)
{
    release(lock);
    if (self == NULL)
        return;
    sgc_assert(self->held & (1u << lock->rank));
    sgc_assert(self->sp != 0);
    sgc_section_check(self);            /* as long as it can be seen that no handler did it */
    self->held &= ~(1u << lock->rank);
    if (self->held != 0)
        return;
    sgc_section_leave(self);
    sgc_guard_leave(self);
}

void sgc_lock_reset(struct sgc_lock *lock)
{
    sgc_a32_store_rel(&lock->word, FREE);
}
