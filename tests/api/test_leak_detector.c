/* SPDX-License-Identifier: MIT */
/*
 * leak_detector.h, included before everything else as by `gcc -include`: each function of the C library's that it redirects
 * gives and takes objects of the collector's, and those that leak are found.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#define GC_OOM_FUNC_RETURNS_ALIAS
#include <gc/leak_detector.h>

#include <malloc.h>
#include <stdlib.h>

#include "api.h"
#include "../lib/capture.h"

/* The compiler must not know that a size wraps. */
static volatile size_t huge = SIZE_MAX / 2 + 1;

/* An object of so many bytes, or of more if it has no guards. */
static bool is_object(void *object, size_t bytes, size_t alignment)
{
    bool good = object != NULL && GC_base(object) != NULL && malloc_usable_size(object) >= bytes &&
                (uintptr_t)object % alignment == 0;

    if (good)
        memset(object, 0xab, bytes);
    return good;
}

static void check_objects(void)
{
    unsigned char *object = calloc(30, 10);

    tap_ok(object[0] == 0 && object[299] == 0 && is_object(object, 300, 16), "calloc");
    tap_ok(malloc_usable_size(object) == 300 && malloc_usable_size(NULL) == 0, "malloc_usable_size is what was asked for");
    object = reallocarray(object, 10, 100);
    tap_ok(object[299] == 0xab && is_object(object, 1000, 16), "reallocarray");
    tap_ok(reallocarray(object, huge, 2) == NULL && reallocarray(object, 2, huge) == NULL && object[999] == 0xab &&
           calloc(huge, 2) == NULL && calloc(4, huge) == NULL, "a size that wraps is refused");
    tap_ok(malloc_usable_size(calloc(0, 8)) == 0 && malloc_usable_size(calloc(8, 0)) == 0, "a size of 0 is none");
    object = realloc(object, 20);
    tap_ok(object[19] == 0xab && malloc_usable_size(object) == 20, "realloc");
    tap_ok(strcmp(strdup("twenty"), "twenty") == 0 && strcmp(strndup("twenty", 4), "twen") == 0, "strdup, strndup");
}

static bool is_gone(void *object) { return GC_base(object) == NULL; }

static void check_frees(void)
{
    void *object[3] = { malloc(API_LARGE), malloc(API_LARGE), malloc(API_LARGE) };

    free(object[0]);
    free_sized(object[1], API_LARGE);
    cfree(object[2]);
    tap_ok(is_gone(object[0]) && is_gone(object[1]) && is_gone(object[2]), "free, free_sized and cfree free");
}

static void check_aligned(void)
{
    const char *said;
    void *object = NULL;

    tap_ok(is_object(memalign(512, 100), 100, 512) && is_object(valloc(100), 100, 4096) &&
           is_object(pvalloc(100), 4096, 4096), "memalign, valloc and pvalloc");
    object = _aligned_malloc(API_LARGE, 64);
    tap_ok(is_object(object, API_LARGE, 64), "_aligned_malloc");
    _aligned_free(object);
    tap_ok(is_gone(object), "_aligned_free");
    tap_ok(posix_memalign(&object, 128, 100) == 0 && is_object(object, 100, 128), "posix_memalign");
    object = aligned_alloc(64, API_LARGE);
    tap_ok(is_object(object, API_LARGE, 64), "aligned_alloc");
    said = capture_said(free_aligned_sized(object, 64, API_LARGE));
    tap_ok(is_gone(object) && said[0] == '\0', "free_aligned_sized frees it silently");
    object = aligned_alloc(64, API_LARGE);
    said = capture_said(free(object));
    tap_ok(is_gone(object) && strstr(said, "without guards") != NULL, "free, too, and says that it has no guards");
}

#if defined(GC_REALLOCF)
static void check_bsd(void)
{
    unsigned char *object = malloc(API_LARGE), *other = malloc(API_LARGE);

    memset(object, 0xab, API_LARGE);
    object = reallocf(object, 2 * API_LARGE);
    tap_ok(object[API_LARGE - 1] == 0xab && malloc_usable_size(object) == 2 * API_LARGE, "reallocf");
    tap_ok(reallocf(object, huge) == NULL && is_gone(object), "reallocf frees what it cannot resize");
    object = malloc(API_LARGE);
    freezero(object, API_LARGE);
    freezeroall(other);
    tap_ok(is_gone(object) && is_gone(other), "freezero and freezeroall free");
}
#else
static void check_bsd(void) { tap_skip( "reallocf, freezero: this gc.h has no functions for them"); }
#endif

/* ---- leaks ---- */

static int line;        /* where the first of them was allocated */

static void leak(void)
{
    void *volatile object = malloc(10);

    line = __LINE__, object = reallocarray(object, 100, 100);
    object = aligned_alloc(64, 2 * API_LARGE);
    object = malloc(77);
    free_sized(object, 77);
}

static void find_leaks(void)
{
    const char *said;
    char place[100];

    GC_set_find_leak(1);
    GC_INIT();
    api_run(leak);
    snprintf(place, sizeof(place), "test_leak_detector.c:%d\n", line);
    capture_begin();
    scrub_stack();
    CHECK_LEAKS();
    said = capture_end();
    API_CHILD(strstr(said, "10000 bytes") != NULL && strstr(said, place) != NULL);
    API_CHILD(capture_count(said, "leaked") == 2);
    GC_set_find_leak(0);
}

int main(void)
{
    api_check_child(find_leaks, NULL, "leaks are found, with their place, and nothing else");
    GC_INIT();
    return tap_all(check_objects, check_frees, check_aligned, check_bsd);
}
