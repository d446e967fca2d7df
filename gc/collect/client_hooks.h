/* SPDX-License-Identifier: MIT */
/*
 * The client's functions that the collector calls (gc_hooks.h, gc_mark.h), seen from the collector.
 *
 * A hook is set with the GC lock held, so that none runs while another is put in its place, and once the setter
 * has returned the old one is not called any more.  A hook that sets hooks has the GC lock already.
 *
 *   hooks        written under the GC lock, release     read by the collecting thread, acquire
 *   pushing      the marker while the push hook runs; the collecting thread only
 */
#ifndef SGC_GC_COLLECT_CLIENT_HOOKS_H
#define SGC_GC_COLLECT_CLIENT_HOOKS_H

#include "gc/finalize/finalize.h"
#include "gc/threads/mutator.h"
#include "mark/marker.h"

/* Begins to listen to the collector's events for the client.  Once, at start. */
void sgc_client_hooks_start(void);

/* Begins to look for leaks and for guards that were written to, at each collection.  Once, at start. */
void sgc_client_checks_start(void);

/* Begins to write heap snapshots, if SGC_SNAPSHOT asks for them.  Once, at start. */
void sgc_snapshots_start(void);

/* Service threads are started by the C library's own function, whatever stands before it; and who keeps something for threads
 * that the client creates hears of them (sgc_thread_hooks).  Once, at start. */
void sgc_client_threads_start(void);

/* Memory for what the hook that pushes roots allocates, if it is the client's.  Before the pause, GC lock held; self may be
 * NULL. */
void sgc_client_before(struct sgc_mutator *self);

/* Lets the client push its roots of this collection.  World stopped, and nobody else looks at the heap: the hook may change
 * what it likes. */
void sgc_client_push_roots(struct sgc_marker *marker);

/* Registers the finalizers that the hook has.  After the pause, GC lock held. */
void sgc_client_after(void);

/* Is that hook running, and has it called us?  The second is the question; it costs others a look at their own section. */
bool sgc_client_pushing(void);

static inline bool sgc_called_by_hook(struct sgc_mutator *self)
{
    return __builtin_expect(sgc_section_of(self)->held != 0, 0) && sgc_client_pushing();
}

/* GC_set_toggleref_func and GC_set_await_finalize_proc.  NULL: none.  GC lock held. */
sgc_toggle_fn sgc_client_toggle_fn(void);
sgc_await_fn sgc_client_await_fn(void);

#endif
