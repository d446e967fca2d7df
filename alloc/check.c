/* SPDX-License-Identifier: MIT */
/*
 * Every check of this layer in one call.  World stopped.
 */
#include "alloc/check.h"

#include "alloc/small/cache.h"
#include "alloc/small/orphan.h"
#include "alloc/pages/pool.h"
#include "alloc/large/span.h"
#include "platform/report.h"

static void check_bin(const struct sgc_page *d)
{
    uint32_t bin = sgc_a32_load(&d->bin);

    sgc_verify(bin == SGC_BIN_FREES_SLOWLY || bin == sgc_bin_of_page(d->kind, d->cls));
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
    sgc_span_check();
    sgc_orphan_check();
    for (uint32_t page = 1; page < sgc_pool.committed * SGC_ARENA_PAGES; page++)
        check_page(page);
    for (uint32_t id = 1; id < caches; id++)
        sgc_cache_check(sgc_cache_of(id));
}
