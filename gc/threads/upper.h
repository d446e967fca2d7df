/* SPDX-License-Identifier: MIT */
/*
 * What a layer on top of the collector, such as short-term memory, has to be told, and asked, by the rooms below it.  There is
 * at most one such layer, and none until the program uses it.
 *
 *   sgc_upper    the thread that starts the layer, once, with   everybody   release / acquire; who stops the world, or ends a
 *                the GC lock                                                thread that the layer knows, sees it by that
 *   m->upper     the thread itself, outside sections, at its    the thread; release / acquire; stopping the world
 *                first use; NULL again when the record is       who has stopped
 *                given back                                     the world
 */
#ifndef SGC_GC_THREADS_UPPER_H
#define SGC_GC_THREADS_UPPER_H

#include "gc/threads/mutator.h"

struct sgc_team;

/* Every member may be NULL. */
struct sgc_upper {
    /* World stopped, caches retired, nothing marked yet; in a concurrent cycle in the first stop only. */
    void (*stopped)(void);

    /* Hands out the memory whose words are roots as those of stacks are.  World stopped, in each stop. */
    void (*visit)(void (*fn)(void *arg, const struct sgc_mutator *whose, struct sgc_range range), void *arg);

    /* Instead of `visit`, for a layer that wants to see what is reachable without it: everything else has been marked, and
     * what this marks (marker 0, then sgc_team_look_through) is alive, too.  While it is there no cycle is concurrent. */
    void (*mark)(struct sgc_team *team);

    /* A cycle is over, the world runs; GC lock held.  `complete`: its mark was not given up. */
    void (*over)(bool complete);

    /* A program's thread begins to block (GC_do_blocking, GC_pthread_join ...), is back, and ends.  On that thread, outside
     * sections, while it is a mutator that runs; not for waits of our own. */
    void (*blocks)(struct sgc_mutator *self);
    void (*active)(struct sgc_mutator *self);
    void (*thread_over)(struct sgc_mutator *self);

    /* GC_free of an object (`freed`), or GC_realloc that has moved it: true if the layer keeps the object, which then stays as it
     * is, and of which it has said so if need be.  Only for objects of pages that are freed slowly.  Outside sections. */
    bool (*keeps)(struct sgc_mutator *self, uintptr_t object, bool freed);

    /* Fork: before, with the GC lock and all of the collector's locks; in the parent, before these are released; in the child,
     * when only the calling thread (NULL: not registered) is left. */
    void (*before_fork)(void);
    void (*after_fork_parent)(void);
    void (*after_fork_child)(struct sgc_mutator *self);
};

extern sgc_aw_t sgc_upper_now;          /* const struct sgc_upper *; 0: none */

static inline const struct sgc_upper *sgc_upper(void)
{
    return (const struct sgc_upper *)sgc_aw_load_acq(&sgc_upper_now);
}

#endif
