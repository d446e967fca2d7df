/* SPDX-License-Identifier: MIT */
/*
 * Work done ahead of need: sweeping every page of the last cycle.  On the service thread if the program leaves it time.
 */
#include "alloc/background_work.h"

#include "alloc/small/orphan.h"
#include "alloc/large/span.h"
#include "alloc/small/sweep.h"

static bool sweep_class(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t *most,
                        struct sgc_section *self)
{
    struct sgc_page_lists *lists = &cache->bin[kind][cls].lists;
    struct sgc_sweep_step step = { .swept = 1 };

    while (step.swept != 0 && *most > 0) {
        sgc_lock(&cache->lock, self);
        sgc_lists_sweep(lists, sgc_tag(cache->id, sgc_heap.epoch), *most, &step);
        sgc_unlock(&cache->lock, self);
        sgc_sweep_give(&step, cache->id, self);
        *most -= step.swept;
    }
    return step.swept != 0;
}

/* Sizes that were never used have no pages. */
static uint64_t used_classes(struct sgc_cache *cache, uint32_t kind, uint32_t half,
                             struct sgc_section *self)
{
    uint64_t used = 0;

    sgc_assert(half < 2 && sgc_kind_ok(kind));
    sgc_lock(&cache->lock, self);
    for (uint32_t cls = half * 64; cls < sgc_size_classes.count && cls < half * 64 + 64; cls++)
        for (int list = 0; list < SGC_LISTS; list++)
            if (cache->bin[kind][cls].lists.head[list] != SGC_NO_PAGE)
                used |= UINT64_C(1) << (cls % 64);
    sgc_unlock(&cache->lock, self);
    return used;
}

static bool sweep_classes(struct sgc_cache *cache, uint32_t kind, uint32_t *most, struct sgc_section *self)
{
    for (uint32_t half = 0; half < 2; half++) {
        uint64_t used = used_classes(cache, kind, half, self);

        for (; used != 0; used &= used - 1)
            if (sweep_class(cache, kind, half * 64 + (uint32_t)__builtin_ctzll(used), most, self))
                return true;
    }
    return false;
}

/* Nothing becomes unswept within an epoch, so a cache found done is done until the next. */
static bool sweep_cache(struct sgc_cache *cache, uint32_t *most, struct sgc_section *self)
{
    uint32_t epoch = sgc_heap.epoch;

    if (sgc_a32_load_acq(&cache->swept) == epoch)
        return false;
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        if (sweep_classes(cache, kind, most, self))
            return true;
    sgc_a32_store_rel(&cache->swept, epoch);
    return false;
}

bool sgc_sweep_cache(struct sgc_cache *cache, uint32_t most, struct sgc_section *self)
{
    sgc_assert(sgc_cache_ok(cache) && most != 0);
    return sweep_cache(cache, &most, self);
}

bool sgc_sweep_ahead(uint32_t most, struct sgc_section *self)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count);

    if (sgc_span_sweep(most, self))
        return true;
    for (uint32_t id = 1; id < count; id++)
        if (sweep_cache(sgc_cache_of(id), &most, self))
            return true;
    return sgc_orphan_sweep(most, self);
}
