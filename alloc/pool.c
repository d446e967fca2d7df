/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: taking, giving and growing.  See alloc/pool.h for who may call what;
 * giving memory back is in alloc/decay.c.
 */
#include "alloc/pool.h"

#include <limits.h>

#include "alloc/page.h"
#include "alloc/verify.h"

SGC_STATE struct sgc_pool sgc_pool = { .lock = SGC_LOCK_INIT(SGC_RANK_POOL) };

static const uint64_t ALL_PAGES = UINT64_MAX;

/* ---- accounting: all under the lock ---- */

static size_t count_add(sgc_aw_t *count, size_t n)
{
    size_t now = sgc_aw_load(count) + n;

    sgc_aw_store(count, now);
    return now;
}

static bool within_limit(uint32_t fresh)
{
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t now = sgc_aw_load(&sgc_pool.in_use) + sgc_aw_load(&sgc_pool.dirty);

    return fresh <= limit && now <= limit - fresh;
}

/* Could `count` more pages be in use at all?  Asked before the heap grows for them. */
static bool may_use(uint32_t count)
{
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t now = sgc_aw_load(&sgc_pool.in_use);

    return count < sgc_heap.reserved / SGC_PAGE && now <= limit && count <= limit - now;
}

/* ---- finding a run ---- */

/* A run of free pages that is being followed upward through the arenas. */
struct run {
    uint32_t start, length, wanted;
};

/* Follows the run through one arena's word; true when it is long enough. */
static bool run_through(struct run *run, uint32_t first_page, uint64_t free)
{
    uint32_t bit = 0;

    while (bit < SGC_ARENA_PAGES) {
        uint64_t rest = free >> bit;
        uint32_t gap = rest == 0 ? SGC_ARENA_PAGES - bit : (uint32_t)__builtin_ctzll(rest);
        uint32_t ones;

        if (gap != 0) {
            run->length = 0;
            bit += gap;
            continue;
        }
        ones = ~rest == 0 ? SGC_ARENA_PAGES : (uint32_t)__builtin_ctzll(~rest);
        if (run->length == 0)
            run->start = first_page + bit;
        run->length += ones;
        if (run->length >= run->wanted)
            return true;
        bit += ones;
    }
    return false;
}

/* If there is none, *tail says how many free pages the committed arenas end with. */
static uint32_t find_run(uint32_t count, uint32_t *tail)
{
    struct run run = { .wanted = count };

    for (uint32_t a = sgc_pool.lowest; a < sgc_pool.committed; a++)
        if (run_through(&run, a * SGC_ARENA_PAGES, sgc_heap.arenas[a].free))
            return run.start;
    *tail = run.length;
    return SGC_NO_PAGE;
}

static void raise_lowest(void)
{
    while (sgc_pool.lowest < sgc_pool.committed && sgc_heap.arenas[sgc_pool.lowest].free == 0)
        sgc_pool.lowest++;
}

/* ---- moving pages in and out ---- */

static uint64_t bits_from(uint32_t bit, uint32_t count)
{
    return (count == SGC_ARENA_PAGES ? ALL_PAGES : (UINT64_C(1) << count) - 1) << bit;
}

/* Calls visit(arena, bits) for each arena that the pages [first, first+count) lie in; adds up. */
static uint32_t each_arena(uint32_t first, uint32_t count,
                           uint32_t (*visit)(struct sgc_arena *arena, uint64_t bits))
{
    uint32_t sum = 0;

    while (count != 0) {
        uint32_t bit = first % SGC_ARENA_PAGES;
        uint32_t here = SGC_ARENA_PAGES - bit < count ? SGC_ARENA_PAGES - bit : count;

        sum += visit(sgc_arena_of_page(first), bits_from(bit, here));
        first += here;
        count -= here;
    }
    return sum;
}

static uint32_t count_dirty(struct sgc_arena *arena, uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(arena->dirty & bits);
}

static uint32_t take_bits(struct sgc_arena *arena, uint64_t bits)
{
    uint32_t dirty = count_dirty(arena, bits);

    sgc_assert((arena->free & bits) == bits);
    arena->free &= ~bits;
    arena->dirty &= ~bits;
    return dirty;
}

static uint32_t give_bits(struct sgc_arena *arena, uint64_t bits)
{
    sgc_assert((arena->free & bits) == 0);
    arena->free |= bits;
    arena->dirty |= bits;
    return 0;
}

static void take_run(uint32_t first, uint32_t count, bool *zero)
{
    uint32_t dirty = each_arena(first, count, take_bits);

    *zero = dirty == 0;
    count_add(&sgc_pool.dirty, -(size_t)dirty);
    count_add(&sgc_pool.in_use, count);
    raise_lowest();
}

void sgc_pool_give(uint32_t first, uint32_t count, struct sgc_section *self)
{
    uint64_t now = sgc_clock_ns();

    sgc_lock(&sgc_pool.lock, self);
    sgc_assert(sgc_page_state(&sgc_heap.pages[first]) == SGC_PAGE_FREE);
    each_arena(first, count, give_bits);
    for (uint32_t a = first / SGC_ARENA_PAGES; a <= (first + count - 1) / SGC_ARENA_PAGES; a++)
        sgc_heap.arenas[a].freed_at = now;
    count_add(&sgc_pool.dirty, count);
    count_add(&sgc_pool.in_use, -(size_t)count);
    if (first / SGC_ARENA_PAGES < sgc_pool.lowest)
        sgc_pool.lowest = first / SGC_ARENA_PAGES;
    sgc_unlock(&sgc_pool.lock, self);
}

/* ---- growing ---- */

/* Under the lock: becomes the one that grows, or waits for the one that does (the lock is then
 * given up and the world may have changed).  True when it is us. */
static bool begin_growing(struct sgc_section *self)
{
    uint32_t seen = sgc_a32_load(&sgc_pool.grown);

    if (!sgc_pool.growing) {
        sgc_pool.growing = true;
        return true;
    }
    sgc_unlock(&sgc_pool.lock, self);
    sgc_wait(&sgc_pool.grown, seen, 1000000);
    sgc_lock(&sgc_pool.lock, self);
    return false;
}

static void publish_arena(uint32_t arena)
{
    struct sgc_arena *a = &sgc_heap.arenas[arena];

    a->free = arena == 0 ? ALL_PAGES & ~UINT64_C(1) : ALL_PAGES;    /* page 0 means "no page" */
    a->dirty = 0;
    sgc_pool.committed = arena + 1;
    sgc_aw_store_rel(&sgc_heap.limit, (size_t)(arena + 1) * SGC_ARENA);
}

/* Commits `want` arenas, or `need` if the system refuses so many, outside the lock, as the only one
 * who grows.  Less than is needed would only be charged to the process and serve nobody. */
static uint32_t grow(uint32_t need, uint32_t want, struct sgc_section *self)
{
    uint32_t first = sgc_pool.committed;
    uint32_t done = want;

    sgc_unlock(&sgc_pool.lock, self);
    if (!sgc_heap_commit_arenas(first, want))
        done = want != need && sgc_heap_commit_arenas(first, need) ? need : 0;
    sgc_lock(&sgc_pool.lock, self);
    for (uint32_t i = 0; i < done; i++)
        publish_arena(first + i);
    sgc_pool.growing = false;
    sgc_a32_add(&sgc_pool.grown, 1);
    sgc_wake(&sgc_pool.grown, INT_MAX);
    return done;
}

static uint32_t arenas_left(void)
{
    return (uint32_t)(sgc_heap.reserved / SGC_ARENA) - sgc_pool.committed;
}

/* A bigger heap grows in bigger steps: an eighth of itself, at most 64 arenas. */
static uint32_t growth_for(uint32_t need)
{
    uint32_t step = sgc_pool.committed / 8 < 64 ? sgc_pool.committed / 8 : 64;
    uint32_t want = need > step ? need : step;

    return want < arenas_left() ? want : arenas_left();
}

/* Under the lock: a run within the committed arenas, or growth and another look.  The run may begin in
 * the free end of what is committed. */
static uint32_t find_or_grow(uint32_t count, struct sgc_section *self)
{
    for (;;) {
        uint32_t tail;
        uint32_t first = find_run(count, &tail);
        uint32_t need;

        if (first != SGC_NO_PAGE)
            return first;
        need = (count - tail + SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES;
        if (need > arenas_left())
            return SGC_NO_PAGE;
        if (begin_growing(self) && grow(need, growth_for(need), self) == 0)
            return find_run(count, &tail);
    }
}

uint32_t sgc_pool_take(uint32_t count, struct sgc_section *self, bool *zero)
{
    uint32_t first = SGC_NO_PAGE;

    sgc_assert(count > 0);
    sgc_lock(&sgc_pool.lock, self);
    if (may_use(count))
        first = find_or_grow(count, self);
    if (first != SGC_NO_PAGE && !within_limit(count - each_arena(first, count, count_dirty)))
        first = SGC_NO_PAGE;
    if (first != SGC_NO_PAGE)
        take_run(first, count, zero);
    sgc_unlock(&sgc_pool.lock, self);
    return first;
}

bool sgc_pool_expand(size_t pages, struct sgc_section *self)
{
    uint32_t want = (uint32_t)((pages + SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES);
    uint32_t done = 0;

    if (pages > sgc_heap.reserved / SGC_PAGE)
        return false;
    sgc_lock(&sgc_pool.lock, self);
    if (within_limit((uint32_t)pages)) {
        while (!begin_growing(self))
            continue;
        if (want <= arenas_left())
            done = grow(want, want, self);
        sgc_pool.growing = false;
    }
    sgc_unlock(&sgc_pool.lock, self);
    return done == want;
}

/* ---- start, limits, figures ---- */

bool sgc_pool_init(void)
{
    sgc_pool_set_limit(sgc_heap.config.limit);
    if (!sgc_heap_commit_arenas(0, 1)) {
        sgc_error("the system refuses to commit the first %zu bytes of the heap; free memory or "
                  "raise the limit on it (ulimit -v, ulimit -l under mlockall, the cgroup)",
                  (size_t)SGC_ARENA);
        return false;
    }
    publish_arena(0);
    return true;
}

void sgc_pool_set_limit(size_t bytes)
{
    size_t pages = bytes / SGC_PAGE;

    sgc_aw_store(&sgc_pool.limit, bytes == 0 ? SIZE_MAX : pages == 0 ? 1 : pages);
}

size_t sgc_pool_in_use_bytes(void)
{
    return sgc_aw_load(&sgc_pool.in_use) * SGC_PAGE;
}

size_t sgc_pool_dirty_bytes(void)
{
    return sgc_aw_load(&sgc_pool.dirty) * SGC_PAGE;
}

size_t sgc_pool_heap_bytes(void)
{
    return sgc_pool_in_use_bytes() + sgc_pool_dirty_bytes();
}

static size_t check_arena(uint32_t a)
{
    const struct sgc_arena *arena = &sgc_heap.arenas[a];

    sgc_verify((arena->dirty & ~arena->free) == 0);
    sgc_verify(a >= sgc_pool.lowest || arena->free == 0);
    for (uint32_t bit = 0; bit < SGC_ARENA_PAGES; bit++)
        if (arena->free >> bit & 1)
            sgc_verify(sgc_page_state(&sgc_heap.pages[a * SGC_ARENA_PAGES + bit]) == SGC_PAGE_FREE);
    return (size_t)__builtin_popcountll(arena->dirty);
}

void sgc_pool_check(void)
{
    size_t dirty = 0, used = 0;

    for (uint32_t a = 0; a < sgc_pool.committed; a++) {
        dirty += check_arena(a);
        used += (size_t)__builtin_popcountll(~sgc_heap.arenas[a].free);
    }
    sgc_verify(dirty == sgc_aw_load(&sgc_pool.dirty));
    sgc_verify(used == sgc_aw_load(&sgc_pool.in_use) + sgc_pool.discarding + 1);    /* page 0 is nobody's */
    (void)dirty;
    (void)used;
}

void sgc_pool_after_fork(void)
{
    sgc_lock_reset(&sgc_pool.lock);
    sgc_pool.growing = false;
}
