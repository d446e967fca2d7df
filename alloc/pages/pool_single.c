/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: single pages, taken from where the page rule says and given back to the
 * list of the thread that had them last.  alloc/pages/pool.h says which thread may call each
 * function.
 */
#include "alloc/pages/pool.h"

#include "alloc/pages/page_lists.h"
#include "alloc/pages/homes.h"
#include "alloc/pages/live_pages.h"
#include "alloc/pages/page.h"

/* ---- finding one page ---- */

static bool any_of(uint32_t home, enum sgc_pool_sort sort)
{
    const struct sgc_pool_home *h = &sgc_pool.home[home];

    if (sort == SGC_POOL_CLEAN)
        return h->clean != 0;
    return sort == SGC_POOL_USED ? h->used != 0 : h->used != sgc_free_list_listed(home);
}

/* There is one. */
static uint32_t find_lowest(uint32_t home, enum sgc_pool_sort sort)
{
    uint32_t *a = &sgc_pool.home[home].lowest_of[sort];

    sgc_assert(sgc_lock_taken(&sgc_pool.lock) && home < sgc_heap.homes);
    while (sgc_pool_pages_of(&sgc_heap.arenas[*a], sort) == 0 || sgc_heap.arenas[*a].home != home) {
        ++*a;
        sgc_assert(*a < sgc_pool.committed);
    }
    return *a * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(sgc_pool_pages_of(&sgc_heap.arenas[*a], sort));
}

static inline uint32_t lowest_page(uint32_t home, enum sgc_pool_sort sort)
{
    return any_of(home, sort) ? find_lowest(home, sort) : SGC_NO_PAGE;
}

/* Threads of different nodes begin to look at different ones. */
static uint32_t lowest_far_page(uint32_t near, enum sgc_pool_sort sort)
{
    for (uint32_t i = 1; i < sgc_heap.homes; i++) {
        uint32_t page = lowest_page((near + i) % sgc_heap.homes, sort);

        if (page != SGC_NO_PAGE)
            return page;
    }
    return SGC_NO_PAGE;
}

static uint32_t lowest_page_of_all(enum sgc_pool_sort sort)
{
    uint32_t lowest = lowest_page(0, sort);

    for (uint32_t home = 1; home < sgc_heap.homes; home++) {
        uint32_t page = lowest_page(home, sort);

        if (lowest == SGC_NO_PAGE || (page != SGC_NO_PAGE && page < lowest))
            lowest = page;
    }
    return lowest;
}

/* ---- taking one page ---- */

/* Under the lock: a page without contents, growing the heap if need be. */
static uint32_t clean_page(uint32_t home, struct sgc_section *self)
{
    while (sgc_pool_within_limit(1)) {
        uint32_t page = lowest_page(home, SGC_POOL_CLEAN);

        if (page != SGC_NO_PAGE || !sgc_pool_more(1, true, home, self))
            return page;
    }
    return SGC_NO_PAGE;
}

/* The lowest one if all are its own, so that a heap without spare pages stays as small as it
 * can. */
static uint32_t own_page(uint32_t owner)
{
    uint32_t count = sgc_free_list_count(owner);

    sgc_assert(owner < SGC_OWNERS_MAX);
    if (count == 0)
        return SGC_NO_PAGE;
    return count == sgc_aw_load(&sgc_pool.dirty) ? lowest_page_of_all(SGC_POOL_USED) : sgc_free_list_first(owner);
}

/* `near`: the asking thread's node. */
static uint32_t page_from(enum sgc_page_source source, uint32_t owner, uint32_t near, struct sgc_section *self)
{
    switch (source) {
    case SGC_SOURCE_OWN:
        return own_page(owner);
    case SGC_SOURCE_NOBODYS:
        return lowest_page(near, SGC_POOL_NOBODYS);
    case SGC_SOURCE_ANY:
        return lowest_page_of_all(SGC_POOL_USED);
    case SGC_SOURCE_OTHERS:
        return sgc_free_list_last_of_richest(near);
    case SGC_SOURCE_FRESH:
        return clean_page(near, self);
    case SGC_SOURCE_NOBODYS_FAR:
        return lowest_far_page(near, SGC_POOL_NOBODYS);
    case SGC_SOURCE_OTHERS_FAR:
        return sgc_free_list_last_of_richest_far(near);
    case SGC_SOURCE_FRESH_FAR:
        return sgc_pool_within_limit(1) ? lowest_far_page(near, SGC_POOL_CLEAN) : SGC_NO_PAGE;
    default:
        return SGC_NO_PAGE;
    }
}

/* Spans are outside the policies: the pages in use by threads are those taken one by one. */
static struct sgc_page_order order_now(void)
{
    struct sgc_page_supply supply = {
        .consumed = sgc_aw_load(&sgc_pool.small) + sgc_aw_load(&sgc_pool.dirty),
        .max_live = sgc_live_pages_max(),
        .near_and_far = sgc_heap.homes > 1,
    };

    return sgc_page_order(&sgc_heap.config.page_rule, &supply);
}

static void note_taken(uint32_t page, uint32_t owner, uint32_t near, enum sgc_page_source source)
{
    uint32_t last = sgc_free_list_of(page);

    sgc_assert(sgc_page_ok(page) && source < SGC_SOURCES);
    sgc_pool_count(&sgc_pool.small, 1);
    sgc_pool_count(&sgc_pool.taken[source], 1);
    sgc_pool_count(&sgc_pool.remote, last != SGC_NO_OWNER && last != owner);
    sgc_pool_count(&sgc_pool.foreign, sgc_page_settle(page, owner));
    if (sgc_arena_of_page(page)->home != near)
        sgc_pool_count(&sgc_pool.far, 1);
}

/* Under the lock. */
static bool take_one(uint32_t owner, uint32_t near, struct sgc_taken *taken, struct sgc_section *self)
{
    struct sgc_page_order order = order_now();

    sgc_assert(sgc_lock_taken(&sgc_pool.lock));
    for (int i = 0; sgc_pool_may_use(1) && order.source[i] != SGC_SOURCE_NONE; i++) {
        taken->page = page_from(order.source[i], owner, near, self);
        if (taken->page == SGC_NO_PAGE)
            continue;
        note_taken(taken->page, owner, near, order.source[i]);
        sgc_pool_take_run(taken->page, 1, &taken->zero);
        return true;
    }
    return false;
}

uint32_t sgc_pool_take_singles(uint32_t owner, uint32_t max, struct sgc_taken *taken, struct sgc_section *self)
{
    uint32_t n = 0, near = sgc_home_here();

    sgc_assert(owner < SGC_OWNERS_MAX && max != 0);
    sgc_lock(&sgc_pool.lock, self);
    if (sgc_heap.homes > 1)
        sgc_free_list_settle(owner, near);
    while (n < max && take_one(owner, near, &taken[n], self))
        n++;
    sgc_unlock(&sgc_pool.lock, self);
    return n;
}

/* ---- giving ---- */

/* As sgc_pool_give_run, for a page that was made ready and never used: it has still no contents, so
 * it is near to nobody, and nothing has to go back to the system. */
static void give_untouched(uint32_t page)
{
    struct sgc_arena *arena = sgc_arena_of_page(page);

    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_FREE);
    sgc_assert((arena->free & sgc_arena_bit(page)) == 0);
    sgc_page_unsettle(page);
    arena->free |= sgc_arena_bit(page);
    sgc_pool_count_home(arena, 0, 1);
    sgc_pool_note_arena(page / SGC_ARENA_PAGES);
    sgc_pool_count(&sgc_pool.in_use, (size_t)-1);
}

void sgc_pool_give_singles(const uint32_t *pages, uint32_t count, uint32_t owner, struct sgc_section *self)
{
    uint64_t now = sgc_clock_ns();

    sgc_assert(owner < SGC_OWNERS_MAX && count <= sgc_aw_load(&sgc_pool.small));
    sgc_lock(&sgc_pool.lock, self);
    for (uint32_t i = 0; i < count; i++)
        if (sgc_heap.records[pages[i]].zero_from == 0)
            give_untouched(pages[i]);
        else
            sgc_pool_give_run(pages[i], 1, owner, now);
    sgc_pool_count(&sgc_pool.small, -(size_t)count);
    sgc_unlock(&sgc_pool.lock, self);
}

bool sgc_pool_forget_owner(uint32_t owner, uint32_t max, struct sgc_section *self)
{
    uint32_t page;

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX);
    sgc_lock(&sgc_pool.lock, self);
    for (; max > 0 && (page = sgc_free_list_first(owner)) != SGC_NO_PAGE; max--) {
        sgc_free_list_remove(page);
        sgc_pool_note_arena(page / SGC_ARENA_PAGES);
    }
    page = sgc_free_list_first(owner);
    sgc_unlock(&sgc_pool.lock, self);
    return page != SGC_NO_PAGE;
}
