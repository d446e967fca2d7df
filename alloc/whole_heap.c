/* SPDX-License-Identifier: MIT */
/*
 * The heap as a whole: its start, walking over it, and every check of this layer in one call.
 * alloc/whole_heap.h says which thread may call each function.
 */
#include "alloc/whole_heap.h"

#include "alloc/release.h"
#include "alloc/large/span.h"
#include "alloc/pages/homes.h"
#include "alloc/pages/pool.h"
#include "alloc/pages/size_class.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"

bool sgc_heap_init(const struct sgc_heap_config *config)
{
    sgc_platform_init();
    sgc_size_classes_init();
    if (!sgc_heap_reserve(config))
        return false;
    sgc_homes_init();
    sgc_span_caches_init();
    sgc_kept_init();
    return sgc_pool_init();
}

/* ---- what is allocated ---- */

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

/* ---- the check ---- */

static void check_bin(const struct sgc_page *d)
{
    uint32_t bin = sgc_a32_load(&d->bin);

    sgc_verify(bin <= sgc_bin_watched(SGC_WATCH_DATED_HERE) || bin == sgc_bin_of_page(d->kind, d->cls));
    (void)bin;
}

/* A page that is in use is not in the pool. */
static void check_page(uint32_t page)
{
    const struct sgc_arena *arena = sgc_arena_of_page(page);
    bool in_pool = (arena->free & sgc_arena_bit(page)) != 0;
    uint8_t state = sgc_page_state(&sgc_heap.pages[page]);
    bool in_use = state == SGC_PAGE_SMALL || state == SGC_PAGE_SPAN;
    bool uncollectable = in_use && sgc_kind_uncollectable(sgc_heap.pages[page].kind);

    sgc_assert(sgc_page_ok(page));
    if (in_pool && state != SGC_PAGE_FREE)
        sgc_fatal("page %u is in the pool but %s", page, sgc_page_state_name(state));
    if (state != SGC_PAGE_SPAN && sgc_span_bit(page))
        sgc_fatal("page %u has the allocation bit of a span, but is %s", page, sgc_page_state_name(state));
    sgc_verify(uncollectable == ((sgc_aw_load(&arena->uncollectable) & sgc_arena_bit(page)) != 0));
    (void)uncollectable;
    sgc_page_check(page);
    if (state == SGC_PAGE_SMALL)
        check_bin(&sgc_heap.pages[page]);
}

void sgc_heap_check(void)
{
    uint32_t caches = sgc_a32_load(&sgc_cache_count);

    sgc_pool_check();
    sgc_lists_check(&sgc_spans.lists, SGC_NO_OWNER);
    sgc_orphan_check();
    for (uint32_t page = 1; page < sgc_pool.committed * SGC_ARENA_PAGES; page++)
        check_page(page);
    for (uint32_t id = 1; id < caches; id++)
        sgc_cache_check(sgc_cache_of(id));
}
