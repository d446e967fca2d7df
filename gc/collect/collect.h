/* SPDX-License-Identifier: MIT */
/* Collections, and what a thread does when one is due. */
#ifndef SGC_GC_COLLECT_COLLECT_H
#define SGC_GC_COLLECT_COLLECT_H

#include "gc/collect/cycle.h"
#include "gc/collect/external_stop.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/pacing/pacing.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/mutator.h"

enum sgc_collect_result {
    SGC_COLLECTED,              /* by us, or by another thread while we waited for it */
    SGC_COLLECT_GIVEN_UP,       /* the stop function said so, or a thread could not be stopped */
    SGC_COLLECT_INTERRUPTED,    /* memory has run out, a thread was late, and a signal is to end
                                   the program: try once more */
    SGC_COLLECT_DISABLED,       /* GC_disable is in force */
    SGC_COLLECT_NESTED,         /* called from within a collection: reported */
};

/* Runs a cycle.  An allocation that finds another thread collecting waits for that and is done.
 * stop() (NULL: never) is asked now and then whether to give up.  Outside sections.
 *
 * The caller's registers are stored above `from`: the calling thread's stack is scanned from
 * there, 0: from the pause.  No frame between may hold the only address of an object. */
enum sgc_collect_result sgc_collect_from(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void),
                                         uintptr_t from);

static inline enum sgc_collect_result sgc_collect(struct sgc_mutator *self, enum sgc_reason reason,
                                                  int (*stop)(void))
{
    return sgc_collect_from(self, reason, stop, 0);
}

/* ---- when one is due: outside sections, no object in the thread's hands ---- */

/* Collects unless `stop` says so meanwhile, or asks for it, or assists, or stalls; the stack is
 * scanned from `from`, 0: from here.  Under the GC lock it does nothing: a collection that waited
 * for the lock's holder would never end. */
void sgc_collect_as_due(struct sgc_mutator *self, enum sgc_due due, int (*stop)(void), uintptr_t from);

/* Collects, or asks for a concurrent cycle, when torture says so; the stack is scanned from `from`.
 * Under the GC lock it does nothing. */
void sgc_collect_under_torture(struct sgc_mutator *self, uintptr_t from);

/* ---- threads that help a concurrent cycle: outside sections and blocked regions ---- */

/* Marks for about so long if the cycle marks just now.  True if there was something to do.  The
 * GC lock is not held. */
bool sgc_assist_for(struct sgc_mutator *self, uint64_t ns);

/* Takes the cycle from the lead, and marks about so many bytes of it.  True if there is more to
 * mark.  The GC lock is not held. */
bool sgc_assist_bytes(struct sgc_mutator *self, size_t bytes);

/* ---- threads, and whether there are collections ---- */

/* Starts the threads of all markers that there may be.  Outside sections. */
void sgc_collect_start_markers(struct sgc_mutator *self);

/* Under RLIMIT_AS: starts the collector's threads.  By a thread that is about to create one of
 * the program's: to create one allocates, and malloc gives each thread that allocates for the
 * first time 64 MB of address space.  This one has that, the thread that happens to need a
 * collection first may not. */
void sgc_collect_start_threads_ahead(struct sgc_mutator *self);

/* Collections are disabled while this is not zero. */
static inline void sgc_collect_disable(void)
{
    sgc_a32_add(&sgc_client_dont_gc, 1);
}

static inline int sgc_collect_disabled(void)
{
    return (int)sgc_a32_load(&sgc_client_dont_gc);
}

bool sgc_collect_enable(void);              /* false: it was not disabled */

/* Disables collections when a cycle that marks beside the program has been finished; the calling
 * thread's stack is scanned from `from`.  If the world cannot be stopped, the cycle waits until
 * they are enabled.  Outside sections, the GC lock not held. */
void sgc_collect_finish_and_disable(struct sgc_mutator *self, uintptr_t from);

#endif
