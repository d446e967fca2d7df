/* SPDX-License-Identifier: MIT */
/*
 * Large objects: making them.  The lists are under the spans' lock; setting up a reserved span
 * needs none, nor does using a spare one again.  Freeing, and spare spans themselves, are in
 * alloc/large/span_free.c, resizing in alloc/large/span_resize.c, choosing between a spare span and
 * new pages in alloc/new_objects.c.
 */
#include "alloc/large/span.h"

#include <string.h>

SGC_STATE struct sgc_spans sgc_spans = { .lock = SGC_LOCK_INIT(SGC_RANK_SPANS) };

enum {
    STREAM_MIN = 64 << 10,    /* cold objects from this size on are zeroed past the caches, */
    STREAM_SKIP = 16 << 10,     /* but for their beginning, which is used first */
};

/* ---- setting up: nobody else knows these pages ---- */

static void set_up(uint32_t first, uint32_t count, size_t bytes, uint32_t kind)
{
    struct sgc_page *head = &sgc_heap.pages[first];

    sgc_assert(sgc_page_ok(first) && sgc_page_ok(first + count - 1) && count == sgc_span_pages_for(bytes));
    sgc_assert(sgc_page_state(head) != SGC_PAGE_SMALL && sgc_page_state(head) != SGC_PAGE_SPAN);
    sgc_page_set_state(head, SGC_PAGE_RESERVED);
    sgc_page_set_back(head, 0);
    sgc_span_set_limited(head, false);
    sgc_page_set_kind(head, kind);
    sgc_aw_store(&head->span_bytes, bytes);
    sgc_a8_store(&head->remote, 0);
    for (uint32_t i = 1; i < count; i++)
        sgc_span_set_tail(first, i);
    sgc_heap.records[first].span_pages = count;
    sgc_heap.records[first].list = 0;
}

/* ---- publishing: under the lock ---- */

static void publish(uint32_t first)
{
    struct sgc_page *head = &sgc_heap.pages[first];

    sgc_assert(sgc_lock_taken(&sgc_spans.lock) && sgc_page_state(head) == SGC_PAGE_RESERVED);
    sgc_assert(!sgc_span_bit(first));
    sgc_lists_renew(&sgc_spans.lists);
    sgc_page_set_state(head, SGC_PAGE_SPAN);
    sgc_aw_store_rel(&sgc_heap.pages[first].tag, sgc_tag(SGC_NO_OWNER, sgc_heap.epoch));
    sgc_list_push(&sgc_spans.lists, SGC_LIST_DONE, first);
    if (sgc_kind_uncollectable(head->kind))
        sgc_aw_or(&sgc_arena_of_page(first)->uncollectable, sgc_arena_bit(first));
    sgc_aw_or(sgc_span_word(first, sgc_heap.alloc_role), sgc_arena_bit(first));
}

/* ---- zeroing ---- */

/* Pages of a heap that is larger than the caches have left them since they were used, unless that
 * was just now. */
static bool is_cold(void)
{
    return sgc_heap.config.cache_bytes != 0 && sgc_pool_heap_bytes() > sgc_heap.config.cache_bytes;
}

/* The beginning comes last, so that it is in the cache when the program gets the object. */
static void zero_pages(char *object, size_t bytes, bool cold)
{
    size_t end = bytes;

    sgc_assert(bytes != 0 && (uintptr_t)object % SGC_PAGE == 0);
    if (cold && bytes >= STREAM_MIN) {
        size_t lines = (bytes - STREAM_SKIP) & ~(size_t)63;

        end = STREAM_SKIP;
        sgc_mem_zero_streaming(object + end, lines);
        memset(object + end + lines, 0, bytes - end - lines);
    }
    memset(object, 0, end);
}

/* ---- making ---- */

/* The object's address.  It is in the frame from here on, and not computed again from the page's
 * number when it is wanted: a number keeps nothing alive when the thread is stopped as its section
 * ends. */
static char *object_on(uint32_t page)
{
    char *object = (char *)sgc_page_start(page);

    sgc_assert(sgc_page_ok(page));
    __asm__ volatile("" : "+r"(object));
    return object;
}

void *sgc_span_make(uint32_t first, size_t bytes, uint32_t kind, bool zero, struct sgc_section *self)
{
    void *object = object_on(first);

    sgc_assert(bytes != 0 && sgc_kind_ok(kind));
    bytes = sgc_round_up(bytes, SGC_GRANULE);
    set_up(first, (uint32_t)sgc_span_pages_for(bytes), bytes, kind);
    if (!zero && sgc_kind_cleared(kind))
        zero_pages(object, bytes, is_cold());
    sgc_lock(&sgc_spans.lock, self);
    publish(first);
    sgc_aw_add(&sgc_spans.allocated, bytes);
    sgc_unlock(&sgc_spans.lock, self);
    return object;
}

/* ---- spare spans ---- */

/* Nobody but its thread knows a spare span.  It has no pointers until it is zeroed, which is
 * outside the section: what is in it is not scanned, and should a jump out of a handler leave it
 * there, the next cycle finds it dead. */
static void open_spare(uint32_t page, size_t bytes)
{
    struct sgc_page *head = &sgc_heap.pages[page];

    sgc_assert(sgc_page_state(head) == SGC_PAGE_SPAN && !sgc_span_bit(page));
    sgc_span_set_limited(head, false);
    sgc_page_set_kind(head, SGC_KIND_POINTER_FREE);
    sgc_assert(sgc_span_pages_for(bytes) == sgc_heap.records[page].span_pages);
    sgc_aw_store(&head->span_bytes, bytes);
    sgc_aw_add(&sgc_spans.allocated, bytes);
    sgc_aw_or(sgc_span_word(page, sgc_heap.alloc_role), sgc_arena_bit(page));
}

/* The caller has the object before the section ends. */
static char *take_spare(uint32_t owner, size_t bytes, bool *warm, struct sgc_section *self)
{
    char *object = NULL;
    uint32_t page;

    sgc_section_enter(self);
    page = sgc_cached_span_pop(owner, (uint32_t)sgc_span_pages_for(bytes));
    if (page != SGC_NO_PAGE) {
        object = object_on(page);
        *warm = sgc_heap.records[page].warm;
        open_spare(page, sgc_round_up(bytes, SGC_GRANULE));
    }
    sgc_section_leave(self);
    return object;
}

/* The frame holds the object, so it lives through a cycle in between. */
void *sgc_span_use_cached(uint32_t owner, size_t bytes, uint32_t kind, struct sgc_section *self)
{
    bool warm = false;
    char *object = take_spare(owner, bytes, &warm, self);

    sgc_assert(sgc_kind_ok(kind) && !sgc_kind_uncollectable(kind));
    if (object == NULL)
        return NULL;
    sgc_test_point();
    if (sgc_kind_cleared(kind))
        zero_pages(object, sgc_round_up(bytes, SGC_GRANULE), !warm && is_cold());
    sgc_page_set_kind(&sgc_heap.pages[sgc_page_number((uintptr_t)object)], kind);
    return object;
}

/* ---- figures ---- */

/* The bytes counted that no thread has taken yet.  One exchange decides which thread gets them, and
 * a thread reads `reported` before `count`, so none takes less than nothing.  A thread looks before
 * it exchanges: the words are shared, and one that has nothing to take does not write to them. */
static size_t take(sgc_aw_t *count, sgc_aw_t *reported)
{
    size_t before = sgc_aw_load_acq(reported), now = sgc_aw_load_acq(count);

    sgc_assert(now - before < SIZE_MAX / 2);
    return now != before && sgc_aw_cas(reported, before, now) ? now - before : 0;
}

struct sgc_span_bytes sgc_span_take_bytes(void)
{
    size_t allocated = take(&sgc_spans.allocated, &sgc_spans.allocated_reported);
    size_t freed = take(&sgc_spans.freed, &sgc_spans.freed_reported);

    return (struct sgc_span_bytes){ allocated, freed };
}
