/* SPDX-License-Identifier: MIT */
/*
 * The functions of the client (gc_hooks.h, gc_mark.h) that the collector calls, seen from the
 * collector: the rooms above it fill the one structure, gc/inspect/client_hooks.c.
 *
 * A hook of the client is set with the GC lock held, so that none runs while another is put in its
 * place, and once the setter has returned the old one is not called any more.  A hook that sets
 * hooks has the GC lock already.
 *
 *   hooks        written under the GC lock, release     read by the collecting thread, acquire
 *   pushing      the marker while the push hook runs; the collecting thread only
 */
#ifndef SGC_GC_COLLECT_CLIENT_HOOKS_H
#define SGC_GC_COLLECT_CLIENT_HOOKS_H

#include "gc/finalize/rounds.h"
#include "gc/threads/mutator.h"
#include "mark/marker.h"

struct sgc_client_hooks {
    /* Once, at start.  The first sees to it that service threads are started by the C library's own
     * function, whatever stands before it, and that those who keep something for threads of the
     * client are called for each (sgc_thread_hooks).  The second begins to listen to the
     * collector's events, and to look for leaks and for guards that were written to; the third
     * begins to write heap snapshots, if SGC_SNAPSHOT asks for them. */
    void (*start_threads)(void);
    void (*start_listening)(void);
    void (*start_snapshots)(void);

    /* Reserves memory for objects that the hook that pushes roots allocates, if it is the client's.
     * Before the pause, GC lock held; self may be NULL. */
    void (*before)(struct sgc_mutator *self);

    /* Lets the client push its roots of this collection.  World stopped, and nobody else uses the
     * heap: the hook may change what it likes. */
    void (*push_roots)(struct sgc_marker *marker);

    /* Lets the client mark more, when nothing is left to mark, until that is nothing new:
     * ephemerons.  World stopped, and the mark is going to be complete. */
    sgc_mark_more_fn mark_more;

    /* Is the hook that pushes roots running, and is it the caller?  It costs: sgc_called_by_hook
     * asks something cheaper first. */
    bool (*pushing)(void);

    /* Registers the finalizers that the hook has, and reports what the client did wrong.  After the
     * pause, GC lock held. */
    void (*after)(void);

    /* Asks the client about a toggle reference, which stays as it is if GC_set_toggleref_func has
     * set no function.  GC lock held. */
    sgc_toggle_fn toggle;

    /* Has there been an object with guards?  If so: the bytes before the client's part of an object
     * of so many bytes that begins there, those of its guards or 0.  World stopped. */
    bool (*guards_used)(void);
    size_t (*bytes_before_client)(uintptr_t start, size_t bytes);

    /* A check has found a contradiction, in that line.  Does not return while SGC_check runs the
     * check. */
    void (*violation)(const char *line);
};

extern const struct sgc_client_hooks sgc_client_hooks;

static inline bool sgc_called_by_hook(struct sgc_mutator *self)
{
    return __builtin_expect(sgc_section_of(self)->held != 0, 0) && sgc_client_hooks.pushing();
}

#endif
