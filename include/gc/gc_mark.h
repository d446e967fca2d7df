/* SPDX-License-Identifier: MIT */
/*
 * What sits close to marking: hooks that run inside a collection.  Kinds, mark procedures and descriptors of
 * clients are not supported yet; using them is an error of compilation.
 */
#ifndef GC_MARK_H
#define GC_MARK_H

#include "gc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called by the collecting thread when a collection starts, before the world is stopped, with the allocation
 * lock held.  NULL: none.  Setter and getter take the lock. */
typedef void (GC_CALLBACK *GC_start_callback_proc)(void);
GC_API void GC_CALL GC_set_start_callback(GC_start_callback_proc hook);
GC_API GC_start_callback_proc GC_CALL GC_get_start_callback(void);

/* Called with the world stopped, while roots are marked.  The client calls GC_push_all inside it for memory
 * that is a root in this collection.  NULL: none.  Call the hook that was set before, so that several clients
 * can share it. */
typedef void (GC_CALLBACK *GC_push_other_roots_proc)(void);
GC_API void GC_CALL GC_set_push_other_roots(GC_push_other_roots_proc hook);
GC_API GC_push_other_roots_proc GC_CALL GC_get_push_other_roots(void);

/* Marks from the words in [bottom, top).  The second takes every word for a possible interior pointer, as on
 * a stack; with interior pointers on they are the same.  Only inside that hook. */
GC_API void GC_CALL GC_push_all(void *bottom, void *top);
GC_API void GC_CALL GC_push_all_eager(void *bottom, void *top);

#ifdef __cplusplus
}
#endif

#endif
