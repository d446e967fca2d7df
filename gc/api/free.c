/* SPDX-License-Identifier: MIT */
/*
 * Freeing and resizing objects, and saying what is wrong with an address that is none.  On any
 * mutator.
 */
#include "gc/api/api.h"

#include <string.h>

#include "alloc/free.h"
#include "alloc/large/span.h"
#include "gc/api/objects.h"
#include "gc/collect/start.h"
#include "gc/collect/allocate.h"
#include "gc/config/public_vars.h"
#include "gc/api/guards.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/queue.h"
#include "gc/finalize/register.h"
#include "gc/pacing/heap_size.h"
#include "gc/threads/upper.h"
#include "platform/faults.h"

/* ---- wrong addresses ---- */

static bool on_own_stack(uintptr_t address)
{
    const struct sgc_mutator *self = sgc_mutator_self();

    return self != NULL && sgc_mutator_at_home(self, address);
}

static void report_free(const char *function, uintptr_t address, const char *happens)
{
    sgc_warn("%s(%p): the object there has been freed already, or was reclaimed because nothing pointed at it; "
             "%s. Free each object once, and keep a pointer to it until then", function, (void *)address, happens);
}

/* An object that GC_debug_free has filled stays allocated until a collection has looked at it. */
static bool freed_with_guards(enum sgc_debug_state state)
{
    return state == SGC_DEBUG_FREED || state == SGC_DEBUG_FREED_WRITTEN;
}

/* Says why the address is not the first one of an allocated object. */
static void report_address(const char *function, uintptr_t address, const char *happens)
{
    struct sgc_object o;

    if (!sgc_heap_contains(address))
        sgc_warn("%s(%p): the address is %s, not in the collector's heap; %s. Pass what GC_malloc and its "
                 "relatives returned", function, (void *)address,
                 on_own_stack(address) ? "on this thread's stack" : "foreign (malloc's, static data, a stack)",
                 happens);
    else if (!sgc_object_slot(address, &o))
        sgc_warn("%s(%p): there is no object at this address of the heap; %s. Pass what GC_malloc and its "
                 "relatives returned; an object that has been freed is gone", function, (void *)address, happens);
    else if (freed_with_guards(sgc_debug_around((void *)address)))
        report_free(function, address, happens);
    else if (sgc_upper_owns(&o))
        sgc_warn("%s(%p): the address lies in a region of short-term memory; %s. What is in a region goes when the region's "
                 "dates are over", function, (void *)address, happens);
    else if (o.start != address)
        sgc_warn("%s(%p): the address lies %zu bytes inside the object at %p; %s. Pass the object's first "
                 "address, GC_base() finds it", function, (void *)address, address - o.start, (void *)o.start,
                 happens);
    else
        report_free(function, address, happens);
}

/* The allocated object that begins at `address`; otherwise a message and false. */
static bool find_object(const char *function, uintptr_t address, const char *happens, struct sgc_object *o)
{
    if (sgc_heap_contains(address) && sgc_object_find(address, o) && o->start == address)
        return true;
    report_address(function, address, happens);
    return false;
}

/* ---- free ---- */

static const char NOT_FREED[] = "nothing is freed";

/* Forgotten first: afterwards another object may lie there. */
static bool free_found(struct sgc_mutator *self, const struct sgc_object *o)
{
    sgc_assert(sgc_heap_contains(o->start));
    if (sgc_upper_keeps(self, o->start, true))
        return true;
    if (sgc_finalization_used()) {
        sgc_finalization_forget(self, o->start);
        sgc_queue_object_freed(self, o->start);
    }
    sgc_disclaim_forget(self, o->start, o->kind);
    if (sgc_free_found(&self->cache, o) != SGC_FREE_DONE)
        return false;
    if (sgc_kind_uncollectable(o->kind))
        sgc_api_count_uncollectable(-(intptr_t)o->bytes);
    return true;
}

__attribute__((noinline))
static void free_slowly(void *object)
{
    struct sgc_mutator *self;
    struct sgc_object o;

    if (object == NULL)
        return;
    if (!sgc_object_slot((uintptr_t)object, &o) || o.start != (uintptr_t)object) {
        report_address("GC_free", (uintptr_t)object, NOT_FREED);
        return;
    }
    self = sgc_mutator_self();
    if (self == NULL && (self = sgc_mutator_admit()) == NULL)   /* bdwgc frees for any thread,
                                                                 * silently */
        return;
    sgc_assert(sgc_mutator_mine(self));
    if (!free_found(self, &o))
        report_address("GC_free", (uintptr_t)object, NOT_FREED);
}

/* Not a common case: leaves the brief section and goes the slow way. */
__attribute__((noinline))
static void free_missed(void *object, struct sgc_cache *cache)
{
    sgc_brief_end(&cache->section);
    free_slowly(object);
}

/* Uncollectable objects are counted. */
__attribute__((always_inline))
static inline bool free_counted(void *object, struct sgc_cache *cache, size_t granule)
{
    size_t counted = sgc_free_uncollectable(cache, object, granule);

    if (counted == 0)
        return false;
    sgc_aw_add_relaxed(&sgc_client_non_gc_bytes, 0 - counted);
    return true;
}

/* Uncollectable objects, and pages where something is registered about an object, which must be
 * forgotten, or may keep it (sgc_page_watch), meet a bin that is never open: their pages name that
 * one.  Each way out is a return or a jump, so that the common ones need no stack frame. */
void GC_free(void *object)
{
    struct sgc_cache *cache = sgc_fast_cache;
    size_t granule = sgc_exact_granule(object);
    enum sgc_free_step step;

    if (__builtin_expect(granule >= sgc_aw_load(&sgc_heap.granules), 0)) {
        free_slowly(object);
        return;
    }
    sgc_brief_enter(&cache->section);
    step = sgc_free_in_section(cache, object, granule);
    if (__builtin_expect(step == SGC_FREE_STEP_MISSED, 0))
        free_missed(object, cache);
    else if (__builtin_expect(step == SGC_FREE_STEP_CLOSED, 0) && !free_counted(object, cache, granule))
        free_missed(object, cache);
    else if (sgc_brief_leave(&cache->section))
        sgc_brief_leave_slowly(&cache->section, NULL);
}

/* GC_free reports what belongs to the layer on top, as other wrong addresses. */
void GC_freezero(void *object, size_t bytes)
{
    struct sgc_object o;

    if (object != NULL && sgc_object_find((uintptr_t)object, &o) && o.start == (uintptr_t)object && !sgc_upper_owns(&o)) {
        size_t usable = sgc_api_usable(&o);

        sgc_assert(sgc_api_object_ok(&o) && usable <= o.bytes);
        memset(object, 0, bytes < usable ? bytes : usable);
    }
    GC_free(object);
}

/* ---- realloc ---- */

void sgc_api_free_moved(struct sgc_mutator *self, void *object)
{
    if (!sgc_upper_keeps(self, (uintptr_t)object, false))
        GC_free(object);
}

/* Bytes behind the request are zero in a new object and must be again, so that a later growth in
 * place finds zeros, and no stale pointer stays. */
static void zero_tail(const struct sgc_object *o, size_t size, size_t bytes)
{
    sgc_assert(sgc_api_object_ok(o) && bytes <= o->bytes);
    if (sgc_kind_cleared(o->kind) && bytes > size)
        memset((char *)o->start + size, 0, bytes - size);
}

/* Not where it would waste more than half of the slot. */
static bool fits_slot(const struct sgc_object *o, size_t with_end)
{
    sgc_assert(!o->span);
    return with_end <= o->bytes + (sgc_fault(SGC_FAULT_SIZE_SHORT) ? 2 : 0) &&
           (with_end > o->bytes / 2 || o->bytes <= 2 * SGC_GRANULE);
}

/* Growth in place leaves nothing dead behind, so it begins no collection; where the span may not
 * grow, the caller allocates another object as usual. */
static bool resize_span(struct sgc_mutator *self, const struct sgc_object *o, size_t size, size_t with_end)
{
    size_t bytes = sgc_round_up(with_end, SGC_GRANULE);

    sgc_assert(sgc_mutator_mine(self) && o->span && with_end >= size);
    if (with_end <= SGC_SMALL_MAX)
        return false;
    if (bytes < o->bytes && sgc_finalization_used())
        sgc_links_forget(self, o->start + bytes, o->start + o->bytes);      /* before somebody else has that memory */
    if (!sgc_span_resize(sgc_section_of(self), o->page, with_end))
        return false;
    sgc_assert(sgc_span_bytes(o->page) == bytes);
    zero_tail(o, size, bytes < o->bytes ? bytes : o->bytes);
    if (bytes > o->bytes)
        sgc_heap_watch(self);
    if (sgc_kind_uncollectable(o->kind))
        sgc_api_count_uncollectable((intptr_t)(bytes - o->bytes));
    return true;
}

static bool resize_in_place(struct sgc_mutator *self, const struct sgc_object *o, size_t size)
{
    size_t with_end = size + sgc_heap.config.end_byte;

    sgc_assert(sgc_api_object_ok(o) && with_end >= size);
    if (o->span)
        return resize_span(self, o, size, with_end);
    if (!fits_slot(o, with_end))
        return false;
    zero_tail(o, size, o->bytes);
    return true;
}

static void *allocate_like(const struct sgc_object *o, size_t size)
{
    void *fresh = sgc_allocate_or_null(size, o->kind);
    struct sgc_object f;

    sgc_assert(sgc_api_object_ok(o));
    if (fresh != NULL && sgc_kind_uncollectable(o->kind) && sgc_object_find((uintptr_t)fresh, &f))
        sgc_api_count_uncollectable((intptr_t)f.bytes);
    return fresh;
}

static void *resize(void *object, size_t size)
{
    struct sgc_mutator *self = sgc_api_self();
    struct sgc_object o;
    void *fresh;

    if (self == NULL || !find_object("GC_realloc", (uintptr_t)object, "it is left alone and NULL returned", &o))
        return NULL;
    sgc_assert(sgc_api_object_ok(&o) && o.start == (uintptr_t)object);
    if (sgc_api_is_typed(o.kind))
        return sgc_api_typed_resize(&o, size);
    if (size <= PTRDIFF_MAX && resize_in_place(self, &o, size))
        return object;
    fresh = allocate_like(&o, size);
    if (fresh == NULL)
        return sgc_out_of_memory(size);
    sgc_api_copy(fresh, object, size < o.bytes ? size : o.bytes);
    sgc_api_free_moved(self, object);
    return fresh;
}

void *GC_realloc(void *object, size_t size)
{
    if (object == NULL)
        return GC_malloc(size);
    if (size != 0)
        return resize(object, size);
    GC_free(object);
    return NULL;
}

/* An address that is wrong has been reported, and there is nothing to free. */
void *GC_reallocf(void *object, size_t size)
{
    void *result = GC_realloc(object, size);

    if (result == NULL && size != 0 && object != NULL && GC_base(object) == object)
        GC_free(object);
    return result;
}

/* ---- sizes ---- */

static const char NO_SIZE[] = "the answer is 0";

size_t GC_size(const void *object)
{
    struct sgc_object o;

    if (sgc_debug_in_use(sgc_debug_around(object)))
        return sgc_debug_header_of((void *)(uintptr_t)object)->size;
    return find_object("GC_size", (uintptr_t)object, NO_SIZE, &o) ? sgc_api_usable(&o) : 0;
}
