/* SPDX-License-Identifier: MIT */
/*
 * Idle bins.  alloc/leave.h says which thread may call each function.  On any mutator, or on the
 * service thread.
 */
#include "alloc/leave.h"

#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/slots.h"

SGC_STATE struct sgc_leave sgc_leave;

enum { LEAVE_STEP = 32 };           /* pages left at a time under the locks */

/* ---- once an epoch ---- */

/* A thread that needs a page of the class takes the lock, and makes the current epoch its bin's:
 * the answer holds under the lock. */
static bool is_idle(const struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    const struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_lock_taken(&cache->lock));
    return bin->active_epoch + 1 < sgc_heap.epoch;
}

static bool has_pages(const struct sgc_page_lists *lists)
{
    return lists->head[SGC_LIST_TODO] != SGC_NO_PAGE || lists->head[SGC_LIST_USABLE] != SGC_NO_PAGE ||
           lists->head[SGC_LIST_DONE] != SGC_NO_PAGE;
}

/* Idle bins with pages. */
static uint64_t idle_classes(struct sgc_cache *cache, uint32_t kind, uint32_t half, struct sgc_section *self)
{
    uint64_t idle = 0;

    sgc_assert(half < 2 && sgc_kind_ok(kind));
    sgc_lock(&cache->lock, self);
    for (uint32_t cls = half * 64; cls < sgc_size_classes.count && cls < half * 64 + 64; cls++)
        if (has_pages(&cache->bin[kind][cls].lists) && is_idle(cache, kind, cls))
            idle |= UINT64_C(1) << (cls % 64);
    sgc_unlock(&cache->lock, self);
    return idle;
}

static void leave_unswept(struct sgc_cache *cache, uint32_t kind, uint32_t cls, struct sgc_section *self)
{
    bool more;

    sgc_assert(sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    do {
        sgc_lock(&cache->lock, self);
        sgc_lists_renew(&cache->bin[kind][cls].lists);
        more = is_idle(cache, kind, cls) && sgc_orphan_leave_unswept(cache, kind, cls, LEAVE_STEP, self);
        sgc_unlock(&cache->lock, self);
    } while (more);
}

static void leave_bins(struct sgc_cache *cache, struct sgc_section *self)
{
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t half = 0; half < 2; half++)
            for (uint64_t idle = idle_classes(cache, kind, half, self); idle != 0; idle &= idle - 1)
                leave_unswept(cache, kind, half * 64 + (uint32_t)__builtin_ctzll(idle), self);
}

/* A program of one thread frees what it has at less cost in pages of its own. */
bool sgc_leave_idle(struct sgc_section *self)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count), epoch = sgc_heap.epoch, asked = sgc_a32_load(&sgc_leave.asked);

    if (sgc_a32_load(&sgc_shared.threads) <= 1 || sgc_a32_load(&sgc_leave.stay) != 0)
        return false;
    if (asked == epoch || !sgc_a32_cas(&sgc_leave.asked, asked, epoch))
        return false;
    for (uint32_t id = 1; id < count; id++)
        leave_bins(sgc_cache_of(id), self);
    return true;
}

/* ---- when memory has run out ---- */

static bool has_any(struct sgc_cache *cache, uint32_t kind, uint32_t cls, struct sgc_section *self)
{
    const struct sgc_bin *bin = &cache->bin[kind][cls];
    bool any;

    sgc_assert(sgc_cache_ok(cache));
    sgc_lock(&cache->lock, self);
    any = has_pages(&bin->lists) || bin->active_epoch == sgc_heap.epoch;
    sgc_unlock(&cache->lock, self);
    return any;
}

bool sgc_leave_others_have(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count);

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    for (uint32_t id = 1; id < count; id++)
        if (id != cache->id && has_any(sgc_cache_of(id), kind, cls, &cache->section))
            return true;
    return false;
}

/* Freed slots are the bin's own to remember, so it forgets them, with its run. */
void sgc_leave_class(uint32_t kind, uint32_t cls, struct sgc_section *self)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count);
    bool counted = sgc_a32_load(&sgc_leave.stay) != 0;

    sgc_assert(sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    for (uint32_t id = 1; id < count; id++) {
        struct sgc_cache *cache = sgc_cache_of(id);

        sgc_lock(&cache->lock, self);
        if (cache->bin[kind][cls].size != 0) {
            sgc_bin_give_up(cache, kind, cls);
            sgc_orphan_leave_with_room(cache, kind, cls, counted, self);
        }
        sgc_unlock(&cache->lock, self);
    }
}
