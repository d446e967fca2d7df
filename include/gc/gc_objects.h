/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: objects.  Allocate, resize and free them; ask what an address belongs to.
 *
 * What all allocation functions have in common:
 *   - Sizes are bytes.  The object is aligned to 16 bytes and at least as large as asked for; with interior
 *     pointers on (the default) a collectable one is a byte larger, so that a pointer just past it still points
 *     inside.  Size 0 gives an object of its own, of the smallest size.
 *   - A new object is zeroed, unless its name says atomic (pointer-free): that one's contents are undefined.
 *   - They may start a collection.
 *   - When the memory cannot be had, and for sizes beyond PTRDIFF_MAX, they return what the out-of-memory hook
 *     returns (GC_set_oom_fn): NULL unless the client says otherwise.  The heap stays usable.
 *   - A calling thread that is not registered is registered then, with a warning; see gc_threads.h.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_OBJECTS_H
#define GC_OBJECTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- allocate -------------------------------------------------------------------------------- */

/* An object whose words may be pointers. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc(size_t size);

/* A pointer-free object: its contents keep nothing alive, and nobody scans it. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_atomic(size_t size);

/* An object that lives until GC_free, whether or not anything points at it.  Its words may be pointers and are
 * roots.  Its bytes count as GC_get_non_gc_bytes(). */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_uncollectable(size_t size);

/* A pointer-free object that lives until GC_free: malloc() from the collector's heap.  Its bytes count as
 * GC_get_non_gc_bytes(), too. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_atomic_uncollectable(size_t size);

/* Large objects of which the client promises to hold, while they are in use, a pointer into the first 256
 * bytes.  Fewer accidental words then keep them alive.  The promise is used for objects of more than one
 * page. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_ignore_off_page(size_t size);
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_malloc_atomic_ignore_off_page(size_t size);

/* At least one object like GC_malloc's, and as many as are cheap, linked through their first words:
 * GC_NEXT(p) is the next, NULL ends the list.  All other words are zero.  The whole list is the client's;
 * the objects live as long as the list is reachable.  NULL, without asking the out-of-memory hook, when not
 * even one can be had. */
GC_API GC_ATTR_MALLOC void *GC_CALL GC_malloc_many(size_t size);
#define GC_NEXT(p) (*(void **)(p))

/* Copies of strings, pointer-free.  The second copies at most `limit` bytes and adds the final zero.  NULL
 * with errno ENOMEM when the memory cannot be had.  GC_strdup(NULL) is NULL. */
GC_API GC_ATTR_MALLOC char *GC_CALL GC_strdup(const char *string);
GC_API GC_ATTR_MALLOC char *GC_CALL GC_strndup(const char *string, size_t limit) GC_ATTR_NONNULL(1);

#if defined(GC_REQUIRE_WCSDUP)      /* because it needs wchar_t, declared on request */
#include <wchar.h>
/* As GC_strdup, of wide characters; the string may not be NULL. */
GC_API GC_ATTR_MALLOC wchar_t *GC_CALL GC_wcsdup(const wchar_t *string) GC_ATTR_NONNULL(1);
#endif

/* An object like GC_malloc's whose address is a multiple of `alignment`, a power of two; 0 stands for the
 * usual 16. The address is the object's first, so GC_free, GC_realloc and GC_size take it.  An alignment
 * that is no power of two is reported and NULL returned; one larger than the heap can serve is a case for
 * the out-of-memory hook. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(2) void *GC_CALL GC_memalign(size_t alignment, size_t size);

/* SGC's own: such an object of any kind: 0 (pointer-free), 1 (as GC_memalign's), 2 (as that, uncollectable),
 * 3 (pointer-free, uncollectable), or what GC_new_kind returned.  Alignment 0 is reported, too. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(2) void *GC_CALL SGC_memalign(size_t alignment, size_t size, int kind);

/* GC_memalign with POSIX's rules: stores the object in *result and returns 0, or leaves *result alone and
 * returns EINVAL (the alignment is no power of two or smaller than a pointer) or ENOMEM. */
GC_API int GC_CALL GC_posix_memalign(void **result, size_t alignment, size_t size) GC_ATTR_NONNULL(1);

/* Aligned to an OS page; the second also rounds the size up to whole OS pages. */
GC_API GC_ATTR_MALLOC GC_ATTR_ALLOC_SIZE(1) void *GC_CALL GC_valloc(size_t size);
GC_API GC_ATTR_MALLOC void *GC_CALL GC_pvalloc(size_t size);

/* ---- resize and free ------------------------------------------------------------------------- */

/*
 * Makes an object larger or smaller; its kind stays.  Contents are kept up to the smaller size; what is added
 * is zero unless the object is pointer-free.  The result may be the same object or a new one; then the old one
 * has been freed.  NULL as object: GC_malloc(size).  Size 0: GC_free(object), and NULL is returned.  When the
 * memory cannot be had, NULL (or what the hook returns), and the object is as before.  An address that is not
 * the first one of an allocated object is reported; NULL is returned, nothing changes.
 */
GC_API void *GC_CALL GC_realloc(void *object, size_t size) GC_ATTR_ALLOC_SIZE(2);

/* As GC_realloc, but the object is freed when NULL is returned because the memory cannot be had. */
GC_API void *GC_CALL GC_reallocf(void *object, size_t size) GC_ATTR_ALLOC_SIZE(2);

/*
 * Frees an object before the collector would; any thread may free any object.  NULL: nothing happens.  An
 * interior or foreign address, one on a stack, and an object that is free already are reported with the
 * address, and nothing happens.
 */
GC_API void GC_CALL GC_free(void *object);

/* Clears the object's first `bytes`, or all of it if that is less, and frees it as GC_free does: for secrets.  An object that
 * short-term memory keeps is cleared, too. */
GC_API void GC_CALL GC_freezero(void *object, size_t bytes);

/* ---- what an address belongs to -------------------------------------------------------------- */

/* The first address of the allocated object that `address` points at or into; NULL if there is none.
 * [callback] */
GC_API void *GC_CALL GC_base(void *address);

/* GC_base of a pointer to const. */
#if defined(__cplusplus)
#define GC_CAST_AWAY_CONST_PVOID(p) reinterpret_cast<void *>(reinterpret_cast<GC_uintptr_t>(p))
#else
#define GC_CAST_AWAY_CONST_PVOID(p) ((void *)(GC_uintptr_t)(p))
#endif
#define GC_base_C(address) ((const void *)GC_base(GC_CAST_AWAY_CONST_PVOID(address)))

/* Nonzero if the address is in the heap, allocated or not: faster than GC_base.  [unregistered, callback,
 * signal] */
GC_API int GC_CALL GC_is_heap_ptr(const void *address);

/* The bytes of the object that the client may use, at least what was asked for; the end byte counts.  For the address that an
 * allocation for debugging returned (gc_debug.h) they are what was asked for.  Any other address that is not the first
 * one of an allocated object is reported and the result is 0.  [callback] */
GC_API size_t GC_CALL GC_size(const void *object) GC_ATTR_NONNULL(1);

/* The bytes of an object for which `request` bytes are asked; SIZE_MAX if that is negative or more than the
 * largest size that shares a page with others.  [unregistered, callback] */
GC_API size_t GC_CALL GC_get_size_map_at(int request);

/* ---- which words count as pointers ----------------------------------------------------------- */

/*
 * Nonzero (the default): every address inside an object keeps it alive, found on a stack or in the heap.  Zero:
 * words in the heap and in static data count only if they point at an object's start plus a registered
 * displacement.  1 or 0. [before init]
 */
GC_API void GC_CALL GC_set_all_interior_pointers(int on);
GC_API int GC_CALL GC_get_all_interior_pointers(void);
GC_API GC_ATTR_DEPRECATED int GC_all_interior_pointers;

/* With interior pointers off, start + n counts as a pointer to the object: for tagged pointers.  Register
 * displacements before objects are pointed at this way; an n beyond the largest small object is reported. */
GC_API void GC_CALL GC_register_displacement(size_t n);

/* A pointer that the collector must not see, and back.  Revealing one whose object may have been collected
 * needs the allocation lock. */
typedef GC_word GC_hidden_pointer;
#define GC_HIDE_POINTER(p) (~(GC_hidden_pointer)(p))
#define GC_REVEAL_POINTER(p) ((void *)GC_HIDE_POINTER(p))

/* These hide all pointers but NULL, which is 0, as the collector leaves a disappearing link. */
#define GC_HIDE_NZ_POINTER(p) ((GC_hidden_pointer)(-(GC_signed_word)(p)))
#define GC_REVEAL_NZ_POINTER(p) ((void *)GC_HIDE_NZ_POINTER(p))
#if defined(I_HIDE_POINTERS) || defined(GC_I_HIDE_POINTERS)
#define HIDE_POINTER(p) GC_HIDE_POINTER(p)
#define REVEAL_POINTER(p) GC_REVEAL_POINTER(p)
#endif

/* Keeps the object alive up to here, whatever the optimiser makes of the last use of the pointer. */
#if defined(__GNUC__)
#define GC_reachable_here(p) __asm__ __volatile__("" : : "X"(p) : "memory")
#else
#define GC_reachable_here(p) GC_noop1_ptr(GC_CAST_AWAY_CONST_PVOID(p))
#endif
/* They do nothing, which the compiler cannot know.  [unregistered, callback, signal] */
GC_API void GC_CALL GC_noop1(GC_word word);
GC_API void GC_CALL GC_noop1_ptr(volatile void *p);

/* ---- writes that the collector is told of ---------------------------------------------------- */

/* These matter to a program that has chosen to report its writes itself (GC_set_manual_vdb_allowed, or SGC_DIRTY=software);
 * otherwise, and for addresses outside the heap, they do nothing.  Such a program reports each store of a pointer into an
 * object, the first into a new one included, after it; NULL need not be reported.  What was stored has to be reachable from a
 * variable until then: GC_reachable_here() after the report. */

/* Pointers were stored in the object, of which this is an address.  Of an object of more than 20 KB all pages are noted, so
 * for one word of an array use the next function.  [unregistered, callback, signal] */
GC_API void GC_CALL GC_end_stubborn_change(const void *object) GC_ATTR_NONNULL(1);

/* Stores a pointer, reports that, and keeps the value reachable until then.  [unregistered, callback, signal] */
GC_API void GC_CALL GC_ptr_store_and_dirty(void *address, const void *value);

/* Objects that seldom change were once a kind of their own.  They are like others now: GC_malloc_stubborn is GC_malloc, and
 * GC_change_stubborn does nothing. */
GC_API GC_ATTR_DEPRECATED void *GC_CALL GC_malloc_stubborn(size_t size);
GC_API GC_ATTR_DEPRECATED void GC_CALL GC_change_stubborn(const void *object);

/* ---- macros: the names to write -------------------------------------------------------------- */

/* With GC_DEBUG defined these add positions and guards (gc_debug.h); with GC_DEBUG_REPLACEMENT some of them use the
 * functions that know no position. */
#if defined(GC_DEBUG_REPLACEMENT)
#define GC_MALLOC(size) GC_debug_malloc_replacement(size)
#define GC_REALLOC(object, size) GC_debug_realloc_replacement(object, size)
#define GC_REALLOCF(object, size) GC_debug_reallocf_replacement(object, size)
#elif defined(GC_DEBUG)
#define GC_MALLOC(size) GC_debug_malloc(size, GC_EXTRAS)
#define GC_REALLOC(object, size) GC_debug_realloc(object, size, GC_EXTRAS)
#define GC_REALLOCF(object, size) GC_debug_reallocf(object, size, GC_EXTRAS)
#else
#define GC_MALLOC(size) GC_malloc(size)
#define GC_REALLOC(object, size) GC_realloc(object, size)
#define GC_REALLOCF(object, size) GC_reallocf(object, size)
#endif

/* In bdwgc 8.3 uncollectable objects are among these. */
#if defined(GC_DEBUG_REPLACEMENT) && SGC_BDWGC == 803
#define GC_MALLOC_UNCOLLECTABLE(size) GC_debug_malloc_uncollectable_replacement(size)
#elif defined(GC_DEBUG)
#define GC_MALLOC_UNCOLLECTABLE(size) GC_debug_malloc_uncollectable(size, GC_EXTRAS)
#else
#define GC_MALLOC_UNCOLLECTABLE(size) GC_malloc_uncollectable(size)
#endif

#if defined(GC_DEBUG)
#define GC_MALLOC_ATOMIC(size) GC_debug_malloc_atomic(size, GC_EXTRAS)
#define GC_MALLOC_ATOMIC_UNCOLLECTABLE(size) GC_debug_malloc_atomic_uncollectable(size, GC_EXTRAS)
#define GC_MALLOC_IGNORE_OFF_PAGE(size) GC_debug_malloc_ignore_off_page(size, GC_EXTRAS)
#define GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(size) GC_debug_malloc_atomic_ignore_off_page(size, GC_EXTRAS)
#define GC_STRDUP(string) GC_debug_strdup(string, GC_EXTRAS)
#define GC_STRNDUP(string, limit) GC_debug_strndup(string, limit, GC_EXTRAS)
#if defined(GC_REQUIRE_WCSDUP)
#define GC_WCSDUP(string) GC_debug_wcsdup(string, GC_EXTRAS)
#endif
#define GC_FREE(object) GC_debug_free(object)
#define GC_FREEZERO(object, bytes) GC_debug_freezero(object, bytes)
#define GC_END_STUBBORN_CHANGE(object) GC_debug_end_stubborn_change(object)
#define GC_PTR_STORE_AND_DIRTY(address, value) GC_debug_ptr_store_and_dirty(address, value)
#define GC_REGISTER_DISPLACEMENT(n) GC_debug_register_displacement(n)
#else
#define GC_MALLOC_ATOMIC(size) GC_malloc_atomic(size)
#define GC_MALLOC_ATOMIC_UNCOLLECTABLE(size) GC_malloc_atomic_uncollectable(size)
#define GC_MALLOC_IGNORE_OFF_PAGE(size) GC_malloc_ignore_off_page(size)
#define GC_MALLOC_ATOMIC_IGNORE_OFF_PAGE(size) GC_malloc_atomic_ignore_off_page(size)
#define GC_STRDUP(string) GC_strdup(string)
#define GC_STRNDUP(string, limit) GC_strndup(string, limit)
#if defined(GC_REQUIRE_WCSDUP)
#define GC_WCSDUP(string) GC_wcsdup(string)
#endif
#define GC_FREE(object) GC_free(object)
#define GC_FREEZERO(object, bytes) GC_freezero(object, bytes)
#define GC_END_STUBBORN_CHANGE(object) GC_end_stubborn_change(object)
#define GC_PTR_STORE_AND_DIRTY(address, value) GC_ptr_store_and_dirty(address, value)
#define GC_REGISTER_DISPLACEMENT(n) GC_register_displacement(n)
#endif
#define GC_FREEZEROALL(object) GC_FREEZERO(object, ~(size_t)0)
#define GC_MALLOC_STUBBORN(size) GC_MALLOC(size)
#define GC_CHANGE_STUBBORN(object) GC_change_stubborn(object)

/* An object of the type, by GC_MALLOC or its relative of that name; the result is a pointer to the type. */
#define GC_NEW(type) ((type *)GC_MALLOC(sizeof(type)))
#define GC_NEW_ATOMIC(type) ((type *)GC_MALLOC_ATOMIC(sizeof(type)))
#define GC_NEW_UNCOLLECTABLE(type) ((type *)GC_MALLOC_UNCOLLECTABLE(sizeof(type)))
#define GC_NEW_STUBBORN(type) GC_NEW(type)

/* Arrays; their size in bytes must not exceed what a size_t holds. */
#define GC_NEW_ARRAY(type, count) ((type *)GC_MALLOC(sizeof(type) * (count)))
#define GC_NEW_ATOMIC_ARRAY(type, count) ((type *)GC_MALLOC_ATOMIC(sizeof(type) * (count)))
#define GC_NEW_UNCOLLECTABLE_ARRAY(type, count) ((type *)GC_MALLOC_UNCOLLECTABLE(sizeof(type) * (count)))

#ifdef __cplusplus
}
#endif

#endif
