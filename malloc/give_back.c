/* SPDX-License-Identifier: MIT */
/* When free pages go back to the system: malloc/give_back.h. */
#include "malloc/give_back.h"

#include "alloc/large/span.h"
#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "alloc/release.h"
#include "alloc/small/orphan.h"
#include "malloc/options.h"
#include "platform/platform.h"

enum {
    KEPT_SHARE = 8,                                 /* of the pages in use */
    ORPHANS_STEP = 256,                             /* swept at a time */
};
static const size_t KEPT_MIN = (size_t)8 << 20;
static const uint64_t TICK_NS = 10000000;           /* between two looks for an arena that is due */
static const uint64_t LOCKED_NS = 500000000;        /* at least, until what was kept is tried again */

/* A page that nobody has taken again in that time was kept too long; one that somebody has was
 * given back too early. */
static uint64_t decay_ns(void)
{
    sgc_assert(sgc_malloc_options.decay_ms >= 0);
    return (uint64_t)sgc_malloc_options.decay_ms * 1000000;
}

static SGC_STATE struct {
    sgc_a32_t busy;
    sgc_aw_t extra;             /* bytes that the bound has risen by */
    sgc_aw_t kept;              /* bytes that a discard could not give back (locked memory), */
    uint64_t kept_at;           /* and when it tried */
    sgc_aw_t ticked;            /* when an arena was last sought that is due, */
    uint32_t arena;             /* and where that is done next */
    uint64_t last;              /* the time of the last discard, */
    size_t discarded, left;     /* the bytes that have gone and were not taken again, and the
                                 * heap's bytes afterwards */
} rhythm;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t bound(void)
{
    size_t share = sgc_pool_in_use_bytes() / KEPT_SHARE;

    return (share > KEPT_MIN ? share : KEPT_MIN) + sgc_aw_load(&rhythm.extra);
}

/* Memory that the system does not take is not tried again with each free. */
static bool is_too_much(size_t used)
{
    return used > bound() + sgc_aw_load(&rhythm.kept);
}

/* As many bytes as have gone and were taken again at once are kept from now on; the heap never
 * needs more than it ever had. */
static void learn(uint64_t now)
{
    size_t heap = sgc_pool_heap_bytes(), grown = heap > rhythm.left ? heap - rhythm.left : 0;
    size_t extra = sgc_aw_load(&rhythm.extra), again = smaller(grown, rhythm.discarded);

    if (now - rhythm.last >= decay_ns()) {
        extra /= 2;
        rhythm.discarded = 0;
    } else {
        extra += again;
        rhythm.discarded -= again;
    }
    sgc_aw_store(&rhythm.extra, smaller(extra, sgc_aw_load(&sgc_pool.max_consumed) * SGC_PAGE));
}

/* Whole arenas first; some of those that are not have few such pages.  Each pass has a time of its
 * own, so that it tries all that was there when it began.  False: nothing has gone back during one
 * of them, and kept is what was there before it.  Other threads may free or take pages meanwhile,
 * so the bytes in the pool do not tell that. */
static bool discard_until(size_t wanted, struct sgc_section *self)
{
    size_t used, returned;

    sgc_assert(wanted >= sgc_aw_load(&rhythm.kept));
    while ((used = sgc_pool_used_bytes()) > wanted) {
        returned = sgc_aw_load(&sgc_pool.returned);
        sgc_pool_decay(sgc_clock_ns(), 0, (uint32_t)((used - wanted + SGC_ARENA - 1) / SGC_ARENA), self);
        if (sgc_aw_load(&sgc_pool.returned) == returned) {
            sgc_aw_store(&rhythm.kept, used);
            return false;
        }
    }
    return true;
}

/* Down to half of the bound, if there is more. */
static void discard(uint64_t now, struct sgc_section *self)
{
    size_t before;

    sgc_assert(sgc_a32_load(&rhythm.busy) == 1 && now >= rhythm.last);
    learn(now);
    before = sgc_pool_used_bytes();
    if (!is_too_much(before))
        return;
    if (!discard_until(sgc_aw_load(&rhythm.kept) + bound() / 2, self))
        rhythm.kept_at = now;
    rhythm.last = now;
    rhythm.discarded += before - smaller(before, sgc_pool_used_bytes());
    rhythm.left = sgc_pool_heap_bytes();
}

/* One arena in which nothing was freed for long: the bound has risen for nothing by what is there.
 * Memory that was kept may be unlocked by then. */
static void discard_old(uint64_t now, struct sgc_section *self)
{
    size_t returned = sgc_aw_load(&sgc_pool.returned), extra = sgc_aw_load(&rhythm.extra), old;

    sgc_assert(sgc_a32_load(&rhythm.busy) == 1);
    sgc_aw_store(&rhythm.ticked, now);
    if (now - rhythm.kept_at >= (decay_ns() > LOCKED_NS ? decay_ns() : LOCKED_NS))
        sgc_aw_store(&rhythm.kept, 0);
    sgc_pool_decay_next(now, decay_ns(), &rhythm.arena, self);
    old = sgc_aw_load(&sgc_pool.returned) - returned;
    sgc_aw_store(&rhythm.extra, extra - smaller(extra, old));
}

/* By one thread at a time, so that the time is not before that of the last discard.  False: another
 * thread is at it; that one looks again after its exchange at what others have freed. */
static bool give_back_now(struct sgc_section *self)
{
    uint64_t now;

    if (!sgc_a32_cas(&rhythm.busy, 0, 1))
        return false;
    now = sgc_clock_ns();
    sgc_guard_enter(self);
    if (is_too_much(sgc_pool_used_bytes()))
        discard(now, self);
    else
        discard_old(now, self);
    sgc_guard_leave(self);
    sgc_a32_swap(&rhythm.busy, 0);
    return true;
}

void sgc_give_back(struct sgc_cache *cache)
{
    size_t used = sgc_pool_used_bytes();

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (used == 0 || sgc_malloc_options.decay_ms < 0)
        return;
    if (!is_too_much(used) && sgc_clock_ns() < sgc_aw_load(&rhythm.ticked) + TICK_NS)
        return;
    while (give_back_now(&cache->section) && is_too_much(sgc_pool_used_bytes()))
        continue;
}

void sgc_give_back_after(struct sgc_cache *cache, const void *block)
{
    sgc_assert(sgc_heap_contains((uintptr_t)block));
    sgc_orphan_freed(sgc_granule_number((uintptr_t)block), &cache->section);
    sgc_give_back(cache);
}

void sgc_give_back_all(struct sgc_cache *cache)
{
    struct sgc_section *self = &cache->section;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(self));
    sgc_guard_enter(self);
    sgc_emptied_give_up_all(cache);
    sgc_span_give_cached(cache->id, self);
    while (sgc_orphan_sweep(ORPHANS_STEP, self))
        continue;
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
    sgc_guard_leave(self);
}

/* Nothing is locked in a child. */
void sgc_give_back_after_fork(void)
{
    sgc_a32_store(&rhythm.busy, 0);
    sgc_aw_store(&rhythm.kept, 0);
}
