/* SPDX-License-Identifier: MIT */
/*
 * The service thread: when the program leaves it time it clears the bitmap for the next cycle,
 * sweeps the pages that nobody needed, and gives memory back when it has decayed.  It asks the
 * cgroup what memory is left, too, for a program none of whose threads has the stack to do so.
 *
 * It starts after the first cycle in a heap that is worth it, on the thread that collected, outside
 * every lock; or before a thread is suspended (gc/api/suspend.c).  In the child of a fork it starts
 * anew.  It is registered like a mutator, so that it is stopped with the others, but nothing of it
 * is a root.  It ends, and helpers with it, when the last of the program's threads has
 * unregistered.  Without it (SGC_BACKGROUND_THREAD=off, or no thread to be had) the same work is
 * done by whoever needs it, and memory goes back only at explicit collections.
 *
 * A cycle asks it, and then it waits for a while whether there is another one ("lingers"): a busy
 * program sweeps what it needs itself, and cheaper.  Meanwhile cycles ask it without waking it,
 * since a wake-up costs as much as sweeping a small heap.
 *
 *   wanted     anybody: add, then wake unless it lingers;                             service thread: futex word
 *              the service thread: whether it lingers, by compare-and-swap
 *   job        anybody, once: release                                             service thread: acquire
 *   started    who has the GC lock; fork's child; the      anybody: relaxed, it is said before any work is asked for
 *              service thread, when it is not registered: before refused()
 */
#ifndef SGC_GC_COLLECT_BACKGROUND_H
#define SGC_GC_COLLECT_BACKGROUND_H

#include "gc/threads/mutator.h"

/* Starts the thread if there is none; false if there cannot be one.  By who has the GC lock: to
 * make a thread takes locks of the loader with signals blocked, and a thread that stopped the world
 * meanwhile would hold the loader's lock and wait. */
bool sgc_service_start(void);

/* Starts the thread after a cycle, unless the heap is so small that it would hardly have anything
 * to do.  By the thread that has the GC lock. */
void sgc_service_start_if_worth_it(void);

/* A job that the service thread does before all other work: whenever it is awake and wanted() says
 * so, it calls run().  If the thread cannot be registered it calls refused() and ends: who wants
 * the job has to see, after refused(), that there is nobody. */
struct sgc_service_job {
    bool (*wanted)(void);
    void (*run)(struct sgc_mutator *self);
    void (*refused)(void);
};
void sgc_service_set_job(const struct sgc_service_job *job);

/* There is work after a cycle.  `at_once`: the service thread is woken even if it lingers, for a
 * caller that cannot wait until it comes back by itself.  Outside sections, GC lock free. */
void sgc_service_wake(bool at_once);

/* Does all of it now on the calling thread, and gives back whatever is free regardless of age. */
void sgc_service_do_all(struct sgc_mutator *self);

void sgc_service_after_fork(void);

#endif
