/* SPDX-License-Identifier: MIT */
/*
 * Turns malloc and free into debugging allocation, so that leaks can be found: include this file in every source file
 * (gcc -include gc/leak_detector.h), call GC_set_find_leak(1) and GC_INIT() or set GC_FIND_LEAK=1 in the environment,
 * and CHECK_LEAKS() where leaks are to be looked for.  They are looked for when the program ends, too.
 *
 * What is allocated with an alignment (aligned_alloc, memalign, posix_memalign, valloc, pvalloc) has neither guards nor a
 * position.  It is found when it leaks; free says so and frees it, free_aligned_sized frees it silently.
 *
 * In C++ it is for code that writes malloc and free by these names: std::malloc does not compile, nor does a member that is
 * called so, and a pointer to the function free means the C library's.  What `new` allocates is not looked at.
 *
 * A client may define, before it includes this file:
 *   GC_DONT_INCLUDE_STDLIB   include nothing of the C library here; then its headers come before this one
 *   GC_REQUIRE_WCSDUP        redirect wcsdup, too
 *   GC_NO_VALLOC             leave valloc and pvalloc alone
 */
#ifndef GC_LEAK_DETECTOR_H
#define GC_LEAK_DETECTOR_H

#ifndef GC_DEBUG
#define GC_DEBUG
#endif
#include "gc.h"

/* Before their functions are redirected. */
#ifndef GC_DONT_INCLUDE_STDLIB
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#endif

/* Bytes of an array; if there is no such number, more than there is memory for. */
static __inline__ size_t GC_sgc_array_bytes_(size_t count, size_t size)
{
    return count == 0 || size <= (size_t)-1 / count ? count * size : (size_t)-1;
}

static __inline__ size_t GC_sgc_usable_(const void *object)
{
    return object != NULL ? GC_size(object) : 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

#undef malloc
#define malloc(size) GC_MALLOC(size)
#undef calloc
#define calloc(count, size) GC_MALLOC(GC_sgc_array_bytes_(count, size))
#undef realloc
#define realloc(object, size) GC_REALLOC(object, size)
#undef reallocarray
#define reallocarray(object, count, size) GC_REALLOC(object, GC_sgc_array_bytes_(count, size))
#undef reallocf
#define reallocf(object, size) GC_REALLOCF(object, size)
#undef free
#define free(object) GC_FREE(object)
#undef free_sized
#define free_sized(object, size) ((void)(size), GC_FREE(object))
#undef cfree
#define cfree(object) GC_FREE(object)
#undef freezero
#define freezero(object, size) GC_FREEZERO(object, size)
#undef freezeroall
#define freezeroall(object) GC_FREEZEROALL(object)
#undef malloc_usable_size
#define malloc_usable_size(object) GC_sgc_usable_(object)

/* ---- with an alignment ----------------------------------------------------------------------- */

#undef aligned_alloc
#define aligned_alloc(alignment, size) GC_memalign(alignment, size)
#undef memalign
#define memalign(alignment, size) GC_memalign(alignment, size)
#undef posix_memalign
#define posix_memalign(result, alignment, size) GC_posix_memalign(result, alignment, size)
#undef _aligned_malloc          /* of other systems, the size first */
#define _aligned_malloc(size, alignment) GC_memalign(alignment, size)
#undef _aligned_free
#define _aligned_free(object) GC_free(object)
#undef free_aligned_sized
#define free_aligned_sized(object, alignment, size) ((void)(alignment), (void)(size), GC_free(object))
#ifndef GC_NO_VALLOC
#undef valloc
#define valloc(size) GC_valloc(size)
#undef pvalloc
#define pvalloc(size) GC_pvalloc(size)
#endif

/* ---- strings --------------------------------------------------------------------------------- */

#undef strdup
#define strdup(string) GC_STRDUP(string)
#undef strndup
#define strndup(string, limit) GC_STRNDUP(string, limit)
#ifdef GC_REQUIRE_WCSDUP
#include <wchar.h>
#undef wcsdup
#define wcsdup(string) GC_WCSDUP(string)
#endif

#ifndef CHECK_LEAKS
#define CHECK_LEAKS() GC_gcollect()
#endif

#endif
