/* SPDX-License-Identifier: MIT */
/*
 * Objects whose first word points at a description of their type, for compilers such as gcj.  The second word of the
 * description, at byte 8, is a descriptor as in gc_mark.h; GC_init_gcj_malloc_mp, which is there, allows another place.
 */
#ifndef GC_GCJ_H
#define GC_GCJ_H

#include "gc.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GC_GCJ_MARK_DESCR_OFFSET
#define GC_GCJ_MARK_DESCR_OFFSET GC_SIZEOF_PTR
#endif

/* Once, before the first such object is allocated; further calls do nothing.  `proc`, a GC_mark_proc (gc_mark.h) or NULL, gets
 * the number `proc_number`, for use in descriptors: one below GC_RESERVED_MARK_PROCS, or one that GC_new_proc has returned.
 * It also marks objects allocated for debugging, always with the environment 1, and then gets the address of the object's
 * debugging header: GC_USR_PTR_FROM_BASE tells what the program has.  With NULL all words of these count as pointers. */
GC_API void GC_CALL GC_init_gcj_malloc(int proc_number, void *proc);

/* A zeroed object of at least that size, with `type` in its first word. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_gcj_malloc(size_t size, GC_SGC_GCJ_TYPE_ *type);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_gcj_malloc(size_t size, GC_SGC_GCJ_TYPE_ *type,
                                                                             GC_EXTRA_PARAMS);

/* The same for a large object of which the program keeps a pointer near the beginning. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_gcj_malloc_ignore_off_page(size_t size, GC_SGC_GCJ_TYPE_ *type);

/* The kinds of these objects, 0 before GC_init_gcj_malloc.  Do not assign to them. */
GC_API int GC_gcj_kind;
GC_API int GC_gcj_debug_kind;

#ifdef GC_DEBUG
#define GC_GCJ_MALLOC(size, type) GC_debug_gcj_malloc(size, type, GC_EXTRAS)
#define GC_GCJ_MALLOC_IGNORE_OFF_PAGE(size, type) GC_debug_gcj_malloc(size, type, GC_EXTRAS)
#else
#define GC_GCJ_MALLOC(size, type) GC_gcj_malloc(size, type)
#define GC_GCJ_MALLOC_IGNORE_OFF_PAGE(size, type) GC_gcj_malloc_ignore_off_page(size, type)
#endif

#ifdef __cplusplus
}
#endif

#endif
