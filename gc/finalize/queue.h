/* SPDX-License-Identifier: MIT */
/*
 * The queue: objects wait here for their finalizers, first in, first out.  The collecting thread
 * puts their records there, any mutator takes them: gc/finalize/queue.c has the protocol.
 */
#ifndef SGC_GC_FINALIZE_QUEUE_H
#define SGC_GC_FINALIZE_QUEUE_H

#include "gc/threads/mutator.h"

bool sgc_finalizers_waiting(void);

/* May any wait whose object no collection has found dead, since GC_finalize_all has queued it? */
bool sgc_finalizers_waiting_early(void);

/* The number of objects that wait.  World stopped. */
size_t sgc_queue_length(void);

/* Runs finalizers until none waits, or sgc_finalizers_at_once of them, and returns their number.
 * Outside sections, without the GC lock. */
int sgc_finalizers_run(struct sgc_mutator *self);
extern sgc_a32_t sgc_finalizers_at_once;    /* 0: no limit.  Any thread: relaxed, one word that
                                             * stands for itself */

/* Is the calling thread within a finalizer, or an expiry procedure?  `entry` as below. */
bool sgc_finalizer_running(struct sgc_mutator *self, uintptr_t entry);

/* Runs finalizers, or calls the notifier; a thread of the program does so after a collection, and
 * now and then.  `entry`: where the frames end of the function that called the collector
 * (sgc_callers_stack_pointer, taken in one of the first functions). */
void sgc_finalizers_poll_slowly(struct sgc_mutator *self, uintptr_t entry);

extern sgc_a32_t sgc_finalizers_due;    /* there is something to do for a poll; a hint: relaxed */

static inline void sgc_finalizers_poll(struct sgc_mutator *self, uintptr_t entry)
{
    if (__builtin_expect(sgc_a32_load(&sgc_finalizers_due) != 0, 0))
        sgc_finalizers_poll_slowly(self, entry);
}

/* The program is about to free the object, for which nothing is registered any more: if it waits,
 * its finalizer is not called.  Outside sections. */
void sgc_queue_object_freed(struct sgc_mutator *self, uintptr_t object);

/* ---- the collector's side ---- */

/* Takes out the objects that were freed while they waited.  World stopped, before anything is put
 * here. */
void sgc_queue_drop_freed(void);

/* Adds a chain of records, last->next == 0.  World stopped. */
void sgc_queue_append(const struct sgc_node_chain *chain);

/* Puts a chain of records before those that wait.  World running, GC lock held. */
void sgc_queue_put_first(const struct sgc_node_chain *chain);

/* Warns pollers if something waits.  GC lock held, after each cycle. */
void sgc_queue_announce(void);

/* Hands the objects and data that are on the queue to fn.  World stopped. */
void sgc_queue_visit(void (*fn)(void *arg, uintptr_t address), void *arg);

#endif
