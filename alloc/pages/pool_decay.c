/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: giving memory back to the system.  alloc/pages/pool.h says which thread
 * may call each function.
 *
 * Runs on the service thread; on a thread that asked for it (GC_gcollect_and_unmap); and on a
 * thread that allocates, when the heap may not grow and free pages with contents may be in the way
 * (sgc_policy_take_pages); in a plain malloc on threads that free (malloc/give_back.h).
 *
 * The pages of one arena that are due leave the pool while they are discarded, outside the lock,
 * and come back as pages without contents, on no thread's list.  The mapping stays as it is:
 * protection and binding are kept; it is split only where huge pages end.
 */
#include "alloc/pages/pool.h"

#include "alloc/pages/huge_pages.h"
#include "alloc/pages/live_pages.h"
#include "alloc/pages/page.h"

enum { DUE_STEP = 64 };         /* arenas among which one is sought that is due */

/* Takes an arena's dirty pages out of the pool if they are due. */
static uint64_t take_due(uint32_t a, uint64_t oldest, bool whole_only, struct sgc_section *self)
{
    struct sgc_arena *arena = &sgc_heap.arenas[a];
    uint64_t due = 0;

    sgc_assert(a < sgc_heap.reserved / SGC_ARENA);
    sgc_lock(&sgc_pool.lock, self);
    if (arena->dirty != 0 && arena->freed_at <= oldest && (!whole_only || ~arena->free == 0)) {
        due = arena->dirty;
        sgc_pool_unlist(a, due);
        arena->free &= ~due;
        arena->dirty = 0;
        sgc_pool_count_home(arena, -__builtin_popcountll(due), 0);
        sgc_pool.discarding += (uint32_t)__builtin_popcountll(due);
        sgc_pool_transit_begin((uint32_t)__builtin_popcountll(due));
        sgc_aw_store(&sgc_pool.dirty,
                     sgc_aw_load(&sgc_pool.dirty) - (size_t)__builtin_popcountll(due));
    }
    sgc_unlock(&sgc_pool.lock, self);
    return due;
}

/* True if nothing of the arena is backed any more. */
static bool put_back(uint32_t a, uint64_t pages, uint64_t kept, struct sgc_section *self)
{
    struct sgc_arena *arena = &sgc_heap.arenas[a];
    bool bare;

    sgc_lock(&sgc_pool.lock, self);
    sgc_assert((arena->free & pages) == 0 && (kept & ~pages) == 0);
    sgc_assert(sgc_pool.discarding >= (uint32_t)__builtin_popcountll(pages));
    arena->free |= pages;
    arena->dirty |= kept;
    sgc_pool_count_home(arena, __builtin_popcountll(kept), __builtin_popcountll(pages & ~kept));
    sgc_pool.discarding -= (uint32_t)__builtin_popcountll(pages);
    sgc_aw_store(&sgc_pool.dirty,
                 sgc_aw_load(&sgc_pool.dirty) + (size_t)__builtin_popcountll(kept));
    if (kept != 0)
        arena->freed_at = sgc_clock_ns();
    sgc_pool_note_arena(a);
    bare = ~arena->free == 0 && arena->dirty == 0;
    sgc_unlock(&sgc_pool.lock, self);
    return bare;
}

static void unsettle(uint32_t a, uint64_t pages)
{
    for (; pages != 0; pages &= pages - 1)
        sgc_page_unsettle(a * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(pages));
}

/* Discards each run of set bits; returns the pages that the system would not take (locked
 * memory). */
static uint64_t discard(uint32_t a, uint64_t pages)
{
    uint64_t kept = 0;

    while (pages != 0) {
        uint32_t bit = (uint32_t)__builtin_ctzll(pages);
        uint64_t ones = ~(pages >> bit);
        uint32_t count = ones == 0 ? SGC_ARENA_PAGES : (uint32_t)__builtin_ctzll(ones);
        uint64_t run = (count == SGC_ARENA_PAGES ? UINT64_MAX : (UINT64_C(1) << count) - 1) << bit;
        void *start = (void *)sgc_page_start(a * SGC_ARENA_PAGES + bit);

        sgc_assert(sgc_page_ok(a * SGC_ARENA_PAGES + bit) && (run & pages) == run);
        if (sgc_mem_discard(start, (size_t)count * SGC_PAGE))
            unsettle(a, run);
        else
            kept |= run;
        pages &= ~run;
    }
    return kept;
}

/* False: nothing of it goes back. */
static bool decay_arena(uint32_t a, uint64_t oldest, bool whole_only, struct sgc_section *self)
{
    uint64_t due = take_due(a, oldest, whole_only, self);
    uint64_t kept;
    bool bare;

    if (due == 0)
        return false;
    sgc_test_point();
    kept = discard(a, due);
    sgc_assert((kept & ~due) == 0);
    bare = put_back(a, due, kept, self);
    sgc_pool_transit_end((uint32_t)__builtin_popcountll(due));
    sgc_aw_add(&sgc_pool.returned, (size_t)__builtin_popcountll(due & ~kept) * SGC_PAGE);
    if (due == kept)
        return false;
    sgc_huge_pages_given_back(a, bare);
    sgc_live_pages_renew();
    return true;
}

/* When the arena that has waited longest will be due. */
static uint64_t next_due(uint64_t age, struct sgc_section *self)
{
    uint64_t oldest = UINT64_MAX;

    sgc_lock(&sgc_pool.lock, self);
    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        if (sgc_heap.arenas[a].dirty != 0 && sgc_heap.arenas[a].freed_at < oldest)
            oldest = sgc_heap.arenas[a].freed_at;
    sgc_unlock(&sgc_pool.lock, self);
    return oldest == UINT64_MAX ? UINT64_MAX : oldest + age;
}

uint64_t sgc_pool_decay(uint64_t now, uint64_t age, uint32_t arenas, struct sgc_section *self)
{
    if (age == UINT64_MAX)
        return UINT64_MAX;
    if (now < age)
        return age;
    for (int whole_only = 1; whole_only >= 0; whole_only--)
        for (uint32_t a = (uint32_t)(sgc_aw_load_acq(&sgc_heap.limit) / SGC_ARENA); a-- > 0;) {
            if (arenas == 0)
                return now;
            if (decay_arena(a, now - age, whole_only, self))
                arenas--;
        }
    return next_due(age, self);
}

/* The number of the first of a few arenas that has pages which are due, plus one; 0: none has. */
static uint32_t find_due(uint32_t *arena, uint64_t oldest, struct sgc_section *self)
{
    uint32_t due = 0;

    sgc_lock(&sgc_pool.lock, self);
    for (uint32_t i = 0; i < DUE_STEP && due == 0; i++) {
        *arena = *arena < sgc_pool.committed ? *arena : 0;
        if (sgc_heap.arenas[*arena].dirty != 0 && sgc_heap.arenas[*arena].freed_at <= oldest)
            due = *arena + 1;
        ++*arena;
    }
    sgc_unlock(&sgc_pool.lock, self);
    return due;
}

void sgc_pool_decay_next(uint64_t now, uint64_t age, uint32_t *arena, struct sgc_section *self)
{
    uint32_t due = now >= age ? find_due(arena, now - age, self) : 0;

    sgc_assert(age != UINT64_MAX);
    if (due != 0)
        decay_arena(due - 1, now - age, false, self);
}
