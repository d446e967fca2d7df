/* SPDX-License-Identifier: MIT */
/*
 * Collection cycles.
 */
#ifndef SGC_GC_COLLECT_CYCLE_H
#define SGC_GC_COLLECT_CYCLE_H

#include "gc/collect/external_stop.h"
#include "gc/collect/pause.h"
#include "gc/events/events.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/mutator.h"

enum sgc_collect_result {
    SGC_COLLECTED,              /* by us, or by another thread while we waited for it */
    SGC_COLLECT_GIVEN_UP,       /* the stop function said so, or a thread could not be stopped */
    SGC_COLLECT_DISABLED,       /* GC_disable is in force */
    SGC_COLLECT_NESTED,         /* called from within a collection: reported */
};

/* Runs a cycle.  An allocation that finds another thread collecting waits for that and is done.
 * stop() (NULL: never) is asked now and then whether to give up.  Outside sections. */
enum sgc_collect_result sgc_collect(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void));

/* Runs a cycle as sgc_collect does, on behalf of a caller further up, whose registers are stored
 * above `from` (sgc_with_registers): the calling thread's stack is scanned from there.  No frame
 * between may hold the only address of an object. */
enum sgc_collect_result sgc_collect_from(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void),
                                         uintptr_t from);

/* Starts the threads of all markers that there may be.  Outside sections. */
void sgc_cycle_start_markers(struct sgc_mutator *self);

/* Under RLIMIT_AS: starts the collector's threads.  By a thread that is about to create one of the program's: to create one
 * allocates, and malloc gives each thread that allocates for the first time 64 MB of address space.  This one has that,
 * the thread that happens to need a collection first may not. */
void sgc_cycle_start_threads_ahead(struct sgc_mutator *self);

/* Collections are disabled while this is not zero. */
void sgc_collect_disable(void);
bool sgc_collect_enable(void);              /* false: it was not disabled */
int sgc_collect_disabled(void);

#endif
