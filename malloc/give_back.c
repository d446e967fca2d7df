/* SPDX-License-Identifier: MIT */
/* When free pages go back to the system: malloc/give_back.h. */
#include "malloc/give_back.h"

#include "alloc/pages/pool.h"
#include "malloc/options.h"
#include "platform/platform.h"

enum { KEPT_SHARE = 8 };                            /* of the pages in use */
static const size_t KEPT_MIN = (size_t)8 << 20;

/* Memory that the program takes again within that went back too early. */
static uint64_t soon_ns(void)
{
    return (uint64_t)sgc_malloc_options.decay_ms * 1000000;
}

static SGC_STATE struct {
    sgc_a32_t busy;
    sgc_aw_t extra;             /* bytes that the bound has risen by */
    uint64_t last;              /* the time of the last discard, */
    size_t discarded, left;     /* the bytes that went then, and the heap's bytes afterwards */
} rhythm;

static size_t bound(void)
{
    size_t share = sgc_pool_in_use_bytes() / KEPT_SHARE;

    return (share > KEPT_MIN ? share : KEPT_MIN) + sgc_aw_load(&rhythm.extra);
}

/* The heap has grown again by half of what went, or more: too early.  It never needs more than it
 * ever had. */
static void learn(uint64_t now)
{
    size_t heap = sgc_pool_heap_bytes(), grown = heap > rhythm.left ? heap - rhythm.left : 0;
    size_t extra = sgc_aw_load(&rhythm.extra), limit = sgc_aw_load(&sgc_pool.max_consumed) * SGC_PAGE;

    if (rhythm.discarded == 0 || (now - rhythm.last < soon_ns() && grown < rhythm.discarded / 2))
        return;
    if (now - rhythm.last >= soon_ns())
        extra /= 2;
    else
        extra = 2 * extra > grown ? 2 * extra : grown;
    sgc_aw_store(&rhythm.extra, extra < limit ? extra : limit);
}

/* Whole arenas first; some of those that are not have few such pages. */
static void discard_until(size_t wanted, uint64_t now, struct sgc_section *self)
{
    size_t kept = sgc_pool_used_bytes(), before;

    sgc_assert(wanted <= bound());
    do {
        before = kept;
        if (kept > wanted)
            sgc_pool_decay(now, 0, (uint32_t)((kept - wanted + SGC_ARENA - 1) / SGC_ARENA), self);
        kept = sgc_pool_used_bytes();
    } while (kept > wanted && kept < before);
}

static void discard(struct sgc_section *self)
{
    uint64_t now = sgc_clock_ns();
    size_t before;

    sgc_assert(sgc_a32_load(&rhythm.busy) == 1);
    learn(now);
    before = sgc_pool_used_bytes();
    if (before <= bound())
        return;
    sgc_guard_enter(self);
    discard_until(bound() / 2, now, self);
    sgc_guard_leave(self);
    rhythm.last = now;
    rhythm.discarded = before - sgc_pool_used_bytes();
    rhythm.left = sgc_pool_heap_bytes();
}

void sgc_give_back(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (sgc_malloc_options.decay_ms < 0 || sgc_pool_used_bytes() <= bound() || !sgc_a32_cas(&rhythm.busy, 0, 1))
        return;
    discard(&cache->section);
    sgc_a32_store_rel(&rhythm.busy, 0);
}

void sgc_give_back_after_fork(void)
{
    sgc_a32_store(&rhythm.busy, 0);
}
