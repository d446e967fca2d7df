/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: growing, by one thread at a time, with huge pages, and the start.
 * alloc/pages/pool.h says which thread may call each function.
 */
#include "alloc/pages/pool.h"

#include <limits.h>

#include "alloc/pages/homes.h"
#include "alloc/pages/huge_pages.h"
#include "alloc/pages/live_pages.h"

enum { MIN_PAGES = 8 };         /* less is no heap: one is nobody's, and each size takes one */

/* Where no more may be mapped, the rest of the start comes before a whole arena. */
static const size_t LITTLE = (size_t)64 << 20;

/* Under the lock: becomes the one that grows, or waits for the one that does (the lock is then
 * given up and the world may have changed).  True when it is us. */
static bool begin_growing(struct sgc_section *self)
{
    uint32_t seen = sgc_a32_load(&sgc_pool.grown);

    sgc_assert(sgc_lock_taken(&sgc_pool.lock));
    if (!sgc_pool.growing) {
        sgc_pool.growing = true;
        return true;
    }
    sgc_unlock(&sgc_pool.lock, self);
    sgc_wait(&sgc_pool.grown, seen, 1000000);
    sgc_lock(&sgc_pool.lock, self);
    return false;
}

static void end_growing(void)
{
    sgc_assert(sgc_pool.growing);
    sgc_pool.growing = false;
    sgc_a32_add(&sgc_pool.grown, 1);
    sgc_wake(&sgc_pool.grown, INT_MAX);
}

/* Under the lock: the arena's first pages are there, and what is new of them is in the pool.  Page
 * 0 means "no page". */
static void publish_arena(uint32_t arena, uint32_t there, uint32_t home)
{
    struct sgc_arena *a = &sgc_heap.arenas[arena];
    uint64_t had, fresh = 0;

    sgc_assert(arena < sgc_heap.reserved / SGC_ARENA && there <= SGC_ARENA_PAGES);
    if (arena == sgc_pool.committed) {
        sgc_pool.committed = arena + 1;
        a->home = (uint8_t)home;
    }
    had = a->there == 0 && arena == 0 ? 1 : (UINT64_C(1) << a->there) - 1;
    if (there > a->there)
        fresh = UINT64_MAX >> (SGC_ARENA_PAGES - there) & ~had;
    a->free |= fresh;
    a->there = (uint8_t)there;
    sgc_pool_count_home(a, 0, __builtin_popcountll(fresh));
    sgc_aw_store_rel(&sgc_heap.limit, (size_t)sgc_pool.committed * SGC_ARENA);
    sgc_aw_store_rel(&sgc_heap.granules, (size_t)sgc_pool.committed * SGC_ARENA / SGC_GRANULE);
    sgc_pool_note_arena(arena);
}

static uint32_t min_pages(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Of a hole, what the arena has already is all that it will have. */
static void publish(uint32_t end, bool hole, uint32_t home)
{
    while (sgc_pool.pages < end) {
        uint32_t arena = sgc_pool.pages / SGC_ARENA_PAGES, has = sgc_pool.pages % SGC_ARENA_PAGES;
        uint32_t to = min_pages(end, (arena + 1) * SGC_ARENA_PAGES);

        publish_arena(arena, hole ? has : to - arena * SGC_ARENA_PAGES, home);
        sgc_pool.pages = to;
    }
}

/* Has the system granted the pages below `end`, or does it now?  By the only one who grows. */
static bool commit_upto(uint32_t end)
{
    sgc_assert(end <= sgc_heap.reserved / SGC_PAGE);
    if (end <= sgc_pool.promised)
        return true;
    if (!sgc_heap_commit(end))
        return false;
    sgc_pool.promised = end;
    return true;
}

/* As many pages beyond `from` as the system grants, at most `want`, but not less than is needed:
 * that would only be charged to the process and serve nobody.  Returns where they end. */
static uint32_t commit_some(uint32_t from, uint32_t need, uint32_t want)
{
    sgc_assert(need != 0 && need <= want);
    for (;; want = want / 2 > need ? want / 2 : need) {
        if (commit_upto(from + want))
            return from + want;
        if (want == need)
            return from;
    }
}

static uint32_t arena_end(uint32_t page)
{
    return (page / SGC_ARENA_PAGES + 1) * SGC_ARENA_PAGES;
}

/* ---- huge pages: alloc/pages/huge_pages.h ---- */

struct huge_pages {
    bool checked;
    size_t page;                /* bytes; 0: none that we could use */
    struct sgc_huge_trials trials;
    sgc_a32_t asked;            /* the system makes huge pages of some of the heap because of us */
};

SGC_STATE static struct huge_pages huge_pages;

static char *arena_start(uint32_t arena)
{
    sgc_assert(arena < sgc_heap.reserved / SGC_ARENA);
    return (char *)sgc_page_start(arena * SGC_ARENA_PAGES);
}

/* The memory is zero before and after. */
static uint64_t touch(char *start, size_t pages)
{
    uint64_t began = sgc_clock_ns();

    sgc_assert(pages != 0);
    for (size_t i = 0; i < pages; i++)
        *(volatile char *)(start + i * sgc_heap.os_page) = 0;
    return sgc_clock_ns() - began;
}

/* Small pages are sampled in the first half of the arena, and as long as huge pages are faster no
 * more: it costs a huge page.  All that is touched is about to be used anyway. */
static bool trial(uint32_t arena)
{
    char *large = arena_start(arena);

    sgc_assert(huge_pages.page != 0 && huge_pages.page <= SGC_ARENA / 2);
    if (!huge_pages.trials.trusted) {
        huge_pages.trials.sample_ns = touch(large, SGC_HUGE_SAMPLE);
        large += SGC_ARENA / 2;
    }
    sgc_mem_use_huge(large, SGC_ARENA / 2, true);
    sgc_huge_page_tried(&huge_pages.trials, arena, touch(large, 1), huge_pages.page, SGC_HUGE_SAMPLE * sgc_heap.os_page);
    if (!huge_pages.trials.trusted)
        sgc_mem_use_huge(large, SGC_ARENA / 2, false);
    return huge_pages.trials.trusted;
}

/* Not before a heap is large enough: most never are, and it takes reading two files. */
static bool available(void)
{
    size_t page;

    if (!huge_pages.checked) {
        page = sgc_mem_huge_page("/sys");
        huge_pages.page = page <= SGC_ARENA / 2 && page > SGC_HUGE_SAMPLE * sgc_heap.os_page ? page : 0;
        huge_pages.checked = true;
    }
    return huge_pages.page != 0;
}

static bool wanted(uint32_t arena)
{
    if (!available())
        return false;
    return sgc_heap.config.huge_pages == SGC_HUGE_ON || (arena >= huge_pages.trials.next && trial(arena));
}

/* `count` arenas from `first` on are committed and not used yet; `filled`: they will be used as a
 * whole.  By the thread that grows, outside locks. */
static void ask_for_huge_pages(uint32_t first, uint32_t count, bool filled)
{
    uint32_t from = first > SGC_HUGE_FROM_ARENA ? first : SGC_HUGE_FROM_ARENA;

    sgc_assert(first + count <= sgc_heap.reserved / SGC_ARENA);
    if (sgc_heap.config.huge_pages == SGC_HUGE_OFF && count != 0)
        sgc_mem_use_huge(arena_start(first), (size_t)count * SGC_ARENA, false);
    if (sgc_heap.config.huge_pages == SGC_HUGE_OFF || !filled || from >= first + count || !wanted(from))
        return;
    sgc_a32_store(&huge_pages.asked, 1);
    sgc_mem_use_huge(arena_start(from), (size_t)(first + count - from) * SGC_ARENA, true);
}

void sgc_huge_pages_given_back(uint32_t arena, bool last)
{
    if (arena >= SGC_HUGE_FROM_ARENA && sgc_a32_load(&huge_pages.asked) != 0)
        sgc_mem_use_huge(arena_start(arena), SGC_ARENA, last);
}

/* ---- growing ---- */

/* Binds new pages to their home, and has their whole arenas backed by huge pages, if these are good
 * and `huge`.  Outside the lock, by the only thread that grows the pool. */
static void settle(uint32_t from, uint32_t end, bool huge, uint32_t home)
{
    uint32_t first = (from + SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES, whole = end / SGC_ARENA_PAGES;

    sgc_assert(from < end && end <= sgc_pool.promised);
    sgc_homes_bind(from, end, home);
    ask_for_huge_pages(first, first < whole ? whole - first : 0, huge);
}

/* Outside the lock, as the only one who grows.  Returns where the pages end that have come, or the
 * hole that somebody else's mapping makes, which lasts until an arena ends. */
static uint32_t commit_or_pass(uint32_t from, uint32_t need, uint32_t want, bool *hole)
{
    uint32_t end = commit_some(from, need, want);

    *hole = false;
    if (end != from || !sgc_heap.memory.taken)
        return end;
    end = commit_some(from, 1, arena_end(from) - from);
    if (end != from)
        return end;
    *hole = sgc_heap_pass(arena_end(from));
    if (*hole)
        sgc_pool.promised = arena_end(from);
    return *hole ? arena_end(from) : from;
}

/* True if anything has come that is worth another look, or another try. */
static bool grow(uint32_t need, uint32_t want, bool huge, uint32_t home, struct sgc_section *self)
{
    uint32_t from = sgc_pool.pages, end;
    bool hole;

    sgc_assert(need != 0 && need <= want && sgc_pool.growing);
    sgc_unlock(&sgc_pool.lock, self);
    end = commit_or_pass(from, need, want, &hole);
    if (end != from && !hole)
        settle(from, end, huge, home);
    sgc_lock(&sgc_pool.lock, self);
    if (end == from)
        sgc_aw_store_rel(&sgc_pool.refused, (size_t)need * SGC_PAGE);
    publish(end, hole, home);
    end_growing();
    return end != from;
}

static uint32_t pages_beyond(uint32_t these)
{
    sgc_assert(these <= sgc_heap.reserved / SGC_PAGE);
    return (uint32_t)(sgc_heap.reserved / SGC_PAGE) - these;
}

/* A bigger heap grows in bigger steps: an eighth of itself, at most 64 arenas; to the end of an
 * arena, of which there is room for all, since that is what addresses are reserved for. */
static uint32_t growth_for(uint32_t need)
{
    uint32_t step = sgc_pool.committed / 8 < 64 ? sgc_pool.committed / 8 : 64;
    uint32_t want = need > step * SGC_ARENA_PAGES ? need : step * SGC_ARENA_PAGES;
    uint32_t left = pages_beyond(sgc_pool.pages);

    return want < left ? arena_end(sgc_pool.pages + want - 1) - sgc_pool.pages : left;
}

bool sgc_pool_more(uint32_t need, bool huge, uint32_t home, struct sgc_section *self)
{
    if (need > pages_beyond(sgc_pool.pages))
        return false;
    return !begin_growing(self) || grow(need, growth_for(need), huge && need <= SGC_ARENA_PAGES, home, self);
}

bool sgc_pool_expand(size_t pages, struct sgc_section *self)
{
    uint32_t want = (uint32_t)sgc_round_up(pages, SGC_ARENA_PAGES);
    bool granted = false;

    if (pages > sgc_heap.reserved / SGC_PAGE)
        return false;
    sgc_lock(&sgc_pool.lock, self);
    if (sgc_pool_within_limit((uint32_t)pages)) {
        while (!begin_growing(self))
            continue;
        if (want <= pages_beyond(sgc_pool.promised)) {
            sgc_unlock(&sgc_pool.lock, self);
            granted = commit_upto(sgc_pool.promised + want);
            sgc_lock(&sgc_pool.lock, self);
            if (!granted)
                sgc_aw_store_rel(&sgc_pool.refused, (size_t)want * SGC_PAGE);
        }
        end_growing();
    }
    sgc_unlock(&sgc_pool.lock, self);
    return granted;
}

/* A thread that grows has mapped what a fork's child knows nothing of.  It needs no other lock to
 * come to an end, and has no signal handler run meanwhile; who waits does so for some time only, as
 * the child could do without. */
void sgc_pool_lock_settled(struct sgc_section *self)
{
    sgc_lock(&sgc_pool.lock, self);
    for (int tries = 0; sgc_pool.growing && tries < 3; tries++) {
        uint32_t seen = sgc_a32_load(&sgc_pool.grown);

        sgc_unlock(&sgc_pool.lock, self);
        sgc_wait(&sgc_pool.grown, seen, 1000000000);
        sgc_lock(&sgc_pool.lock, self);
    }
}

/* A smaller first arena will do where the system grants no more, or little. */
bool sgc_pool_init(void)
{
    uint32_t home = sgc_home_here(), end, want = sgc_limit_mapped() < LITTLE ? MIN_PAGES : SGC_ARENA_PAGES;

    sgc_pool_set_limit(sgc_heap.config.limit);
    sgc_free_lists_init();
    sgc_live_pages_init();
    end = commit_some(0, MIN_PAGES, want);
    if (end == 0) {
        sgc_error("the system refuses to commit the first %zu bytes of the heap; free memory or "
                  "raise the limit on it (ulimit -v, ulimit -l under mlockall, the cgroup)",
                  (size_t)MIN_PAGES * SGC_PAGE);
        return false;
    }
    sgc_homes_bind(0, end, home);
    publish(end, false, home);
    return true;
}
