/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: growing, by one thread at a time, and the start.  Who may call what: alloc/pages/pool.h.
 */
#include "alloc/pages/pool.h"

#include <limits.h>

#include "alloc/pages/free_list.h"
#include "alloc/pages/homes.h"
#include "alloc/pages/huge_pages.h"
#include "alloc/pages/live_pages.h"

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

static void publish_arena(uint32_t arena, uint32_t home)
{
    struct sgc_arena *a = &sgc_heap.arenas[arena];

    sgc_assert(arena == sgc_pool.committed && arena < sgc_heap.reserved / SGC_ARENA);
    a->free = arena == 0 ? UINT64_MAX & ~UINT64_C(1) : UINT64_MAX;    /* page 0 means "no page" */
    a->dirty = 0;
    a->home = (uint8_t)home;
    sgc_pool_count_home(a, 0, arena == 0 ? SGC_ARENA_PAGES - 1 : SGC_ARENA_PAGES);
    sgc_pool.committed = arena + 1;
    sgc_aw_store_rel(&sgc_heap.limit, (size_t)(arena + 1) * SGC_ARENA);
    sgc_aw_store_rel(&sgc_heap.granules, (size_t)(arena + 1) * SGC_ARENA / SGC_GRANULE);
}

/* Has the system granted the arenas below `end`, or does it now?  By the only one who grows. */
static bool commit_upto(uint32_t end)
{
    uint32_t from = sgc_pool.promised;

    sgc_assert(end <= sgc_heap.reserved / SGC_ARENA);
    if (end <= from)
        return true;
    if (!sgc_heap_commit_arenas(from, end - from))
        return false;
    sgc_pool.promised = end;
    return true;
}

/* `want` arenas for a home, or `need` if the system refuses so many, outside the lock, as the only one
 * who grows; `huge`: of huge pages if these are good.  Less than is needed would only be charged to the process and serve
 * nobody. */
static uint32_t grow(uint32_t need, uint32_t want, bool huge, uint32_t home, struct sgc_section *self)
{
    uint32_t first = sgc_pool.committed;
    uint32_t done = want;

    sgc_assert(need != 0 && need <= want && sgc_pool.growing);
    sgc_unlock(&sgc_pool.lock, self);
    if (!commit_upto(first + want))
        done = want != need && commit_upto(first + need) ? need : 0;
    if (done != 0)
        sgc_homes_bind(first, done, home);
    if (huge && done != 0)
        sgc_huge_pages_grown(first, done);
    sgc_lock(&sgc_pool.lock, self);
    for (uint32_t i = 0; i < done; i++)
        publish_arena(first + i, home);
    end_growing();
    return done;
}

static uint32_t arenas_beyond(uint32_t these)
{
    sgc_assert(these <= sgc_heap.reserved / SGC_ARENA);
    return (uint32_t)(sgc_heap.reserved / SGC_ARENA) - these;
}

/* A bigger heap grows in bigger steps: an eighth of itself, at most 64 arenas. */
static uint32_t growth_for(uint32_t need)
{
    uint32_t step = sgc_pool.committed / 8 < 64 ? sgc_pool.committed / 8 : 64;
    uint32_t want = need > step ? need : step;
    uint32_t left = arenas_beyond(sgc_pool.committed);

    return want < left ? want : left;
}

bool sgc_pool_more(uint32_t need, bool huge, uint32_t home, struct sgc_section *self)
{
    if (need > arenas_beyond(sgc_pool.committed))
        return false;
    return !begin_growing(self) || grow(need, growth_for(need), huge && need == 1, home, self) != 0;
}

bool sgc_pool_expand(size_t pages, struct sgc_section *self)
{
    uint32_t want = (uint32_t)((pages + SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES);
    bool granted = false;

    if (pages > sgc_heap.reserved / SGC_PAGE)
        return false;
    sgc_lock(&sgc_pool.lock, self);
    if (sgc_pool_within_limit((uint32_t)pages)) {
        while (!begin_growing(self))
            continue;
        if (want <= arenas_beyond(sgc_pool.promised)) {
            sgc_unlock(&sgc_pool.lock, self);
            granted = commit_upto(sgc_pool.promised + want);
            sgc_lock(&sgc_pool.lock, self);
        }
        end_growing();
    }
    sgc_unlock(&sgc_pool.lock, self);
    return granted;
}

bool sgc_pool_init(void)
{
    uint32_t home = sgc_home_here();

    sgc_pool_set_limit(sgc_heap.config.limit);
    sgc_free_lists_init();
    sgc_live_pages_init();
    if (!sgc_heap_commit_arenas(0, 1)) {
        sgc_error("the system refuses to commit the first %zu bytes of the heap; free memory or "
                  "raise the limit on it (ulimit -v, ulimit -l under mlockall, the cgroup)",
                  (size_t)SGC_ARENA);
        return false;
    }
    sgc_pool.promised = 1;
    sgc_homes_bind(0, 1, home);
    publish_arena(0, home);
    return true;
}
