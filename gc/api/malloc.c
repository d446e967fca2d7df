/* SPDX-License-Identifier: MIT */
/*
 * Allocating objects.  On any mutator; the common path is inline and takes no lock
 * (gc/collect/allocate.h).
 */
#include "gc/api/api.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>

#include "alloc/large/span.h"
#include "gc/api/objects.h"
#include "gc/collect/allocate.h"
#include "gc/config/public_vars.h"

#define ALLOCATE(name, allocate, kind) \
    void *name(size_t size) { return allocate(size, kind); }

ALLOCATE(GC_malloc, sgc_allocate, SGC_KIND_CONSERVATIVE)
ALLOCATE(GC_malloc_atomic, sgc_allocate, SGC_KIND_POINTER_FREE)
ALLOCATE(GC_malloc_stubborn, sgc_allocate, SGC_KIND_CONSERVATIVE)

/* The bytes that a new object counts for: its slot's, or its span's. */
static size_t bytes_of_new(const void *object, size_t size)
{
    size_t granules = sgc_request_granules(size);

    sgc_assert(sgc_heap_contains((uintptr_t)object));
    return granules != 0 ? sgc_class_bytes(sgc_class_for(granules)) : sgc_span_bytes(sgc_page_number((uintptr_t)object));
}

void *sgc_api_allocate_or_null(size_t size, uint32_t kind)
{
    void *object = sgc_api_is_typed(kind) ? sgc_api_typed_everything(size) : sgc_allocate_or_null(size, kind);

    sgc_assert(kind < sgc_kind_count());
    if (object != NULL && sgc_kind_uncollectable(kind))
        sgc_api_count_uncollectable((intptr_t)bytes_of_new(object, size));
    return object;
}

__attribute__((noinline))
static void *uncollectable_slowly(size_t size, uint32_t kind)
{
    void *object = sgc_api_allocate_or_null(size, kind);

    sgc_assert(sgc_kind_uncollectable(kind));
    return object != NULL ? object : sgc_out_of_memory(size);
}

/* Jumped to. */
__attribute__((noinline))
static void *uncollectable_missed(size_t size, uint32_t kind, struct sgc_cache *cache)
{
    sgc_assert(size <= SGC_FAST_MAX);
    sgc_brief_end(&cache->section);
    return uncollectable_slowly(size, kind);
}

/* The common path of sgc_allocate, which counts the object as well. */
__attribute__((always_inline))
static inline void *uncollectable(size_t size, uint32_t kind)
{
    struct sgc_cache *cache = sgc_fast_cache;
    struct sgc_bin *bin;
    void *object;

    if (__builtin_expect(size > SGC_FAST_MAX, 0))
        return uncollectable_slowly(size, kind);
    bin = sgc_fast_bin(cache, size, kind);
    sgc_brief_enter(&cache->section);
    if (__builtin_expect(!sgc_bin_has_freed(bin) && !sgc_bin_has_run(bin), 0))
        return uncollectable_missed(size, kind, cache);
    sgc_aw_add_relaxed(&sgc_client_non_gc_bytes, bin->size);
    if (!sgc_bin_has_freed(bin)) {
        object = sgc_bin_bump(bin);
    } else {
        object = sgc_bin_pop(bin);
        if (sgc_kind_cleared(kind))
            return sgc_bin_finish_zeroed(cache, object, bin->size);
    }
    if (sgc_brief_leave(&cache->section))
        return sgc_brief_leave_slowly(&cache->section, object);
    return object;
}

ALLOCATE(GC_malloc_uncollectable, uncollectable, SGC_KIND_UNCOLLECTABLE)
ALLOCATE(GC_malloc_atomic_uncollectable, uncollectable, SGC_KIND_POINTER_FREE_UNCOLLECTABLE)

enum { PROMISED_REACH = 256 };      /* where the client keeps a pointer to the object */

void sgc_api_near_start(const struct sgc_object *o)
{
    sgc_assert(sgc_api_object_ok(o));
    if (o->span)
        sgc_span_set_reach(o->page, PROMISED_REACH);
}

void *sgc_api_near_start_or_null(size_t size, uint32_t kind)
{
    void *object = sgc_api_allocate_or_null(size, kind);
    struct sgc_object o;

    sgc_assert(object == NULL || sgc_heap_contains((uintptr_t)object));
    if (object != NULL && sgc_request_granules(size) == 0 && sgc_object_find((uintptr_t)object, &o))
        sgc_api_near_start(&o);
    return object;
}

__attribute__((noinline))
static void *large_near_start(size_t size, uint32_t kind)
{
    void *object = sgc_api_near_start_or_null(size, kind);

    return object != NULL ? object : sgc_out_of_memory(size);
}

/* To small objects the promise says nothing. */
__attribute__((always_inline))
static inline void *ignore_off_page(size_t size, uint32_t kind)
{
    return size > SGC_FAST_MAX ? large_near_start(size, kind) : sgc_allocate(size, kind);
}

ALLOCATE(GC_malloc_ignore_off_page, ignore_off_page, SGC_KIND_CONSERVATIVE)
ALLOCATE(GC_malloc_atomic_ignore_off_page, ignore_off_page, SGC_KIND_POINTER_FREE)

/* The end byte is ours to add; the result is one object of more than that when the size wraps. */
void *GC_malloc_many(size_t size)
{
    if (sgc_api_self() == NULL || size == SIZE_MAX)
        return NULL;
    return sgc_allocate_many(size + sgc_heap.config.end_byte, SGC_KIND_CONSERVATIVE);
}

/* ---- aligned objects ---- */

static bool is_power_of_two(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static bool good_alignment(const char *function, size_t alignment, size_t size)
{
    if (is_power_of_two(alignment))
        return true;
    sgc_warn("%s(%zu, %zu): the alignment is no power of two; NULL is returned. Pass 16, 32, 64, ...",
             function, alignment, size);
    return false;
}

void *GC_memalign(size_t alignment, size_t size)
{
    if (alignment == 0 || (alignment <= SGC_GRANULE && is_power_of_two(alignment)))
        return sgc_allocate(size, SGC_KIND_CONSERVATIVE);
    if (!good_alignment("GC_memalign", alignment, size))
        return NULL;
    return sgc_allocate_slow(size, SGC_KIND_CONSERVATIVE, alignment);
}

/* A typed object's last words are not the client's.  Any word of what is made may be a pointer. */
void *SGC_memalign(size_t alignment, size_t size, int kind)
{
    struct sgc_object o;
    void *object;

    if (!sgc_api_good_kind("SGC_memalign", kind) || !good_alignment("SGC_memalign", alignment, size))
        return NULL;
    if (sgc_api_is_typed((uint32_t)kind))
        kind = SGC_KIND_CONSERVATIVE;
    object = sgc_allocate_slow_or_null(size, (uint32_t)kind, alignment > SGC_GRANULE ? alignment : SGC_GRANULE);
    if (object == NULL)
        return sgc_out_of_memory(size);
    sgc_assert((uintptr_t)object % alignment == 0);
    if (sgc_kind_uncollectable((uint32_t)kind) && sgc_object_find((uintptr_t)object, &o))
        sgc_api_count_uncollectable((intptr_t)o.bytes);
    return object;
}

int GC_posix_memalign(void **result, size_t alignment, size_t size)
{
    void *object;

    if (!is_power_of_two(alignment) || alignment < sizeof(void *))
        return EINVAL;
    object = GC_memalign(alignment, size);
    if (object == NULL)
        return ENOMEM;
    sgc_written_store(result, object);
    return 0;
}

void *GC_valloc(size_t size)
{
    return GC_memalign(sgc_os_page_size(), size);
}

/* A size that wraps when it is rounded stays too large to be allocated. */
void *GC_pvalloc(size_t size)
{
    size_t page = sgc_os_page_size();

    sgc_assert(is_power_of_two(page));
    return GC_memalign(page, size <= PTRDIFF_MAX ? sgc_round_up(size, page) : size);
}

/* ---- copies of strings, pointer-free ---- */

/* The object that the out-of-memory hook returns is somebody's: nothing is copied there. */
void *sgc_api_fill_copy(char *copy, const void *text, size_t bytes, size_t end)
{
    if (copy == NULL) {
        sgc_out_of_memory(bytes + end);
        errno = ENOMEM;
        return NULL;
    }
    sgc_assert(sgc_heap_contains((uintptr_t)copy) && bytes + end >= bytes);
    memcpy(copy, text, bytes);
    memset(copy + bytes, 0, end);
    return copy;
}

static void *copy_of(const void *text, size_t bytes, size_t end)
{
    return sgc_api_fill_copy(sgc_allocate_or_null(bytes + end, SGC_KIND_POINTER_FREE), text, bytes, end);
}

char *GC_strdup(const char *string)
{
    return string == NULL ? NULL : copy_of(string, strlen(string), 1);
}

char *GC_strndup(const char *string, size_t limit)
{
    return copy_of(string, strnlen(string, limit), 1);
}

wchar_t *GC_wcsdup(const wchar_t *string)
{
    return copy_of(string, wcslen(string) * sizeof *string, sizeof *string);
}
