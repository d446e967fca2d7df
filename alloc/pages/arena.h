/* SPDX-License-Identifier: MIT */
/*
 * Arenas: sixty-four pages, each a bit of the words that say in which state they are.
 * Which word is written by whom: alloc/pages/pool.h.
 */
#ifndef SGC_ALLOC_PAGES_ARENA_H
#define SGC_ALLOC_PAGES_ARENA_H

#include "alloc/pages/heap.h"

/* Free pages of one sort: what a single page is looked for among. */
enum sgc_pool_sort {
    SGC_POOL_USED,             /* with contents */
    SGC_POOL_NOBODYS,           /* of these, on no list */
    SGC_POOL_CLEAN,             /* without contents */
    SGC_POOL_SORTS
};

struct sgc_arena {
    uint64_t free;              /* pages nobody uses */
    uint64_t dirty;             /* of these, the ones with contents */
    uint64_t freed_at;          /* when a page last became free, ns */
    sgc_aw_t uncollectable;     /* pages of uncollectable kinds */
    sgc_aw_t rescan;            /* pages whose marked objects must be scanned again */
    uint64_t listed;            /* of the dirty ones, those on some thread's free page list */
    uint64_t spare[2];          /* a cache line each: two words above are written by all */
};
_Static_assert(sizeof(struct sgc_arena) == 64, "one cache line");

static inline struct sgc_arena *sgc_arena_of_page(uint32_t page)
{
    sgc_assert(page < sgc_heap.reserved / SGC_PAGE);
    return &sgc_heap.arenas[page / SGC_ARENA_PAGES];
}

static inline uintptr_t sgc_arena_bit(uint32_t page)
{
    return (uintptr_t)1 << (page % SGC_ARENA_PAGES);
}

/* The word of the span bits in that role which has the page's bit, sgc_arena_bit(page). */
static inline sgc_aw_t *sgc_span_word(uint32_t page, uint32_t role)
{
    sgc_assert(role <= 1);
    return &sgc_heap.span_bits[2 * (page / SGC_ARENA_PAGES) + role];
}

/* Free pages of one arena. */
static inline uint64_t sgc_pool_pages_of(const struct sgc_arena *arena, enum sgc_pool_sort sort)
{
    if (sort == SGC_POOL_CLEAN)
        return arena->free & ~arena->dirty;
    return sort == SGC_POOL_USED ? arena->dirty : arena->dirty & ~arena->listed;
}

#endif
