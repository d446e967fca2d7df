/* SPDX-License-Identifier: MIT */
/*
 * The pages of the heap, as the sections of a heap snapshot go through them: by the thread that has
 * stopped the world, the caches retired.
 */
#ifndef SGC_GC_SNAPSHOT_HEAP_PAGES_H
#define SGC_GC_SNAPSHOT_HEAP_PAGES_H

#include "alloc/large/span.h"
#include "alloc/pages/page.h"
#include "alloc/pages/pool.h"
#include "gc/snapshot/blocks.h"

/* Fills `live` with a page's bits of allocated objects, at their first granules; how many there
 * are. */
static inline uint32_t sgc_snapshot_live(uint32_t page, uint64_t live[SGC_PAGE_WORDS])
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t first = (size_t)page * SGC_PAGE_WORDS;
    bool remote = sgc_a8_load_acq(&d->remote) != 0;
    uint32_t count = 0;

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && d->granules != 0);
    for (size_t w = 0; w < SGC_PAGE_WORDS; w++) {
        live[w] = sgc_aw_load(sgc_bits_word(first + w, sgc_heap.alloc_role));
        if (remote)
            live[w] &= ~sgc_aw_load(&sgc_heap.remote_bits[first + w]);
        count += (uint32_t)__builtin_popcountll(live[w]);
    }
    return count;
}

/* There is such a page, and a file without an error. */
static inline bool sgc_snapshot_goes_on(uint32_t page)
{
    return page < sgc_pool.committed * SGC_ARENA_PAGES && sgc_blocks_go_on();
}

/* Hands fn(arg, d, start, bytes) each object of a page of small ones, whose bits `live` has. */
typedef void (*sgc_snapshot_object_t)(void *arg, const struct sgc_page *d, uintptr_t start, size_t bytes);

__attribute__((always_inline))
static inline void sgc_snapshot_each(uint32_t page, const uint64_t live[SGC_PAGE_WORDS], sgc_snapshot_object_t fn, void *arg)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL);
    for (uint32_t w = 0; w < SGC_PAGE_WORDS; w++)
        for (uint64_t bits = live[w]; bits != 0; bits &= bits - 1) {
            uint32_t granule = w * 64 + (uint32_t)__builtin_ctzll(bits);

            fn(arg, d, sgc_page_start(page) + (size_t)granule * SGC_GRANULE, (size_t)d->granules * SGC_GRANULE);
        }
}

#endif
