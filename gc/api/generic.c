/* SPDX-License-Identifier: MIT */
/*
 * Objects by the number of their kind, and lists of them for allocators in the client's code (gc_inline.h).  On any
 * mutator.
 */
#include "gc/api/own_kinds.h"

#include "alloc/object.h"
#include "gc/collect/allocate.h"

bool sgc_api_good_kind(const char *function, int kind)
{
    if (kind >= 0 && (uint32_t)kind < sgc_kind_count())
        return true;
    sgc_warn(
        "%s: there is no kind %d; nothing is done, and NULL returned. Pass 0 (pointer-free), 1 (with pointers), 2 (the same, "
        "uncollectable), 3 (pointer-free, uncollectable) or what GC_new_kind returned",
        function, kind);
    return false;
}

typedef void *(*allocate_fn)(size_t size, uint32_t kind);

static void *of_kind(const char *function, size_t size, int kind, allocate_fn allocate)
{
    void *object;

    if (!sgc_api_good_kind(function, kind))
        return NULL;
    object = allocate(size, (uint32_t)kind);
    return object != NULL ? object : sgc_out_of_memory(size);
}

/* ---- one object ---- */

static void *uncollectable_like(size_t size, uint32_t kind)
{
    uint32_t like = sgc_api_uncollectable_kind(kind);

    sgc_assert(kind < sgc_kind_count());
    sgc_assert(like == SGC_KINDS || sgc_kind_uncollectable(like));
    return like != SGC_KINDS ? sgc_api_allocate_or_null(size, like) : NULL;
}

#define OF_KIND(name, allocate) \
    void *name(size_t size, int kind) { return of_kind(#name, size, kind, allocate); }

OF_KIND(GC_malloc_kind, sgc_api_allocate_or_null)
OF_KIND(GC_malloc_kind_global, sgc_api_allocate_or_null)
OF_KIND(GC_generic_malloc, sgc_api_allocate_or_null)
OF_KIND(GC_generic_or_special_malloc, sgc_api_allocate_or_null)
OF_KIND(GC_generic_malloc_uncollectable, uncollectable_like)
OF_KIND(GC_generic_malloc_ignore_off_page, sgc_api_near_start_or_null)

/* ---- lists ---- */

/* The size is that of the slots: the client has added an end byte if it wants one. */
void GC_generic_malloc_many(size_t size, int kind, void **result)
{
    void *first = NULL;

    if (sgc_api_good_kind("GC_generic_malloc_many", kind) && sgc_api_self() != NULL && size <= PTRDIFF_MAX)
        first = sgc_allocate_many(size, (uint32_t)kind);
    if (first != NULL && size > SGC_SMALL_MAX)
        GC_NEXT(first) = NULL;
    sgc_assert(first == NULL || sgc_heap_contains((uintptr_t)first));
    *result = first;
}

void GC_print_free_list(int kind, size_t granules)
{
    sgc_print("free list of kind %d, %zu bytes: SGC has none; free slots are bits in tables, see GC_dump()", kind,
            granules * SGC_GRANULE);
}

/* ---- questions ---- */

SGC_STATE static sgc_aw_t describers[SGC_KINDS];    /* GC_describe_type_fn; any thread, release / acquire */

void GC_register_describe_type_fn(int kind, GC_describe_type_fn describe)
{
    if (sgc_api_good_kind("GC_register_describe_type_fn", kind))
        sgc_aw_store_rel(&describers[kind], (uintptr_t)describe);
}

void sgc_api_describe(uint32_t kind, void *object, char text[GC_TYPE_DESCR_LEN + 1])
{
    GC_describe_type_fn describe = kind < SGC_KINDS ? (GC_describe_type_fn)sgc_aw_load_acq(&describers[kind]) : NULL;

    text[0] = '\0';
    if (describe != NULL)
        describe(object, text);
    text[GC_TYPE_DESCR_LEN] = '\0';
}

int GC_get_kind_and_size(const void *object, size_t *size)
{
    struct sgc_object o;
    bool found = sgc_object_find((uintptr_t)object, &o) && o.start == (uintptr_t)object;

    if (!found)
        sgc_warn("GC_get_kind_and_size(%p): no object begins there; -1 is returned. GC_base() finds the first "
                 "address", object);
    sgc_assert(!found || sgc_api_object_ok(&o));
    if (size != NULL)
        *size = found ? sgc_api_usable(&o) : 0;
    return found ? (int)o.kind : -1;
}
