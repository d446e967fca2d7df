/* SPDX-License-Identifier: MIT */
/*
 * The heap block by block: a block is a page of small objects, the span of a large one, or a run of
 * pages that are free.  On any mutator.
 */
#include "gc/api/api.h"

#include "alloc/large/span.h"
#include "alloc/pages/pool.h"
#include "gc/collect/external_stop.h"

size_t GC_get_hblk_size(void)
{
    return SGC_PAGE;
}

struct GC_hblk_s *GC_is_black_listed(struct GC_hblk_s *block, size_t bytes)
{
    (void)block, (void)bytes;
    return NULL;
}

/* ---- the list of blocks, which is made with the world stopped ---- */

struct block {
    struct sgc_range range;
    GC_heap_section_type type;
};

struct list {
    struct block *of;                   /* NULL: only count */
    size_t count;
    struct block last;
    bool complete;
};

static size_t list_bytes(const struct list *list)
{
    return sgc_round_up(list->count * sizeof *list->of + 1, sgc_os_page_size());
}

/* Neighbours that are free, or nobody's, become one block. */
static bool extends_last(const struct list *list, GC_heap_section_type type, uintptr_t lo)
{
    return list->count != 0 && list->last.type == type && list->last.range.hi == lo && type != GC_HEAP_SECTION_TYPE_USED &&
           type != GC_HEAP_SECTION_TYPE_WHOLE_SECT;
}

static void add(struct list *list, GC_heap_section_type type, uintptr_t lo, uintptr_t hi)
{
    sgc_assert(lo <= hi && sgc_stopped_by_self());
    if (lo == hi && type != GC_HEAP_SECTION_TYPE_WHOLE_SECT)
        return;
    if (!extends_last(list, type, lo)) {
        list->last = (struct block){ { lo, hi }, type };
        list->count++;
    }
    list->last.range.hi = hi;
    if (list->of != NULL)
        list->of[list->count - 1] = list->last;
}

static GC_heap_section_type type_of_free(uint32_t page)
{
    const struct sgc_arena *arena = sgc_arena_of_page(page);

    if ((arena->free & sgc_arena_bit(page)) == 0)
        return GC_HEAP_SECTION_TYPE_PADDING;            /* in a thread's hands */
    return (arena->dirty & sgc_arena_bit(page)) != 0 ? GC_HEAP_SECTION_TYPE_FREE : GC_HEAP_SECTION_TYPE_UNMAPPED;
}

static uint32_t pages_of_span(uint32_t page, uint32_t end)
{
    uint32_t next = page + 1;

    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN);
    while (next < end && sgc_page_state(&sgc_heap.pages[next]) == SGC_PAGE_SPAN_TAIL && sgc_page_back(&sgc_heap.pages[next]) ==
           next - page)
        next++;
    return next - page;
}

/* A dead span that nobody has swept yet is free. */
static uint32_t add_span(struct list *list, uint32_t page, uint32_t end)
{
    uint32_t count = pages_of_span(page, end);
    uintptr_t lo = sgc_page_start(page), hi = lo + (uintptr_t)count * SGC_PAGE;
    size_t bytes = sgc_span_bytes(page);

    sgc_assert(bytes <= hi - lo);
    if (!sgc_span_bit(page)) {
        add(list, GC_HEAP_SECTION_TYPE_FREE, lo, hi);
    } else {
        add(list, GC_HEAP_SECTION_TYPE_USED, lo, lo + bytes);
        add(list, GC_HEAP_SECTION_TYPE_PADDING, lo + bytes, hi);
    }
    return count;
}

/* Adds the block that begins with the page, and returns the number of its pages. */
static uint32_t add_block(struct list *list, uint32_t page, uint32_t end)
{
    uintptr_t lo = sgc_page_start(page);
    uint8_t state = sgc_page_state(&sgc_heap.pages[page]);

    if (state == SGC_PAGE_SPAN)
        return add_span(list, page, end);
    add(list, state == SGC_PAGE_SMALL ? GC_HEAP_SECTION_TYPE_USED : type_of_free(page), lo, lo + SGC_PAGE);
    return 1;
}

/* The first page from there on that the system has granted, or has not. */
static uint32_t next_page(uint32_t page, uint32_t end, bool granted)
{
    while (page < end && (page % SGC_ARENA_PAGES < sgc_arena_of_page(page)->there) != granted)
        page++;
    return page;
}

static void walk(struct list *list)
{
    uint32_t pages = sgc_pool.committed * SGC_ARENA_PAGES;

    list->count = 0;
    for (uint32_t page = next_page(0, pages, true), end; page < pages; page = next_page(end, pages, true)) {
        end = next_page(page, pages, false);
        add(list, GC_HEAP_SECTION_TYPE_WHOLE_SECT, sgc_page_start(page), sgc_page_start(end - 1) + SGC_PAGE);
        while (page < end)
            page += add_block(list, page, end);
    }
}

static void list_blocks(void *arg)
{
    struct list *list = arg;
    size_t count;

    sgc_assert(sgc_stopped_by_self() && list->of == NULL);
    walk(list);
    count = list->count;
    list->of = sgc_mem_obtain(list_bytes(list));
    if (list->of == NULL)
        return;
    walk(list);
    sgc_assert(list->count == count);                   /* nothing has changed meanwhile */
    list->complete = list->count == count;
}

/* ---- visiting them, with the world as it is ---- */

typedef void visit_block(const struct block *block, void *arg);

static void each_block(const char *function, uintptr_t entry, visit_block *visit, void *arg)
{
    struct sgc_mutator *self = sgc_api_self();
    struct list list = { .of = NULL };

    if (self == NULL)
        return;
    sgc_gc_lock_recover(self, entry);
    if (!sgc_with_world_stopped(self, list_blocks, &list))
        return;
    if (!list.complete)
        sgc_warn("%s: no memory for the list of blocks; nothing is visited", function);
    for (size_t i = 0; list.complete && i < list.count; i++)
        visit(&list.of[i], arg);
    if (list.of != NULL)
        sgc_mem_release(list.of, list_bytes(&list));
}

/* The client's function, of one of three types. */
struct visit {
    GC_heap_section_proc section;
    GC_walk_hblk_fn used;
    GC_walk_free_blk_fn free;
    void *data;
};

static void visit_section(const struct block *block, void *arg)
{
    const struct visit *v = arg;

    v->section((void *)block->range.lo, (void *)block->range.hi, block->type, v->data);
}

static void visit_used(const struct block *block, void *arg)
{
    const struct visit *v = arg;

    if (block->type == GC_HEAP_SECTION_TYPE_USED)
        v->used((struct GC_hblk_s *)block->range.lo, v->data);
}

static void visit_free(const struct block *block, void *arg)
{
    const struct visit *v = arg;

    if (block->type == GC_HEAP_SECTION_TYPE_FREE || block->type == GC_HEAP_SECTION_TYPE_UNMAPPED)
        v->free((struct GC_hblk_s *)block->range.lo, block->type == GC_HEAP_SECTION_TYPE_UNMAPPED, v->data);
}

void GC_foreach_heap_section_inner(GC_heap_section_proc visit, void *data)
{
    struct visit v = { .section = visit, .data = data };

    each_block("GC_foreach_heap_section_inner", sgc_callers_stack_pointer(), visit_section, &v);
}

void GC_apply_to_all_blocks(GC_walk_hblk_fn visit, void *data)
{
    struct visit v = { .used = visit, .data = data };

    each_block("GC_apply_to_all_blocks", sgc_callers_stack_pointer(), visit_used, &v);
}

void GC_iterate_free_hblks(GC_walk_free_blk_fn visit, void *data)
{
    struct visit v = { .free = visit, .data = data };

    each_block("GC_iterate_free_hblks", sgc_callers_stack_pointer(), visit_free, &v);
}
