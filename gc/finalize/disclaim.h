/* SPDX-License-Identifier: MIT */
/*
 * Disclaim procedures: a kind may have one, which is asked about each of its objects that a
 * collection has found dead, before its memory is used again.
 *
 * Marks become allocation bits at the end of a mark, so such an object is kept by marking it,
 * without the objects that it points at, and is put into a queue.  Threads of the program take
 * objects from there, ask the procedure, and free them.  The next collection finds objects that are
 * still in the queue dead again: so the queue is filled anew each time, and objects that do not fit
 * into it are only late.
 *
 * The GC lock protects the queue: the thread that asks takes an object and frees the last one under
 * it, and so does the thread that frees an object which may wait.  Procedures are called without
 * it.
 *
 *   what            written by                                read by          ordering
 *   of[n], kinds,   the thread that registers a procedure,    everybody        release / acquire; the stopped world
 *   mark_from_kinds         GC lock held
 *   object[],       the collecting thread, world stopped;     same             the GC lock
 *   count, next,    the thread that asks, GC lock held
 *   asking, freed
 *   object[n],      also the thread that frees the object:    same             the GC lock
 *   asking          sets the lowest bit; 0
 *   busy            the thread that asks: compare-and-swap    everybody        acquire-release; only the thread itself makes
 *                   the collecting thread, world stopped: 0                    it its own, and looks for that
 *   due             the collecting thread: 1; the thread      everybody        relaxed: 1 is a hint; 0, nothing waits nor is
 *                   that asks, GC lock held: 0                                    asked about, holds until the world is stopped
 *                                                                              again
 */
#ifndef SGC_GC_FINALIZE_DISCLAIM_H
#define SGC_GC_FINALIZE_DISCLAIM_H

#include "gc/threads/mutator.h"
#include "mark/team/team.h"

/* Non-zero: the object is not freed this time. */
typedef int (*sgc_disclaim_t)(void *object);

/* The kind's procedure from now on, NULL: none.  With from_all, what its objects point at is kept
 * as long as they are, though they may be dead.  GC lock held; false if there is no memory for the
 * queue. */
bool sgc_disclaim_set(uint32_t kind, sgc_disclaim_t proc, bool from_all);

/* Does any kind have a procedure?  Then what a collection finds dead is looked through while the
 * world stands. */
bool sgc_disclaim_used(void);

/* Has the kind one? */
bool sgc_disclaim_asks(uint32_t kind);

/* Does the kind have one that lets go of what a dead object points at?  The object itself is kept,
 * and marked, until it was asked about. */
bool sgc_disclaim_lets_go(uint32_t kind);

/* World stopped, when all that is reachable has been marked: keeps what dead objects point at,
 * where that is wanted.  Before finalization judges, as the procedures are called before finalizers
 * of what they look at. */
void sgc_disclaim_keep(struct sgc_team *team);

/* World stopped, when finalization has marked what it keeps: puts those that are dead now into the
 * queue. */
void sgc_disclaim_mark(struct sgc_team *team);

/* Asks about up to so many objects, unless somebody does that already; true if any was freed.
 * `entry`: as for sgc_finalizers_poll.  On a mutator, outside sections. */
bool sgc_disclaim_run(struct sgc_mutator *self, size_t max, uintptr_t entry);

/* Is the calling thread within a procedure?  `entry` as above.  Outside sections. */
bool sgc_disclaim_running(const struct sgc_mutator *self, uintptr_t entry);

/* The program frees the object: nobody is to be asked about it. */
void sgc_disclaim_forget(struct sgc_mutator *self, uintptr_t object, uint32_t kind);

/* The thread ends: it asks no more. */
void sgc_disclaim_thread_over(struct sgc_mutator *self);

void sgc_disclaim_after_fork(struct sgc_mutator *self);

extern sgc_a32_t sgc_disclaim_due;      /* there may be something in the queue */

enum { SGC_DISCLAIM_STEP = 4096 };      /* objects asked about by one allocation that takes the slow
                                           way */

static inline void sgc_disclaim_poll(struct sgc_mutator *self, uintptr_t entry)
{
    if (__builtin_expect(sgc_a32_load(&sgc_disclaim_due) != 0, 0))
        sgc_disclaim_run(self, SGC_DISCLAIM_STEP, entry);
}

#endif
