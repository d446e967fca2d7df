/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: taking and giving runs.  alloc/pages/pool.h says which thread may call
 * each function.  Single pages are in alloc/pages/pool_single.c, growing in
 * alloc/pages/pool_grow.c, giving memory back to the system in alloc/pages/pool_decay.c, figures
 * and checks in alloc/pages/pool_state.c.
 */
#include "alloc/pages/pool.h"

#include "alloc/pages/homes.h"
#include "alloc/pages/page.h"

SGC_STATE struct sgc_pool sgc_pool = { .lock = SGC_LOCK_INIT(SGC_RANK_POOL) };

enum {
    UNLIST_ARENAS = 4,          /* whose listed pages are taken off their lists under the lock at a
                                 * time */
    USES_MAX = 4,              /* a span of fewer pages may leave half of them unused */
};

/* ---- accounting: all under the lock ---- */

bool sgc_pool_within_limit(uint32_t fresh)
{
    size_t limit = sgc_aw_load(&sgc_pool.limit);
    size_t now = sgc_aw_load(&sgc_pool.in_use) + sgc_aw_load(&sgc_pool.dirty);

    return fresh <= limit && now <= limit - fresh;
}

/* ---- finding a run ---- */

/* A run of free pages that is being followed upward through the arenas. */
struct run {
    uint32_t start, length, wanted;
};

/* Follows the run through the first bits of one arena's word; true when it is long enough. */
static bool run_through(struct run *run, uint32_t first_page, uint64_t free, uint32_t bits)
{
    uint32_t bit = 0;

    sgc_assert(run->wanted != 0 && run->length < run->wanted && bits <= SGC_ARENA_PAGES);
    while (bit < bits) {
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

/* If there is none, *tail says how many free pages the committed arenas end with.  The rest of the
 * last one comes next. */
static uint32_t find_run(uint32_t count, uint32_t *tail)
{
    struct run run = { .wanted = count };

    sgc_assert(count != 0);
    for (uint32_t a = sgc_pool.lowest; a < sgc_pool.committed; a++) {
        uint32_t first = a * SGC_ARENA_PAGES, left = sgc_pool.pages - first;

        if (run_through(&run, first, sgc_heap.arenas[a].free, left < SGC_ARENA_PAGES ? left : SGC_ARENA_PAGES))
            return run.start;
    }
    *tail = run.length;
    return SGC_NO_PAGE;
}

static void raise_lowest(void)
{
    while (sgc_pool.lowest < sgc_pool.committed && sgc_heap.arenas[sgc_pool.lowest].free == 0)
        sgc_pool.lowest++;
}

/* ---- moving pages in and out ---- */

void sgc_pool_note_arena(uint32_t arena)
{
    const struct sgc_arena *a = &sgc_heap.arenas[arena];
    uint32_t *lowest_of = sgc_pool.home[a->home].lowest_of;

    sgc_assert(arena < sgc_pool.committed);
    if (a->free != 0 && arena < sgc_pool.lowest)
        sgc_pool.lowest = arena;
    for (int sort = 0; sort < SGC_POOL_SORTS; sort++)
        if (arena < lowest_of[sort] && sgc_pool_pages_of(a, (enum sgc_pool_sort)sort) != 0)
            lowest_of[sort] = arena;
}

static uint64_t bits_from(uint32_t bit, uint32_t count)
{
    sgc_assert(count != 0 && bit + count <= SGC_ARENA_PAGES);
    return (count == SGC_ARENA_PAGES ? UINT64_MAX : (UINT64_C(1) << count) - 1) << bit;
}

/* How many pages of the run lie in the arena of its first, and which they are there. */
static uint32_t part_in_arena(uint32_t first, uint32_t count, uint64_t *bits)
{
    uint32_t bit = first % SGC_ARENA_PAGES;
    uint32_t here = SGC_ARENA_PAGES - bit < count ? SGC_ARENA_PAGES - bit : count;

    *bits = bits_from(bit, here);
    return here;
}

/* Calls visit(arena, bits, how many) for each arena that the pages [first, first+count) lie in;
 * adds up. */
static uint32_t each_arena(uint32_t first, uint32_t count,
                           uint32_t (*visit)(struct sgc_arena *arena, uint64_t bits, uint32_t count))
{
    uint32_t sum = 0;

    while (count != 0) {
        uint64_t bits;
        uint32_t here = part_in_arena(first, count, &bits);

        sum += visit(sgc_arena_of_page(first), bits, here);
        first += here;
        count -= here;
    }
    return sum;
}

static uint32_t count_used(struct sgc_arena *arena, uint64_t bits, uint32_t count)
{
    if (count == 1)                     /* processors of the baseline have no instruction that
                                         * counts bits */
        return (arena->dirty & bits) != 0;
    return (uint32_t)__builtin_popcountll(arena->dirty & bits);
}

static uint32_t take_bits(struct sgc_arena *arena, uint64_t bits, uint32_t count)
{
    uint32_t dirty = count_used(arena, bits, count);

    sgc_assert((arena->free & bits) == bits);
    sgc_pool_unlist((uint32_t)(arena - sgc_heap.arenas), bits);
    arena->free &= ~bits;
    arena->dirty &= ~bits;
    sgc_pool_count_home(arena, -(int32_t)dirty, (int32_t)(dirty - count));
    return dirty;
}

static uint32_t give_bits(struct sgc_arena *arena, uint64_t bits, uint32_t count)
{
    sgc_assert((arena->free & bits) == 0);
    arena->free |= bits;
    arena->dirty |= bits;
    sgc_pool_count_home(arena, (int32_t)count, 0);
    return 0;
}

void sgc_pool_take_run(uint32_t first, uint32_t count, bool *zero)
{
    uint32_t dirty = each_arena(first, count, take_bits);

    sgc_assert(sgc_page_ok(first) && sgc_page_ok(first + count - 1) && sgc_lock_taken(&sgc_pool.lock));
    size_t consumed;

    *zero = dirty == 0;
    consumed = sgc_pool_count(&sgc_pool.dirty, -(size_t)dirty) + sgc_pool_count(&sgc_pool.in_use, count);
    if (consumed > sgc_aw_load(&sgc_pool.max_consumed))
        sgc_aw_store(&sgc_pool.max_consumed, consumed);
    raise_lowest();
}

void sgc_pool_give_run(uint32_t first, uint32_t count, uint32_t owner, uint64_t now)
{
    sgc_assert(sgc_page_ok(first) && sgc_page_ok(first + count - 1) && count <= sgc_aw_load(&sgc_pool.in_use));
    sgc_assert(sgc_page_state(&sgc_heap.pages[first]) == SGC_PAGE_FREE);
    sgc_assert(owner == SGC_NO_OWNER || count == 1);
    each_arena(first, count, give_bits);
    sgc_free_list_add(owner, first);
    for (uint32_t a = first / SGC_ARENA_PAGES; a <= (first + count - 1) / SGC_ARENA_PAGES; a++) {
        sgc_heap.arenas[a].freed_at = now;
        sgc_pool_note_arena(a);
    }
    sgc_pool_count(&sgc_pool.dirty, count);
    sgc_pool_count(&sgc_pool.in_use, -(size_t)count);
}

static uint32_t give_clean_bits(struct sgc_arena *arena, uint64_t bits, uint32_t count)
{
    sgc_assert((arena->free & bits) == 0);
    arena->free |= bits;
    sgc_pool_count_home(arena, 0, (int32_t)count);
    sgc_pool_note_arena((uint32_t)(arena - sgc_heap.arenas));
    return 0;
}

/* Pages without contents are near to no thread, and the system has nothing to take back of them. */
void sgc_pool_give_clean_run(uint32_t first, uint32_t count)
{
    sgc_assert(sgc_page_ok(first) && sgc_page_ok(first + count - 1) && count <= sgc_aw_load(&sgc_pool.in_use));
    sgc_assert(sgc_page_state(&sgc_heap.pages[first]) == SGC_PAGE_FREE && sgc_heap.records[first].home == SGC_NO_OWNER);
    each_arena(first, count, give_clean_bits);
    sgc_pool_count(&sgc_pool.in_use, -(size_t)count);
}

void sgc_pool_give_clean(uint32_t first, uint32_t count, struct sgc_section *self)
{
    sgc_assert(count != 0);
    for (uint32_t i = 0; i < count; i++)
        sgc_page_unsettle(first + i);
    sgc_lock(&sgc_pool.lock, self);
    sgc_pool_give_clean_run(first, count);
    sgc_unlock(&sgc_pool.lock, self);
}

void sgc_pool_give(uint32_t first, uint32_t count, struct sgc_section *self)
{
    uint64_t now = sgc_clock_ns();

    sgc_assert(count != 0);
    sgc_lock(&sgc_pool.lock, self);
    sgc_pool_give_run(first, count, SGC_NO_OWNER, now);
    sgc_unlock(&sgc_pool.lock, self);
}

void sgc_pool_give_runs(const struct sgc_run *runs, uint32_t count, struct sgc_section *self)
{
    uint64_t now = sgc_clock_ns();

    sgc_lock(&sgc_pool.lock, self);
    for (uint32_t i = 0; i < count; i++)
        sgc_pool_give_run(runs[i].first, runs[i].count, SGC_NO_OWNER, now);
    sgc_unlock(&sgc_pool.lock, self);
}

/* ---- taking a run ---- */

/* Under the lock: a run within the committed arenas, whatever their homes, or growth for this home
 * and another look.  The run may begin in the free end of what is committed. */
static uint32_t find_or_grow(uint32_t count, uint32_t home, struct sgc_section *self)
{
    sgc_assert(count != 0 && sgc_lock_taken(&sgc_pool.lock));
    for (;;) {
        uint32_t tail;
        uint32_t first = find_run(count, &tail);

        if (first != SGC_NO_PAGE)
            return first;
        if (!sgc_pool_more(count - tail, count >= USES_MAX, home, self))
            return find_run(count, &tail);
    }
}

/* Takes pages of the run off their lists, those of a few arenas at a time: a section must be short.
 * True when none is on a list any more. */
static bool unlist_run(uint32_t first, uint32_t count)
{
    uint32_t budget = UNLIST_ARENAS;

    while (count != 0) {
        uint64_t bits;
        uint32_t here = part_in_arena(first, count, &bits);
        uint32_t arena = first / SGC_ARENA_PAGES;

        if ((sgc_heap.arenas[arena].listed & bits) != 0) {
            if (budget-- == 0)
                return false;
            sgc_pool_unlist(arena, bits);
            sgc_pool_note_arena(arena);
        }
        first += here;
        count -= here;
    }
    return true;
}

/* Under the lock: a run that may be taken. */
static uint32_t find_allowed(uint32_t count, uint32_t home, struct sgc_section *self)
{
    uint32_t first = sgc_pool_may_use(count) ? find_or_grow(count, home, self) : SGC_NO_PAGE;

    if (first != SGC_NO_PAGE && !sgc_pool_within_limit(count - each_arena(first, count, count_used)))
        return SGC_NO_PAGE;
    return first;
}

uint32_t sgc_pool_take(uint32_t count, struct sgc_section *self, bool *zero)
{
    uint32_t first, home = sgc_home_here();
    bool ready;

    sgc_assert(count > 0);
    do {
        sgc_lock(&sgc_pool.lock, self);
        first = find_allowed(count, home, self);
        ready = first == SGC_NO_PAGE || unlist_run(first, count);
        if (first != SGC_NO_PAGE && ready)
            sgc_pool_take_run(first, count, zero);
        sgc_unlock(&sgc_pool.lock, self);
    } while (!ready);
    return first;
}

/* ---- taking the pages behind those that one has ---- */

static uint32_t count_free(struct sgc_arena *arena, uint64_t bits, uint32_t count)
{
    sgc_assert(sgc_pool_arena_ok((uint32_t)(arena - sgc_heap.arenas)));
    (void)count;
    return (uint32_t)__builtin_popcountll(arena->free & bits);
}

/* Under the lock: those of the pages that there are are free, and the others come by growth for
 * this home, if nobody takes them meanwhile. */
static bool free_or_grow(uint32_t first, uint32_t count, uint32_t home, struct sgc_section *self)
{
    sgc_assert(count != 0 && sgc_lock_taken(&sgc_pool.lock));
    for (;;) {
        uint32_t there = sgc_pool.pages - first;

        sgc_assert(first <= sgc_pool.pages);
        if (each_arena(first, there < count ? there : count, count_free) < (there < count ? there : count))
            return false;
        if (there >= count)
            return true;
        if (!sgc_pool_more(count - there, count >= USES_MAX, home, self))
            return false;
    }
}

/* Under the lock. */
static bool may_take_at(uint32_t first, uint32_t count, uint32_t home, struct sgc_section *self)
{
    return sgc_pool_may_use(count) && free_or_grow(first, count, home, self) &&
           sgc_pool_within_limit(count - each_arena(first, count, count_used));
}

bool sgc_pool_take_at(uint32_t first, size_t count, struct sgc_section *self, bool *zero)
{
    uint32_t home = sgc_home_here();
    bool allowed, ready;

    sgc_assert(count != 0 && sgc_page_ok(first - 1));
    if (count > sgc_heap.reserved / SGC_PAGE - first)
        return false;
    do {
        sgc_lock(&sgc_pool.lock, self);
        allowed = may_take_at(first, (uint32_t)count, home, self);
        ready = !allowed || unlist_run(first, (uint32_t)count);
        if (allowed && ready)
            sgc_pool_take_run(first, (uint32_t)count, zero);
        sgc_unlock(&sgc_pool.lock, self);
    } while (!ready);
    return allowed;
}
