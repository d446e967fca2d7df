/* SPDX-License-Identifier: MIT */
/*
 * Walking over the heap.  On the thread that has stopped the world.
 */
#include "alloc/walk.h"

#include "alloc/pages/pool.h"
#include "alloc/small/remote_free.h"
#include "alloc/large/span.h"

static void walk_small(uint32_t page, sgc_visit_t visit, void *arg)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_object o = { .bytes = (size_t)d->granules * SGC_GRANULE, .page = page, .kind = d->kind };

    sgc_assert(sgc_page_ok(page) && d->granules != 0);
    for (uint32_t g = 0; g + d->granules <= SGC_PAGE_GRANULES; g += d->granules) {
        o.granule = sgc_page_first_granule(page) + g;
        o.start = sgc_page_start(page) + (size_t)g * SGC_GRANULE;
        if (sgc_alloc_bit(o.granule) && !sgc_freed_remotely(d, o.granule))
            visit(&o, arg);
    }
}

static void walk_span(uint32_t page, sgc_visit_t visit, void *arg)
{
    struct sgc_object o = {
        .start = sgc_page_start(page), .bytes = sgc_span_bytes(page), .granule = sgc_page_first_granule(page),
        .page = page, .kind = sgc_heap.pages[page].kind, .span = true,
    };

    if (sgc_span_bit(page))
        visit(&o, arg);
}

void sgc_walk_objects(sgc_visit_t visit, void *arg)
{
    uint32_t pages = sgc_pool.committed * SGC_ARENA_PAGES;

    for (uint32_t page = 1; page < pages; page++) {
        uint8_t state = sgc_page_state(&sgc_heap.pages[page]);

        if (state == SGC_PAGE_SMALL)
            walk_small(page, visit, arg);
        else if (state == SGC_PAGE_SPAN)
            walk_span(page, visit, arg);
    }
}

/* ---- what is dead ---- */

/* Bits stand only where objects begin. */
static void walk_dead_small(uint32_t page, sgc_visit_dead_t visit, void *arg)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t word = (size_t)page * SGC_PAGE_WORDS;
    bool remote = sgc_a8_load_acq(&d->remote) != 0;
    struct sgc_dead dead = { .stride = SGC_GRANULE, .bytes = (size_t)d->granules * SGC_GRANULE };

    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++) {
        dead.marks = sgc_bits_word(w, sgc_mark_role());
        dead.bits = sgc_aw_load(sgc_bits_word(w, sgc_heap.alloc_role)) & ~sgc_aw_load(dead.marks);
        if (remote)
            dead.bits &= ~sgc_aw_load(&sgc_heap.remote_bits[w]);
        dead.first = (uintptr_t)sgc_granule_address(w * 64);
        if (dead.bits != 0)
            visit(&dead, arg);
    }
}

static void walk_dead_span(uint32_t page, sgc_visit_dead_t visit, void *arg)
{
    const struct sgc_dead dead = {
        .marks = sgc_span_word(page, sgc_mark_role()), .bits = sgc_arena_bit(page),
        .first = sgc_page_start(page - page % SGC_ARENA_PAGES), .stride = SGC_PAGE, .bytes = sgc_span_bytes(page),
    };

    if (sgc_span_bit(page) && (sgc_aw_load(dead.marks) & dead.bits) == 0)
        visit(&dead, arg);
}

void sgc_walk_dead(uint32_t kinds, sgc_visit_dead_t visit, void *arg)
{
    uint32_t pages = sgc_pool.committed * SGC_ARENA_PAGES;

    for (uint32_t page = 1; page < pages; page++) {
        const struct sgc_page *d = &sgc_heap.pages[page];

        if ((kinds >> d->kind & 1) == 0)
            continue;
        if (sgc_page_state(d) == SGC_PAGE_SMALL)
            walk_dead_small(page, visit, arg);
        else if (sgc_page_state(d) == SGC_PAGE_SPAN)
            walk_dead_span(page, visit, arg);
    }
}

bool sgc_walk_marked(const struct sgc_object *object)
{
    sgc_assert(sgc_page_ok(object->page));
    if (object->span)
        return (sgc_aw_load(sgc_span_word(object->page, sgc_mark_role())) & sgc_arena_bit(object->page)) != 0;
    return sgc_mark_bit(object->granule);
}
