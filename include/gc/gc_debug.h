/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: allocation for debugging, and leaks.
 *
 * An object that is allocated here knows where in the program that was (file and line), and has guards before and
 * behind it.  They are looked at when it is freed or resized and at each collection; a changed one is reported with the
 * object's place of origin.  Programs do not call these functions by name: with GC_DEBUG defined before gc.h is
 * included, the macros of gc_objects.h do.
 *
 * GC_base of such an object is the address of its first guard, GC_get_debug_header_size() before the address that the
 * client has (gc_mark.h), and GC_size of that counts the guards; GC_size of the address that the client has is the size it
 * asked for.  Objects with and without guards can be mixed; each is to be freed by the function that goes with it.  The
 * other way round it is freed, too, but GC_debug_free says so.
 *
 * A position is two arguments, a file's name, which is kept as it is and not copied, and a line.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_DEBUG_H
#define GC_DEBUG_H

#ifdef __cplusplus
extern "C" {
#endif

#define GC_EXTRAS __FILE__, __LINE__
#define GC_EXTRA_PARAMS const char *file, int line

/* ---- allocate, resize, free -------------------------------------------------------------------- */

/* As the functions of these names without `debug`; the objects have guards, and the position. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_malloc(size_t size, GC_EXTRA_PARAMS);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_malloc_atomic(size_t size, GC_EXTRA_PARAMS);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_malloc_uncollectable(size_t size, GC_EXTRA_PARAMS);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL
GC_debug_malloc_atomic_uncollectable(size_t size, GC_EXTRA_PARAMS);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL
GC_debug_malloc_ignore_off_page(size_t size, GC_EXTRA_PARAMS);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL
GC_debug_malloc_atomic_ignore_off_page(size_t size, GC_EXTRA_PARAMS);
GC_API GC_ATTR_DEPRECATED void *GC_CALL GC_debug_malloc_stubborn(size_t size, GC_EXTRA_PARAMS);
GC_API GC_ATTR_MALLOC char *GC_CALL GC_debug_strdup(const char *string, GC_EXTRA_PARAMS);
GC_API GC_ATTR_MALLOC char *GC_CALL GC_debug_strndup(const char *string, size_t limit, GC_EXTRA_PARAMS)
    GC_ATTR_NONNULL(1);
#if defined(GC_REQUIRE_WCSDUP)
GC_API GC_ATTR_MALLOC wchar_t *GC_CALL GC_debug_wcsdup(const wchar_t *string, GC_EXTRA_PARAMS) GC_ATTR_NONNULL(1);
#endif

/* As GC_realloc, for both sorts of objects; the result always has guards, and the new position. */
GC_API void *GC_CALL GC_debug_realloc(void *object, size_t size, GC_EXTRA_PARAMS) GC_ATTR_ALLOC_SIZE(2);
GC_API void *GC_CALL GC_debug_reallocf(void *object, size_t size, GC_EXTRA_PARAMS) GC_ATTR_ALLOC_SIZE(2);

/* As GC_free and GC_freezero. */
GC_API void GC_CALL GC_debug_free(void *object);
GC_API void GC_CALL GC_debug_freezero(void *object, size_t bytes);

/* GC_debug_malloc and its relatives without a position: to stand in for malloc and realloc. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_malloc_replacement(size_t size);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_debug_malloc_uncollectable_replacement(size_t size);
GC_API GC_ATTR_ALLOC_SIZE(2) void *GC_CALL GC_debug_realloc_replacement(void *object, size_t size);
GC_API GC_ATTR_ALLOC_SIZE(2) void *GC_CALL GC_debug_reallocf_replacement(void *object, size_t size);

/* ---- the others -------------------------------------------------------------------------------- */

/* GC_register_displacement for objects of both sorts. */
GC_API void GC_CALL GC_debug_register_displacement(size_t n);

/* GC_ptr_store_and_dirty with the checks of GC_PTR_STORE; the other two say what is wrong with an address that is no
 * object. */
GC_API void GC_CALL GC_debug_ptr_store_and_dirty(void *address, const void *value);
GC_API void GC_CALL GC_debug_end_stubborn_change(const void *object) GC_ATTR_NONNULL(1);
GC_API GC_ATTR_DEPRECATED void GC_CALL GC_debug_change_stubborn(const void *object);

/* ---- leaks ------------------------------------------------------------------------------------- */

/* Nonzero: the program frees its objects itself, and a collection, and the end of the program, report those that it can
 * no longer reach and has not freed: with their position if they were allocated for debugging.  Then they are
 * reclaimed.  Set it before GC_INIT(), or GC_FIND_LEAK=1 in the environment; 0 by default.  See also leak_detector.h. */
GC_API void GC_CALL GC_set_find_leak(int on);
GC_API int GC_CALL GC_get_find_leak(void);
GC_API GC_ATTR_DEPRECATED int GC_find_leak;

#ifdef __cplusplus
}
#endif

#endif
