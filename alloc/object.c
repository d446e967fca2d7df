/* SPDX-License-Identifier: MIT */
/*
 * From an address to its object, for the API.  Takes no lock; any thread.  (The marker has its own,
 * inlined and prefetching, in mark/.)
 */
#include "alloc/object.h"

#include "alloc/small/cache.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/small.h"
#include "alloc/large/span.h"

static bool small_slot(uintptr_t address, uint32_t page, struct sgc_object *object)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint32_t slot = sgc_slot_of(sgc_granule_in_page(address), d->reciprocal);
    uint32_t granules = d->granules, g = slot * granules;

    sgc_assert(sgc_page_ok(page));
    if (granules == 0 || g + granules > SGC_PAGE_GRANULES)      /* 0: a span's by now */
        return false;
    object->start = sgc_page_start(page) + (size_t)g * SGC_GRANULE;
    object->bytes = (size_t)granules * SGC_GRANULE;
    object->span = false;
    return true;
}

static bool span_slot(uintptr_t address, uint32_t page, struct sgc_object *object)
{
    object->start = sgc_page_start(page);
    object->bytes = sgc_span_bytes(page);
    object->span = true;
    return address - object->start < object->bytes;
}

/* The page may become another one at any time: what is found then need not be true, but it lies in
 * the heap. */
bool sgc_object_slot(uintptr_t address, struct sgc_object *object)
{
    uint32_t page;
    bool found;

    if (address - sgc_heap.base >= sgc_aw_load_acq(&sgc_heap.limit))
        return false;
    page = sgc_page_number(address);
    if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL) {
        found = small_slot(address, page, object);
    } else {
        page = sgc_span_first_page(page);
        found = page != SGC_NO_PAGE && span_slot(address, page, object);
    }
    if (!found)
        return false;
    object->granule = sgc_granule_number(object->start);
    object->page = page;
    object->kind = sgc_heap.pages[page].kind;
    return true;
}

/* The bit of a claimed slot is set before it is handed out.  Only of the calling thread's own
 * claims do we know without stopping anybody. */
static bool claimed_only(const struct sgc_object *object)
{
    const struct sgc_page *d = &sgc_heap.pages[object->page];
    const struct sgc_bin *bin;

    sgc_assert(!object->span);
    if (sgc_self == NULL)
        return false;
    bin = &sgc_self->bin[d->kind][d->cls];
    return !sgc_bin_handed_out(bin, (const char *)object->start);
}

bool sgc_object_allocated(const struct sgc_object *object)
{
    sgc_assert(sgc_page_ok(object->page));
    if (object->span)
        return sgc_span_bit(object->page);
    return sgc_alloc_bit(object->granule) &&
           !sgc_freed_remotely(&sgc_heap.pages[object->page], object->granule) &&
           !claimed_only(object);
}

static bool find(uintptr_t address, struct sgc_object *object)
{
    return sgc_object_slot(address, object) && sgc_object_allocated(object);
}

bool sgc_object_inside(uintptr_t address)
{
    uint32_t page = sgc_page_number(address);
    struct sgc_object o;

    if (address - sgc_heap.base >= sgc_aw_load_acq(&sgc_heap.limit))
        return false;
    if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL)
        return find(address, &o);
    page = sgc_span_first_page(page);
    return page != SGC_NO_PAGE && sgc_span_bit(page) && address - sgc_page_start(page) < sgc_span_bytes(page);
}

bool sgc_object_starts(uintptr_t address)
{
    size_t granule = sgc_granule_number(address);
    const struct sgc_page *d = &sgc_heap.pages[sgc_page_number(address)];
    struct sgc_object o;

    if (address - sgc_heap.base >= sgc_aw_load_acq(&sgc_heap.limit))
        return false;
    if (sgc_page_state(d) != SGC_PAGE_SMALL)
        return find(address, &o) && o.start == address;
    o = (struct sgc_object){ .start = address, .granule = granule, .page = sgc_page_number(address) };
    return address % SGC_GRANULE == 0 && sgc_alloc_bit(granule) &&
           sgc_slot_of(sgc_granule_in_page(address), d->reciprocal) * d->granules == sgc_granule_in_page(address) &&
           !sgc_freed_remotely(d, granule) && !claimed_only(&o);
}

/* In a section, so that the bitmaps do not change roles between finding a word and reading it.  A
 * thread that is not registered is not stopped, and may meet that moment. */
bool sgc_object_find(uintptr_t address, struct sgc_object *object)
{
    struct sgc_cache *cache = sgc_self;
    bool found;

    if (cache == NULL || sgc_section_inside(&cache->section))
        return find(address, object);
    sgc_section_enter(&cache->section);
    found = find(address, object);
    sgc_section_leave(&cache->section);
    return found;
}
