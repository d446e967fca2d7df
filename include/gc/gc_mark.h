/* SPDX-License-Identifier: MIT */
/*
 * What sits close to marking: hooks that run inside a collection, objects by kind, the heap object by object.  Kinds,
 * mark procedures and descriptors of clients are not supported yet; using them is an error of compilation.
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

/* The same for memory of which only written parts matter, unless `all` is not zero.  SGC pushes everything. */
GC_API void GC_CALL GC_push_conditional(void *bottom, void *top, int all);

/* ---- objects by kind -------------------------------------------------------------------------- */

/* Allocates an object of a kind: 0 pointer-free, 1 with pointers, 2 the same and uncollectable, 3 pointer-free and
 * uncollectable.  As GC_malloc otherwise.  An unknown kind is reported and NULL returned. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_malloc(size_t size, int kind);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_malloc_ignore_off_page(size_t size, int kind);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_malloc_uncollectable(size_t size, int kind);

/* For an object like another one, with the kind that GC_get_kind_and_size tells. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_generic_or_special_malloc(size_t size, int kind);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_generic_or_special_malloc(size_t size, int kind,
                                                                                            GC_EXTRA_PARAMS);
#ifdef GC_DEBUG
#define GC_GENERIC_OR_SPECIAL_MALLOC(size, kind) GC_debug_generic_or_special_malloc(size, kind, GC_EXTRAS)
#else
#define GC_GENERIC_OR_SPECIAL_MALLOC(size, kind) GC_generic_or_special_malloc(size, kind)
#endif

/* The kind of an object, and its size as GC_size tells it unless `size` is NULL.  An address that is not the first one
 * of an object is reported and the result is -1. */
GC_API int GC_CALL GC_get_kind_and_size(const void *object, size_t *size) GC_ATTR_NONNULL(1);

/* ---- debugging objects ------------------------------------------------------------------------- */

/* What an object allocated for debugging has before the address that the client gets.  The variable is for old
 * programs. */
GC_API GC_ATTR_CONST size_t GC_CALL GC_get_debug_header_size(void);
#define GC_USR_PTR_FROM_BASE(base) ((void *)((char *)(base) + GC_get_debug_header_size()))
GC_API GC_ATTR_DEPRECATED
#ifdef GC_BUILD
const
#endif
size_t GC_debug_header_size;

/* Describes objects of a kind in messages: writes a text into `text`, of GC_TYPE_DESCR_LEN bytes.  NULL: none. */
#define GC_TYPE_DESCR_LEN 40
typedef void (GC_CALLBACK *GC_describe_type_fn)(void *object, char *text);
GC_API void GC_CALL GC_register_describe_type_fn(int kind, GC_describe_type_fn describe);

/* ---- the heap, object by object ---------------------------------------------------------------- */

/* Calls visit(object, bytes, data) for each object that the last collection found reachable and each one allocated
 * since, as they are when the call begins.  The caller holds the allocation lock, and so does visit, with the world
 * running: objects are not collected meanwhile, but other threads may free them. */
typedef void (GC_CALLBACK *GC_reachable_object_proc)(void *object, size_t bytes, void *data);
GC_API void GC_CALL GC_enumerate_reachable_objects_inner(GC_reachable_object_proc visit, void *data)
    GC_ATTR_NONNULL(1);

/* Mark bits.  In the hook of GC_set_push_other_roots, setting one keeps the object, but not what it points at, and the
 * question is whether it has been reached yet.  At other times an object is marked while it is allocated, and the
 * other two do nothing.  Clearing always does nothing. */
GC_API int GC_CALL GC_is_marked(const void *object) GC_ATTR_NONNULL(1);
GC_API void GC_CALL GC_set_mark_bit(const void *object) GC_ATTR_NONNULL(1);
GC_API void GC_CALL GC_clear_mark_bit(const void *object) GC_ATTR_NONNULL(1);

/* Overwrites some of the unused part of the stack, where old addresses may lie, and returns its argument. */
GC_API void *GC_CALL GC_clear_stack(void *result);

/* Whether the address is in a root that goes away with its module: SGC forgets such roots by itself, the answer is 0. */
GC_API int GC_CALL GC_is_tmp_root(void *address);

#ifdef __cplusplus
}
#endif

#endif
