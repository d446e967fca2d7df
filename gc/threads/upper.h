/* SPDX-License-Identifier: MIT */
/*
 * Calls with which the rooms below tell and ask a layer on top of the collector, such as short-term
 * memory.  There is at most one such layer, and none until the program uses it.
 *
 *   sgc_upper  the thread that starts the layer,     every thread    release / acquire: a stopper,
 *              once, with the GC lock                                or the thread that ends one
 *              (gc/collect/start.h)                            known to the layer, sees it
 *   m->upper   the thread itself, outside sections,  the thread;     release / acquire; stopping
 *              at its first use; 0 again: the        the stopper     the world
 *              caller of thread_over or vanished,
 *              when that returns
 */
#ifndef SGC_GC_THREADS_UPPER_H
#define SGC_GC_THREADS_UPPER_H

#include "gc/threads/mutator.h"

struct sgc_object;
struct sgc_team;

/* Every member may be NULL. */
struct sgc_upper {
    /* World stopped, caches retired, nothing marked yet; in a concurrent cycle in the first stop
     * only.  Objects that the layer frees by clearing allocation bits are not marked. */
    void (*stopped)(void);

    /* Hands out the memory whose words are roots as those of stacks are.  World stopped, in each
     * stop, after all other roots; and for questions (why is an object alive?).  `whose` may be
     * NULL. */
    void (*visit)(void (*fn)(void *arg, const struct sgc_mutator *whose, struct sgc_range range), void *arg);

    /* Marks instead of `visit`, which is left to questions, for a layer that wants to see what is
     * reachable without it: everything else has been marked, and what this marks (marker 0, then
     * sgc_team_round) is alive, too.  While it is there no cycle is concurrent. */
    void (*mark)(struct sgc_team *team);

    /* World stopped: a mark is complete, and what it has not reached is about to be gone. */
    void (*marked)(void);

    /* A cycle is over, the world runs; GC lock held.  `complete`: its mark was not given up. */
    void (*over)(bool complete);

    /* A thread that has something in m->upper begins to block (GC_do_blocking, GC_pthread_join
     * ...), is back, and ends.  On that thread, outside sections, while it is a mutator that runs;
     * not for waits of our own.  `blocks` and `active` alternate, also if the thread is cancelled.
     * It may fork in between: neither is called for that. */
    void (*blocks)(struct sgc_mutator *self);
    void (*active)(struct sgc_mutator *self);
    void (*thread_over)(struct sgc_mutator *self);

    /* Instead of thread_over, on another thread, which has the GC lock: it ended without a word,
     * inside a section, perhaps, or while it was blocked.  The world runs, the record is in
     * nobody's list any more, its cache is not closed yet.  In the child of a fork, with the
     * registry's lock, for each of the others. */
    void (*vanished)(struct sgc_mutator *m);

    /* GC_free of an object (`freed`), or GC_realloc that has moved it: true if the layer keeps the
     * object, which then stays as it is, but for its finalizer, which the layer has forgotten; and
     * it has said so if need be.  Of small objects GC_free asks only where their page is watched
     * (sgc_page_watch).  Outside sections. */
    bool (*keeps)(struct sgc_mutator *self, uintptr_t object, bool freed);

    /* Is the object memory of the layer's own, which no function but the layer's takes?  Any
     * thread. */
    bool (*owns)(const struct sgc_object *o);

    /* Fork: before, with the GC lock and all of the collector's locks; in the parent, before these
     * are released; in the child, for `self` (NULL: not registered), before the others' records
     * come to `vanished`: it frees locks, and leaves the heap alone. */
    void (*before_fork)(void);
    void (*after_fork_parent)(void);
    void (*after_fork_child)(struct sgc_mutator *self);
};

extern sgc_aw_t sgc_upper_now;          /* const struct sgc_upper *; 0: none */

static inline const struct sgc_upper *sgc_upper(void)
{
    return (const struct sgc_upper *)sgc_aw_load_acq(&sgc_upper_now);
}

/* Does the layer mark by itself? */
static inline bool sgc_upper_marks(void)
{
    return sgc_upper() != NULL && sgc_upper()->mark != NULL;
}

/* Calls a member, if there is one: SGC_UPPER(over, (true)). */
#define SGC_UPPER(member, arguments)                                                                \
    do {                                                                                            \
        const struct sgc_upper *sgc_upper_ = sgc_upper();                                           \
        if (sgc_upper_ != NULL && sgc_upper_->member != NULL)                                       \
            sgc_upper_->member arguments;                                                           \
    } while (0)

/* ---- what threads do, for those of which the layer keeps something ---- */

static inline bool sgc_upper_knows(const struct sgc_mutator *m)
{
    return sgc_aw_load_acq(&m->upper) != 0;
}

/* On the thread itself: before it enters a blocked region, after it has left it. */
static inline void sgc_upper_blocks(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self));
    if (sgc_upper_knows(self))
        SGC_UPPER(blocks, (self));
}

void sgc_upper_active(struct sgc_mutator *self);

/* On the thread itself, outside blocked regions: before anything of it is taken down. */
static inline void sgc_upper_thread_over(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self));
    if (!sgc_upper_knows(self))
        return;
    SGC_UPPER(thread_over, (self));
    sgc_aw_store_rel(&self->upper, 0);
}

/* By the thread that buries the record of another. */
static inline void sgc_upper_vanished(struct sgc_mutator *m)
{
    sgc_assert(m != sgc_mutator_self() && m->cache.id != 0);
    if (!sgc_upper_knows(m))
        return;
    SGC_UPPER(vanished, (m));
    sgc_aw_store_rel(&m->upper, 0);
}

/* Is the object memory of the layer's own?  On any thread. */
bool sgc_upper_owns(const struct sgc_object *o);

/* Does the layer keep the object, which the program frees (or has moved)?  On any mutator, outside
 * sections. */
bool sgc_upper_keeps(struct sgc_mutator *self, uintptr_t object, bool freed);

#endif
