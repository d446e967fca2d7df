/* SPDX-License-Identifier: MIT */
/*
 * Turns malloc and free into debugging allocation, so that leaks can be found: include this file in every source file
 * (gcc -include gc/leak_detector.h), call GC_set_find_leak(1) and GC_INIT() or set GC_FIND_LEAK=1 in the environment,
 * and CHECK_LEAKS() where leaks are to be looked for.  They are looked for when the program ends, too.
 */
#ifndef GC_LEAK_DETECTOR_H
#define GC_LEAK_DETECTOR_H

#ifndef GC_DEBUG
#define GC_DEBUG
#endif
#include "gc.h"

/* Before their functions are redirected. */
#ifndef GC_DONT_INCLUDE_STDLIB
#include <stdlib.h>
#include <string.h>
#endif

#undef malloc
#define malloc(size) GC_MALLOC(size)
#undef calloc
#define calloc(count, size) GC_MALLOC((count) * (size))
#undef realloc
#define realloc(object, size) GC_REALLOC(object, size)
#undef free
#define free(object) GC_FREE(object)
#undef strdup
#define strdup(string) GC_STRDUP(string)
#undef strndup
#define strndup(string, limit) GC_STRNDUP(string, limit)
#ifdef GC_REQUIRE_WCSDUP
#include <wchar.h>
#undef wcsdup
#define wcsdup(string) GC_WCSDUP(string)
#endif
#undef memalign
#define memalign(alignment, size) GC_memalign(alignment, size)
#undef posix_memalign
#define posix_memalign(result, alignment, size) GC_posix_memalign(result, alignment, size)

#ifndef CHECK_LEAKS
#define CHECK_LEAKS() GC_gcollect()
#endif

#endif
