/* SPDX-License-Identifier: MIT */
/*
 * Claiming short runs.  alloc/small/shared.h says which thread may call each function.
 */
#include "alloc/small/shared.h"

#include "alloc/small/orphan.h"
#include "alloc/small/slots.h"
#include "alloc/small/small.h"

SGC_STATE struct sgc_shared sgc_shared;

enum {
    FIRST_BYTES = 512,          /* of a run */
    MIN_SHARE = 4,              /* of what was asked for, that a run counts as */
    SEARCH_STEP = 8,            /* pages looked at before the locks are given up for a moment */
};

/* As much as it had before. */
static uint32_t bytes_at_once(const struct sgc_bin *bin)
{
    uint32_t shown = (uint32_t)bin->shown * SGC_SHOWN_UNIT;

    sgc_assert(bin->shown < SGC_SHOWN_ENOUGH);
    return shown < FIRST_BYTES ? FIRST_BYTES : shown;
}

static uint32_t slots_at_once(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    uint32_t bytes = bytes_at_once(bin);

    sgc_assert(bin->size != 0 && sgc_cache_ok(cache));
    return bytes < bin->size || cache->claim_bytes == 0 ? 1 : bytes / bin->size;
}

/* Where there are live objects in between runs are shorter than was asked for; each counts as a fourth of that at least, so
 * that there are not too many of them. */
static void show(struct sgc_bin *bin, size_t bytes)
{
    uint32_t min = bytes_at_once(bin) / MIN_SHARE;
    size_t shown = bin->shown + (bytes < min ? min : bytes) / SGC_SHOWN_UNIT;

    bin->shown = (uint8_t)(shown < SGC_SHOWN_ENOUGH ? shown : SGC_SHOWN_ENOUGH);
}

/* There is no active page: short runs are looked for nowhere, and when this one ends there is a slow way. */
static void take_run(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t page, struct sgc_slots run)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(bin->active_epoch == sgc_heap.epoch && bin->page == SGC_NO_PAGE && bin->next_ready == bin->ready_end);
    sgc_bin_give_run(cache, kind, cls, page, run);
    bin->next = run.end;
    if (bin->dirty > bin->end)
        bin->dirty = bin->end;
}

/* All locks held. */
static bool claim_in_page(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t page)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    struct sgc_slots run = sgc_slots_claim(page, cls, sgc_page_first_granule(page), slots_at_once(cache, bin));

    sgc_assert(sgc_lock_taken(&sgc_orphans.lock) && sgc_page_owner(page) == SGC_ORPHANS);
    if (run.first == run.end)
        return false;
    show(bin, (run.end - run.first) * SGC_GRANULE);
    take_run(cache, kind, cls, page, run);
    sgc_orphan_offer(page);
    return true;
}

/* A handler may have got slots before the guard, and may have a page ready. */
static bool is_served(const struct sgc_bin *bin)
{
    return sgc_bin_has_freed(bin) || sgc_bin_has_claimed(bin) || bin->page != SGC_NO_PAGE || bin->next_ready != bin->ready_end;
}

/* Between two steps all other threads may end, after which no page is shared. */
static bool claim_step(struct sgc_cache *cache, uint32_t kind, uint32_t cls, bool *more)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_lock_taken(&cache->lock) && sgc_lock_taken(&sgc_orphans.lock));
    sgc_bin_renew(bin);
    *more = !is_served(bin) && sgc_shared_suits(bin);
    if (!*more)
        return is_served(bin);
    for (uint32_t i = 0; i < SEARCH_STEP && *more; i++) {
        uint32_t page = sgc_orphan_usable(kind, cls, more);

        if (page != SGC_NO_PAGE && claim_in_page(cache, kind, cls, page))
            return true;
    }
    return false;
}

bool sgc_shared_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    bool found, more;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    sgc_orphan_drain(&cache->section);
    do {
        sgc_lock(&cache->lock, &cache->section);
        sgc_lock(&sgc_orphans.lock, &cache->section);
        found = claim_step(cache, kind, cls, &more);
        sgc_unlock(&sgc_orphans.lock, &cache->section);
        sgc_unlock(&cache->lock, &cache->section);
    } while (!found && more);
    return found;
}
