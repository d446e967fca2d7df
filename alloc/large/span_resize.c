/* SPDX-License-Identifier: MIT */
/*
 * Large objects: resizing in place.  By the thread that has the object, so nobody else takes its
 * span down; outside sections.
 *
 * How many pages a span has is changed under the spans' lock, and not while a mark goes on beside
 * the program, which relies on it (doc/design/concurrent.md, C5).  Pages that are gained are tails
 * before they are counted, and counted before the object reaches into them; pages that are lost the
 * other way round.  So whenever the world stops, or a fork leaves this thread behind, the object
 * lies within the pages that are counted, and these are its own: what is in the thread's hands
 * besides is of no span, and a word that points there leads to nothing.
 */
#include "alloc/large/span.h"

#include <string.h>

/* Under a guard.  False: a mark goes on, so the span keeps the pages that it has. */
static bool set_pages(uint32_t page, uint32_t count, struct sgc_section *self)
{
    bool may;

    sgc_assert(count != 0);
    sgc_lock(&sgc_spans.lock, self);
    may = !sgc_heap_is_marking();
    if (may)
        sgc_heap.records[page].span_pages = count;
    sgc_unlock(&sgc_spans.lock, self);
    return may;
}

static void give_tails(uint32_t first, uint32_t count, struct sgc_section *self)
{
    sgc_assert(count != 0);
    for (uint32_t p = first; p < first + count; p++)
        sgc_page_set_state(&sgc_heap.pages[p], SGC_PAGE_RESERVED);
    sgc_span_take_down(&(struct sgc_run){ first, count }, 1, self);
}

static void shrink(uint32_t page, uint32_t count, struct sgc_section *self)
{
    uint32_t old = sgc_heap.records[page].span_pages;

    sgc_assert(count < old);
    sgc_guard_enter(self);
    if (set_pages(page, count, self))
        give_tails(page + count, old - count, self);
    sgc_guard_leave(self);
}

/* Under a guard.  The new pages count as used first by who was that of the span's first. */
static bool take_behind(uint32_t page, size_t count, bool *zero, struct sgc_section *self)
{
    uint32_t old = sgc_heap.records[page].span_pages;

    sgc_assert(count > old);
    if (sgc_heap_is_marking() || !sgc_pool_take_at(page + old, count - old, self, zero))
        return false;
    for (uint32_t i = old; i < count; i++) {
        (void)sgc_page_settle(page + i, sgc_heap.records[page].home);
        sgc_span_set_tail(page, i);
    }
    sgc_test_point();
    if (set_pages(page, (uint32_t)count, self))
        return true;
    give_tails(page + old, (uint32_t)count - old, self);
    return false;
}

/* The pages behind the span become its own, if they are free; `zero`: they read as zero. */
static bool grow(uint32_t page, size_t count, bool *zero, struct sgc_section *self)
{
    bool grown;

    sgc_guard_enter(self);
    grown = take_behind(page, count, zero, self);
    sgc_guard_leave(self);
    return grown;
}

/* Zeroes the object's bytes from `old` to `bytes`; those on pages that read as zero, from `clean`
 * on, are so already. */
static void zero_gained(uint32_t page, size_t old, size_t bytes, size_t clean)
{
    size_t end = bytes < clean ? bytes : clean;

    sgc_assert(old <= end);
    memset((void *)(sgc_page_start(page) + old), 0, end - old);
}

bool sgc_span_resize(struct sgc_section *self, uint32_t page, size_t bytes)
{
    const struct sgc_page_record *r = &sgc_heap.records[page];
    size_t old = sgc_span_bytes(page), count = sgc_span_pages_for(bytes), had = (size_t)r->span_pages * SGC_PAGE;
    bool zero = false;

    sgc_assert(bytes != 0 && sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN && old <= had);
    if (count > r->span_pages && !grow(page, count, &zero, self))
        return false;
    bytes = sgc_round_up(bytes, SGC_GRANULE);
    sgc_aw_add(bytes > old ? &sgc_spans.allocated : &sgc_spans.freed, bytes > old ? bytes - old : old - bytes);
    if (bytes > old && sgc_kind_cleared(sgc_heap.pages[page].kind))
        zero_gained(page, old, bytes, zero ? had : SIZE_MAX);
    sgc_aw_store_rel(&sgc_heap.pages[page].span_bytes, bytes);
    if (count < r->span_pages)
        shrink(page, (uint32_t)count, self);
    return true;
}
