/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: its limit, its figures, pages on their way to it, its check, and fork.
 * alloc/pages/pool.h says which thread may call each function; any thread may read the counts and
 * write the limit.
 */
#include "alloc/pages/pool.h"

#include <limits.h>

#include "alloc/pages/page.h"
#include "platform/report.h"

void sgc_pool_set_limit(size_t bytes)
{
    size_t pages = bytes / SGC_PAGE;

    sgc_aw_store(&sgc_pool.limit, bytes == 0 ? SIZE_MAX : pages == 0 ? 1 : pages);
}

size_t sgc_pool_in_use_bytes(void)
{
    return sgc_aw_load(&sgc_pool.in_use) * SGC_PAGE;
}

size_t sgc_pool_used_bytes(void)
{
    return sgc_aw_load(&sgc_pool.dirty) * SGC_PAGE;
}

size_t sgc_pool_heap_bytes(void)
{
    return sgc_pool_in_use_bytes() + sgc_pool_used_bytes();
}

/* ---- on their way, in the hands of a thread that sweeps or gives memory back ---- */

enum { AWAITED = 1, ONE_PAGE = 2 };

void sgc_pool_transit_begin(uint32_t count)
{
    sgc_assert(count != 0);
    sgc_a32_add(&sgc_pool.coming, count * ONE_PAGE);
}

/* The thread that finds that others have come in between leaves the bit to them. */
void sgc_pool_transit_end(uint32_t count)
{
    uint32_t before = sgc_a32_add(&sgc_pool.coming, -count * ONE_PAGE);

    sgc_assert(before >= count * ONE_PAGE);
    if (before - count * ONE_PAGE == AWAITED && sgc_a32_cas(&sgc_pool.coming, AWAITED, 0))
        sgc_wake(&sgc_pool.coming, INT_MAX);
}

/* The sleep counts as stopped, since who has them may be stopped before the pool has them. */
void sgc_pool_transit_wait(struct sgc_section *self)
{
    sgc_assert(self == NULL || !sgc_section_inside(self));
    for (;;) {
        uint32_t seen = sgc_a32_load_acq(&sgc_pool.coming);

        if (seen < ONE_PAGE)
            return;
        if ((seen & AWAITED) || sgc_a32_cas(&sgc_pool.coming, seen, seen | AWAITED))
            sgc_section_sleep(self, &sgc_pool.coming, seen | AWAITED);
    }
}

/* ---- the check ---- */

static void check_free_page(uint32_t page, bool has_contents)
{
    sgc_verify(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_FREE);
    sgc_verify(has_contents || sgc_heap.records[page].home == SGC_NO_OWNER);
}

static size_t check_arena(uint32_t a)
{
    const struct sgc_arena *arena = &sgc_heap.arenas[a];

    sgc_verify(sgc_pool_arena_ok(a));
    for (int sort = 0; sort < SGC_POOL_SORTS; sort++)
        sgc_verify(a >= sgc_pool.home[arena->home].lowest_of[sort] || sgc_pool_pages_of(arena, (enum sgc_pool_sort)sort) == 0);
    for (uint32_t bit = 0; bit < SGC_ARENA_PAGES; bit++)
        if (arena->free >> bit & 1)
            check_free_page(a * SGC_ARENA_PAGES + bit, arena->dirty >> bit & 1);
    return (size_t)__builtin_popcountll(arena->dirty);
}

/* The counts of a home are those of its arenas. */
static void check_home(uint32_t home)
{
    size_t used = 0, clean = 0;

    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        if (sgc_heap.arenas[a].home == home) {
            used += (size_t)__builtin_popcountll(sgc_pool_pages_of(&sgc_heap.arenas[a], SGC_POOL_USED));
            clean += (size_t)__builtin_popcountll(sgc_pool_pages_of(&sgc_heap.arenas[a], SGC_POOL_CLEAN));
        }
    sgc_verify(used == sgc_pool.home[home].used && clean == sgc_pool.home[home].clean);
    (void)used;
    (void)clean;
}

void sgc_pool_check(void)
{
    size_t dirty = 0, used = 0;

    for (uint32_t a = 0; a < sgc_pool.committed; a++) {
        dirty += check_arena(a);
        used += (size_t)sgc_heap.arenas[a].there - (size_t)__builtin_popcountll(sgc_heap.arenas[a].free);
    }
    sgc_verify(dirty == sgc_aw_load(&sgc_pool.dirty));
    sgc_verify(used == sgc_aw_load(&sgc_pool.in_use) + sgc_pool.discarding + 1);    /* page 0 is nobody's */
    sgc_verify(sgc_aw_load(&sgc_pool.small) <= sgc_aw_load(&sgc_pool.in_use));
    for (uint32_t home = 0; home < sgc_heap.homes; home++)
        check_home(home);
    sgc_free_lists_check(sgc_pool.committed);
    (void)dirty;
    (void)used;
}

/* ---- fork ---- */

void sgc_pool_after_fork(void)
{
    sgc_lock_reset(&sgc_pool.lock);
    sgc_pool.growing = false;
    sgc_a32_store(&sgc_pool.coming, 0);
}

/* Is it a page that was in the hands of a thread which does not exist here, or in reserve for the
 * next pause?  It exists, nobody uses it, and the pool does not have it. */
static bool is_lost(uint32_t page)
{
    uint8_t state = sgc_page_state(&sgc_heap.pages[page]);

    sgc_assert(sgc_page_ok(page));
    return page % SGC_ARENA_PAGES < sgc_arena_of_page(page)->there && state != SGC_PAGE_SMALL && state != SGC_PAGE_SPAN &&
           (sgc_arena_of_page(page)->free & sgc_arena_bit(page)) == 0;
}

/* How many pages on the next one to be looked at is: free arenas and spans are passed over. */
static uint32_t stride_at(uint32_t page)
{
    if (page % SGC_ARENA_PAGES == 0 && ~sgc_arena_of_page(page)->free == 0)
        return SGC_ARENA_PAGES;
    return sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN ? sgc_heap.records[page].span_pages : 1;
}

/* Pages that were being discarded were counted neither as used nor as free. */
void sgc_pool_take_back_lost(void)
{
    uint32_t pages = sgc_pool.committed * SGC_ARENA_PAGES;
    uint64_t now = sgc_clock_ns();
    size_t small = 0;

    sgc_pool_count(&sgc_pool.in_use, sgc_pool.discarding);
    sgc_pool.discarding = 0;
    for (uint32_t page = 1, stride; page < pages; page += stride) {
        stride = stride_at(page);
        small += sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL;
        if (!is_lost(page))
            continue;
        sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_FREE);
        sgc_pool_give_run(page, 1, SGC_NO_OWNER, now);
    }
    sgc_aw_store(&sgc_pool.small, small);
}
