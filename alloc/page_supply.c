/* SPDX-License-Identifier: MIT */
/*
 * Pages for mutators: sweep, then take what the page rule says; and what becomes of a mutator's
 * pages when it ends.  On any mutator, sweeping ahead of need on the service thread, too; locks are
 * the pool's, and those of the lists that are swept.
 *
 * While pages of the last cycle are still unswept, a thread that asks for pages sweeps some first,
 * so that the heap does not grow past memory that is free already; the service thread has done it
 * if the program left it time.
 *
 *   swept_epoch   the epoch for which a thread found nothing left to sweep; written and read by anybody, relaxed: a
 *                 stale value costs one look too many or too few
 */
#include "alloc/page_supply.h"

#include "alloc/release.h"
#include "alloc/pages/live_pages.h"
#include "alloc/pages/pool.h"
#include "alloc/large/span.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/sweep.h"

SGC_STATE static sgc_a32_t swept_epoch;

enum {
    SWEEP_FOR_PAGE = 16, SWEEP_FOR_SPAN = 256,
    FORGET_STEP = 64,
    LEAVE_STEP = 32,            /* pages left behind at a time under the locks */
};

/* ---- sweeping ahead of need: every page of the last cycle ---- */

static bool sweep_class(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t *max,
                        struct sgc_section *self)
{
    struct sgc_page_lists *lists = &cache->bin[kind][cls].lists;
    struct sgc_sweep_step step = { .swept = 1 };

    while (step.swept != 0 && *max > 0) {
        sgc_lock(cache->lock, self);
        sgc_lists_sweep(lists, sgc_tag(cache->id, sgc_heap.epoch), *max, &step);
        sgc_unlock(cache->lock, self);
        sgc_sweep_give(&step, cache->id, self);
        *max -= step.swept;
    }
    return step.swept != 0;
}

/* Sizes that were never used have no pages. */
static uint64_t used_classes(struct sgc_cache *cache, uint32_t kind, uint32_t half,
                             struct sgc_section *self)
{
    uint64_t used = 0;

    sgc_assert(half < 2 && sgc_kind_ok(kind));
    sgc_lock(cache->lock, self);
    for (uint32_t cls = half * 64; cls < sgc_size_classes.count && cls < half * 64 + 64; cls++)
        for (int list = 0; list < SGC_LISTS; list++)
            if (cache->bin[kind][cls].lists.head[list] != SGC_NO_PAGE)
                used |= UINT64_C(1) << (cls % 64);
    sgc_unlock(cache->lock, self);
    return used;
}

static bool sweep_classes(struct sgc_cache *cache, uint32_t kind, uint32_t *max, struct sgc_section *self)
{
    for (uint32_t half = 0; half < 2; half++) {
        uint64_t used = used_classes(cache, kind, half, self);

        for (; used != 0; used &= used - 1)
            if (sweep_class(cache, kind, half * 64 + (uint32_t)__builtin_ctzll(used), max, self))
                return true;
    }
    return false;
}

/* Nothing becomes unswept within an epoch, so a cache found done is done until the next.  While a
 * mark goes on beside the program everything of this epoch has been swept, and what has been freed
 * since then stays where it is: nothing is left. */
bool sgc_sweep_cache(struct sgc_cache *cache, uint32_t *max, struct sgc_section *self)
{
    uint32_t epoch = sgc_heap.epoch;

    sgc_assert(cache->id != SGC_NO_OWNER && *max != 0);
    if (sgc_a32_load_acq(&cache->swept) == epoch)
        return false;
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        if (sweep_classes(cache, kind, max, self))
            return true;
    sgc_a32_store_rel(&cache->swept, epoch);
    return false;
}

bool sgc_sweep_ahead(uint32_t max, struct sgc_section *self)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count);

    if (sgc_heap_is_marking())
        return false;
    sgc_leave_idle(self);
    if (sgc_span_sweep(max, self))
        return true;
    for (uint32_t id = 1; id < count; id++)
        if (sgc_sweep_cache(sgc_cache_of(id), &max, self))
            return true;
    return sgc_orphan_sweep(max, self);
}

/* ---- taking pages ---- */

/* The epoch is looked at first: that nothing is left, for whatever reason, is true of this one at
 * least. */
static void sweep_first(uint32_t max, struct sgc_section *self)
{
    uint32_t epoch = sgc_heap.epoch;

    sgc_assert(max != 0);
    if (sgc_a32_load(&swept_epoch) != epoch && !sgc_sweep_ahead(max, self))
        sgc_a32_store(&swept_epoch, epoch);
}

/* Afterwards the pool has what others have swept, too. */
static void sweep_all(struct sgc_section *self)
{
    sgc_span_give_cached(sgc_section_owner(self), self);
    while (sgc_sweep_ahead(SWEEP_FOR_SPAN, self))
        continue;
    sgc_pool_transit_wait(self);
}

/* Our own pages come first in sweeping, too: what is empty of them stays with us.  PS does not know
 * whose they are. */
static void sweep_for_page(struct sgc_cache *cache)
{
    uint32_t max = SWEEP_FOR_PAGE;

    if (sgc_free_list_count(cache->id) != 0 || sgc_a32_load(&swept_epoch) == sgc_heap.epoch)
        return;
    if (sgc_heap.config.page_rule.policy != SGC_POLICY_PS)
        sgc_sweep_cache(cache, &max, &cache->section);
    if (sgc_free_list_count(cache->id) == 0)
        sweep_first(SWEEP_FOR_PAGE, &cache->section);
}

/* While anything is unswept, no more than is there already, so that each page is looked for among
 * the dead first. */
static uint32_t at_once(const struct sgc_cache *cache, uint32_t max)
{
    uint32_t own = sgc_free_list_count(cache->id);

    sgc_assert(max != 0);
    if (sgc_a32_load(&swept_epoch) == sgc_heap.epoch || own >= max)
        return max;
    return own > 0 ? own : 1;
}

/* Free pages that the thread gets before all others: while it has some, it need not look at what
 * its bins keep.  PS does not know whose they are. */
static size_t free_for(const struct sgc_cache *cache)
{
    if (sgc_heap.config.page_rule.policy == SGC_POLICY_PS)
        return sgc_pool_used_bytes() / SGC_PAGE;
    return sgc_free_list_count(cache->id);
}

/* If the heap may not grow, everything unswept is swept before that is accepted.  A free page with
 * contents serves as it is. */
uint32_t sgc_policy_take_singles(struct sgc_cache *cache, uint32_t max, struct sgc_taken *taken)
{
    uint32_t n;

    sgc_assert(sgc_cache_ok(cache) && max != 0);
    sweep_for_page(cache);
    if (free_for(cache) < max)
        sgc_kept_give_up(cache, max);
    n = sgc_pool_take_singles(cache->id, at_once(cache, max), taken, &cache->section);
    if (n != 0)
        return n;
    sweep_all(&cache->section);
    return sgc_pool_take_singles(cache->id, max, taken, &cache->section);
}

/* A span's pages, or none. */
static uint32_t take_settled(uint32_t count, struct sgc_section *self, bool *zero)
{
    uint32_t first = sgc_pool_take(count, self, zero);

    for (uint32_t i = 0; first != SGC_NO_PAGE && i < count; i++)
        (void)sgc_page_settle(first + i, sgc_section_owner(self));
    return first;
}

/* If there are too few adjacent pages and the heap may not grow, sweeps everything unswept, then
 * gives free pages with contents back, since they count towards the limit and may be too scattered
 * to serve, and waits for the pages that other threads give back meanwhile. */
uint32_t sgc_policy_take_pages(uint32_t count, struct sgc_section *self, bool *zero)
{
    uint32_t first;

    sgc_assert(count != 0);
    if (count > 1)
        sweep_first(SWEEP_FOR_SPAN, self);
    if (self != NULL && sgc_pool_used_bytes() / SGC_PAGE < count)
        sgc_kept_give_up((struct sgc_cache *)(void *)self, UINT32_MAX);
    first = take_settled(count, self, zero);
    if (first != SGC_NO_PAGE)
        return first;
    sweep_all(self);
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
    sgc_pool_transit_wait(self);
    return take_settled(count, self, zero);
}

size_t sgc_policy_free_touched(struct sgc_section *self)
{
    while (sgc_a32_load(&swept_epoch) != sgc_heap.epoch) {
        sgc_guard_enter(self);              /* who jumps out between two locks would keep the pages
                                             * in hand */
        sweep_first(SWEEP_FOR_SPAN, self);
        sgc_guard_leave(self);
    }
    return sgc_pool_used_bytes();
}

/* Each figure is right by itself; together they may be of different moments. */
void sgc_policy_figures(struct sgc_page_figures *figures)
{
    figures->heap_bytes = sgc_pool_heap_bytes();
    figures->consumed = sgc_aw_load(&sgc_pool.in_use) + sgc_aw_load(&sgc_pool.dirty);
    figures->max_consumed = sgc_aw_load(&sgc_pool.max_consumed);
    figures->listed = sgc_free_list_total();
    for (int source = 0; source < SGC_SOURCES; source++)
        figures->taken[source] = sgc_aw_load(&sgc_pool.taken[source]);
    figures->fresh = figures->taken[SGC_SOURCE_FRESH] + figures->taken[SGC_SOURCE_FRESH_FAR];
    figures->remote = sgc_aw_load(&sgc_pool.remote);
    figures->foreign = sgc_aw_load(&sgc_pool.foreign);
    figures->far = sgc_aw_load(&sgc_pool.far);
    figures->max_live = sgc_live_pages_max();
    figures->max_live_of_owners = sgc_live_pages_max_of_owners(sgc_a32_load_acq(&sgc_cache_count));
}

/* ---- the end of a cache ---- */

/* The bin has no pages and no slots any more: it is as one never used, but for its array, which the
 * next thread with this cache uses. */
static void empty_bin(struct sgc_bin *bin)
{
    struct sgc_freed *first = sgc_bin_freed(bin);
    uint32_t place = (uint32_t)(uintptr_t)first;

    sgc_assert(!sgc_bin_has_claimed(bin));
    *bin = (struct sgc_bin){ .freed = first, .freed_first = place, .freed_full = place };
}

static void leave_bin(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    bool more;

    sgc_assert(sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    do {
        sgc_lock(cache->lock, &cache->section);
        sgc_lists_renew(&cache->bin[kind][cls].lists);
        more = sgc_orphan_leave(cache, kind, cls, LEAVE_STEP);
        if (!more)
            empty_bin(&cache->bin[kind][cls]);
        sgc_unlock(cache->lock, &cache->section);
    } while (more);
}

static void close_inbox(struct sgc_cache *cache)
{
    bool more;

    do {
        sgc_lock(cache->lock, &cache->section);
        sgc_cache_set_tag(cache, 0);
        more = sgc_inbox_close_step(cache);
        sgc_unlock(cache->lock, &cache->section);
    } while (more);
}

/* A page of it that the service thread has just swept may come later.  It waits on the list for the
 * next thread of this number, or for a thread that finds nothing elsewhere. */
void sgc_policy_owner_ends(uint32_t owner, struct sgc_section *self)
{
    sgc_assert(owner != SGC_NO_OWNER);
    sgc_span_give_cached(owner, self);
    while (sgc_pool_forget_owner(owner, FORGET_STEP, self))
        continue;
}

void sgc_cache_close(struct sgc_cache *cache, struct sgc_section *self)
{
    sgc_assert(sgc_cache_ok(cache));
    sgc_assert(self == &cache->section || !sgc_section_inside(&cache->section));
    sgc_lock(cache->lock, &cache->section);
    sgc_cache_leave_runs(cache);
    sgc_cache_retire(cache);
    sgc_unlock(cache->lock, &cache->section);
    if (self == &cache->section)
        sgc_emptied_give_up_all(cache);
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            if (cache->bin[kind][cls].size != 0)
                leave_bin(cache, kind, cls);
    close_inbox(cache);
    sgc_policy_owner_ends(cache->id, self);
}

void sgc_cache_close_abandoned(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache) && cache != sgc_self && !sgc_lock_taken(cache->lock));
    sgc_section_reset(&cache->section);
    sgc_a32_store(&cache->section.state, 0);
    sgc_cache_repair(cache);
    sgc_cache_close(cache, &cache->section);
}
