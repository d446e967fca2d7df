/* SPDX-License-Identifier: MIT */
/*
 * Questions about addresses, and about words that count as pointers; and writes the collector is
 * told of.  Any thread; no locks.
 */
#include "gc/api/api.h"

#include "gc/collect/allocate.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "gc/threads/upper.h"
#include "mark/displacements.h"

void *GC_base(void *address)
{
    struct sgc_object o;

    return sgc_object_find((uintptr_t)address, &o) && !sgc_upper_owns(&o) ? (void *)o.start : NULL;
}

int GC_is_heap_ptr(const void *address)
{
    return sgc_heap_contains((uintptr_t)address);
}

size_t GC_get_size_map_at(int request)
{
    size_t granules;

    if (request < 0 || (!sgc_init_done() && !sgc_init_now()))
        return SIZE_MAX;
    granules = sgc_request_granules((size_t)request);
    sgc_assert(granules == 0 || granules * SGC_GRANULE <= sgc_class_bytes(sgc_class_for(granules)));
    return granules == 0 ? SIZE_MAX : sgc_class_bytes(sgc_class_for(granules));
}

int GC_get_dont_add_byte_at_end(void)
{
    return (sgc_init_done() || sgc_init_now()) && sgc_options.end_byte == SGC_END_BYTE_ROOTS;
}

/* ---- which words count ---- */

void GC_set_all_interior_pointers(int on)
{
    if (on != 0 && on != 1)
        sgc_warn("GC_set_all_interior_pointers(%d): expected 1 (on) or 0 (off); nothing is changed", on);
    else if (!sgc_init_begun())
        sgc_a32_store(&sgc_client_all_interior_pointers, (uint32_t)on);
    else
        sgc_api_too_late("GC_set_all_interior_pointers", on == GC_get_all_interior_pointers());
}

int GC_get_all_interior_pointers(void)
{
    return (int)sgc_a32_load(&sgc_client_all_interior_pointers);
}

void GC_register_displacement(size_t n)
{
    if (n > SGC_SMALL_MAX)
        sgc_warn("GC_register_displacement(%zu): no small object is that large; nothing is registered. Pass at most "
                 "%zu", n, (size_t)SGC_SMALL_MAX);
    else
        sgc_mark_displacement(n);
}

/* ---- writes ---- */

/* The whole object has changed.  A small one is scanned again as a whole if one of its cards is
 * written; of a large one only what lies on written pages is. */
static void report_object(const void *object)
{
    struct sgc_object o;

    sgc_written_report(object);
    if (sgc_object_find((uintptr_t)object, &o) && o.span)
        sgc_written_report_range(o.start, o.bytes);
}

void GC_end_stubborn_change(const void *object)
{
    if (sgc_written_is_reported())
        report_object(object);
}

/* Memory above the heap's end is not reported: nobody watches it, and it may be much. */
void SGC_dirty(const void *address, size_t bytes)
{
    uintptr_t start = (uintptr_t)address, end = sgc_heap.base + sgc_aw_load_acq(&sgc_heap.limit);

    if (sgc_written_is_reported() && start < end)
        sgc_written_report_range(start, bytes < end - start ? bytes : end - start);
}

void GC_change_stubborn(const void *object)
{
    (void)object;
}

void GC_ptr_store_and_dirty(void *address, const void *value)
{
    sgc_written_store(address, (void *)(uintptr_t)value);
}
