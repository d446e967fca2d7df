/* SPDX-License-Identifier: MIT */
/*
 * The GC lock: one cycle, fork, external stop or call with the allocation lock at a time.
 *
 *   what     written by               read by          ordering
 *   word     who takes it: a CAS      everybody        acquire-release RMW; futex on its lower half
 *            from 0; who opens it
 *   waiting  who waits, before it     who opens        RMW; sequentially consistent load after opening
 *            tries again
 *
 * Its holder may be stopped by nobody, since only the holder stops the world.  Waiting for it
 * happens outside sections, so a waiting thread can be stopped.
 *
 * Normally it is held under a guard.  For a callback of the program it is held without one: if
 * nobody has it or waits for it, that needs no system call.  Handlers of the program then run on
 * the thread that has it, and one may leave by a jump, with the GC lock held; so may the callback
 * itself.  Therefore the word says also where in the thread's stack there is a copy of it; when the
 * thread enters one of our functions above that, or something else lies there, the GC lock is
 * opened (sgc_gc_lock_recover).  As it is one word, no handler comes between.  The opening itself
 * may be left before the wake: a thread that waits while the GC lock is held so looks now and then.
 */
#ifndef SGC_GC_THREADS_GC_LOCK_H
#define SGC_GC_THREADS_GC_LOCK_H

#include "gc/threads/mutator.h"

/* Calls that must not overlap a cycle. */
void sgc_gc_lock_acquire(struct sgc_mutator *self);
void sgc_gc_lock_release(void);
bool sgc_gc_lock_held(void);               /* as the word says; before something is refused for it:
                                              sgc_gc_lock_recover */

/* Has the calling thread stopped the world, by hand or for its cycle?  Then it holds the registry's
 * lock, too. */
bool sgc_stopped_by_self(void);

/* For functions that a thread may call with the GC lock held by itself: closes it if it is not, and
 * says whether it did; to be handed to sgc_gc_lock_leave, which opens it again then.  Between them
 * the thread is under a guard. */
bool sgc_gc_lock_enter(struct sgc_mutator *self);
void sgc_gc_lock_leave(bool closed);

/* In the frame of the thread that holds the GC lock for a callback: a copy of the word. */
struct sgc_gc_lock_hold {
    volatile uintptr_t word;
};

/* For a callback: takes the GC lock, without a guard if the thread is on its own stack and under
 * none already.  The first only if that is easy.  To be opened by the third. */
bool sgc_gc_lock_try(struct sgc_mutator *self, struct sgc_gc_lock_hold *hold);
void sgc_gc_lock_acquire_for(struct sgc_mutator *self, struct sgc_gc_lock_hold *hold);
void sgc_gc_lock_release_for(const struct sgc_gc_lock_hold *hold);
bool sgc_gc_lock_is_fast(void);           /* held so, by anybody */

/* Is the GC lock the calling thread's, which entered at `entry`?  If it has left the callback for
 * which it closed it, it is opened here, with a warning. */
bool sgc_gc_lock_recover(struct sgc_mutator *self, uintptr_t entry);

/* The thread ends: it has left everything. */
void sgc_gc_lock_thread_ends(struct sgc_mutator *self);

void sgc_gc_lock_after_fork(void);

#endif
