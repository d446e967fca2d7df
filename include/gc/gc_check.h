/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: checks of pointer arithmetic, for programs and preprocessors that insert them, and dumps.
 *
 * A failed check calls a hook; the default one writes what is wrong with which addresses, and ends the process.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_CHECK_H
#define GC_CHECK_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checks ---------------------------------------------------------------------------------- */

/* Fails unless p and q are in the same object, or both outside the heap.  Returns p. */
GC_API void *GC_CALL GC_same_obj(void *p, void *q);

/* *p += bytes, checked by GC_same_obj.  GC_pre_incr returns the new value, GC_post_incr the old one. */
GC_API void *GC_CALL GC_pre_incr(void **p, ptrdiff_t bytes) GC_ATTR_NONNULL(1);
GC_API void *GC_CALL GC_post_incr(void **p, ptrdiff_t bytes) GC_ATTR_NONNULL(1);

/* Fails unless a pointer stored at p would be seen by the collector: p is in a root or in an object that is
 * scanned.  Returns p. */
GC_API void *GC_CALL GC_is_visible(void *p);

/* Fails if p points into the heap but not at an object, or at a displacement that does not count.  Returns
 * p. */
GC_API void *GC_CALL GC_is_valid_displacement(void *p);

/* The hooks: never NULL.  Set them before other threads check; setters and getters take no lock. */
typedef void (GC_CALLBACK *GC_same_obj_print_proc_t)(void *p, void *q);
typedef void (GC_CALLBACK *GC_valid_ptr_print_proc_t)(void *p);
GC_API void GC_CALL GC_set_same_obj_print_proc(GC_same_obj_print_proc_t hook) GC_ATTR_NONNULL(1);
GC_API GC_same_obj_print_proc_t GC_CALL GC_get_same_obj_print_proc(void);
GC_API void GC_CALL GC_set_is_visible_print_proc(GC_valid_ptr_print_proc_t hook) GC_ATTR_NONNULL(1);
GC_API GC_valid_ptr_print_proc_t GC_CALL GC_get_is_visible_print_proc(void);
GC_API void GC_CALL GC_set_is_valid_displacement_print_proc(GC_valid_ptr_print_proc_t hook) GC_ATTR_NONNULL(1);
GC_API GC_valid_ptr_print_proc_t GC_CALL GC_get_is_valid_displacement_print_proc(void);
GC_API GC_same_obj_print_proc_t GC_same_obj_print_proc;
GC_API GC_valid_ptr_print_proc_t GC_is_visible_print_proc;
GC_API GC_valid_ptr_print_proc_t GC_is_valid_displacement_print_proc;

/* Pointer arithmetic that is checked with GC_DEBUG, and plain without.  They may evaluate their first
 * argument more than once. */
#if defined(GC_DEBUG) && defined(__GNUC__)
#define GC_PTR_ADD3(p, n, type) ((type)GC_same_obj((p) + (n), (p)))
#define GC_PRE_INCR3(p, n, type) ((type)GC_pre_incr((void **)&(p), (ptrdiff_t)(n) * (ptrdiff_t)sizeof(*(p))))
#define GC_POST_INCR3(p, n, type) ((type)GC_post_incr((void **)&(p), (ptrdiff_t)(n) * (ptrdiff_t)sizeof(*(p))))
#define GC_PTR_ADD(p, n) GC_PTR_ADD3(p, n, __typeof__(p))
#define GC_PRE_INCR(p, n) GC_PRE_INCR3(p, n, __typeof__(p))
#define GC_POST_INCR(p) GC_POST_INCR3(p, 1, __typeof__(p))
#define GC_POST_DECR(p) GC_POST_INCR3(p, -1, __typeof__(p))
#else
#define GC_PTR_ADD(p, n) ((p) + (n))
#define GC_PRE_INCR(p, n) ((p) += (n))
#define GC_POST_INCR(p) ((p)++)
#define GC_POST_DECR(p) ((p)--)
#endif

/* *p = q for pointers, with GC_DEBUG both checked. */
#if defined(GC_DEBUG)
#define GC_PTR_STORE(p, q) (*(void **)GC_is_visible((void *)(p)) = GC_is_valid_displacement((void *)(q)))
#else
#define GC_PTR_STORE(p, q) (*(void **)(p) = (void *)(q))
#endif

/* ---- dumps ----------------------------------------------------------------------------------- */

/* Writes a description of the heap to the log: roots, pages by size class and kind, threads.  For people;
 * its format changes. */
GC_API void GC_CALL GC_dump(void);

/* GC_dump under a name, or under the number of the last collection if name is NULL, for a caller that holds
 * the allocation lock. [callback] */
GC_API void GC_CALL GC_dump_named(const char *name);

/* Writes only the pages to the log, region by region. */
GC_API void GC_CALL GC_dump_regions(void);

/* Calls visit(start, end, type, data) for each range of memory that the heap has of the system, WHOLE_SECT, and then for all
 * that it consists of, in the order of addresses: USED, a page of small objects or one large object; PADDING, what is left of
 * the pages of that one, and pages that a thread has in hand; FREE; UNMAPPED, free and without memory of the system's.  They
 * are as they were when the call began, and the world runs.  With the allocation lock held (GC_call_with_alloc_lock) no
 * collection changes them meanwhile; the function must not allocate then. */
typedef enum {
    GC_HEAP_SECTION_TYPE_FREE,
    GC_HEAP_SECTION_TYPE_PADDING,
    GC_HEAP_SECTION_TYPE_USED,
    GC_HEAP_SECTION_TYPE_UNMAPPED,
    GC_HEAP_SECTION_TYPE_FORWARDING,        /* SGC has no such thing */
    GC_HEAP_SECTION_TYPE_WHOLE_SECT
} GC_heap_section_type;
typedef void (GC_CALLBACK *GC_heap_section_proc)(void *start, void *end, GC_heap_section_type type, void *data);
GC_API void GC_CALL GC_foreach_heap_section_inner(GC_heap_section_proc visit, void *data) GC_ATTR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
