/* SPDX-License-Identifier: MIT */
/*
 * Small objects: the next pages for a bin.  Runs on the cache's own thread.  Choosing a page takes the cache's lock, because
 * the service thread sweeps the same lists.
 */
#include "alloc/refill.h"

#include "alloc/leave.h"
#include "alloc/page_supply.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/shared.h"
#include "alloc/small/small.h"
#include "alloc/small/sweep.h"

enum {
    SWEEP_STEP = 8,             /* pages swept before the lock is given up for a moment */
    TAKEN_SHARE = 4,            /* of the pages that a bin has taken it may have a fourth besides, unused */
};

/* Some of our own pages, found in one short look.  One look for several: each lock waits for the program's stores
 * before it that are on their way to memory. */
static uint32_t own_pages_step(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t max, bool *more)
{
    uint32_t found = 0;
    bool arriving;

    sgc_assert(max != 0);
    sgc_lock(&cache->lock, &cache->section);
    sgc_lists_renew(&bin->lists);
    sgc_bin_renew(bin);
    arriving = sgc_cache_drain(cache);
    *more = true;
    for (uint32_t i = 0; i < SWEEP_STEP && found < max && *more; i++) {
        uint32_t page = sgc_lists_next_usable(&bin->lists, cache->tag, more);

        if (page == SGC_NO_PAGE)
            continue;
        sgc_bin_make_ready(bin, page);
        found++;
    }
    *more = *more || arriving;
    sgc_unlock(&cache->lock, &cache->section);
    return found;
}

static uint32_t own_pages(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t max)
{
    uint32_t found = 0;
    bool more;

    do
        found += own_pages_step(cache, bin, max - found, &more);
    while (more && found < max);
    return found;
}

void sgc_small_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken, uint32_t count)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count && count != 0);
    sgc_lock(&cache->lock, &cache->section);
    sgc_lists_renew(&bin->lists);
    for (uint32_t i = 0; i < count; i++) {
        sgc_page_set_up_small(taken[i].page, cls, kind, sgc_bin_of_page(kind, cls), cache->tag, taken[i].zero);
        sgc_list_push(&bin->lists, SGC_LIST_DONE, taken[i].page);
        sgc_bin_make_ready(bin, taken[i].page);
    }
    sgc_unlock(&cache->lock, &cache->section);
}

/* A page for all, and a short run of it.  Others may be first to take the whole page: then there may be a next one, so that
 * false says that the pool is empty. */
static bool fresh_shared(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_taken taken;

    sgc_assert(cache->bin[kind][cls].shown < SGC_SHOWN_ENOUGH);
    if (sgc_policy_take_singles(cache, 1, &taken) == 0)
        return false;
    cache->page_taken = true;
    sgc_orphan_enlist(cache, kind, cls, &taken);
    sgc_shared_claim(cache, kind, cls);
    return true;
}

/* Pages that threads leave behind because they have not needed the class for long come before new
 * ones. */
static bool shared_run(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    return sgc_shared_claim(cache, kind, cls) ||
           (sgc_leave_idle(&cache->section) && sgc_shared_claim(cache, kind, cls)) || fresh_shared(cache, kind, cls);
}

static uint32_t fresh_pages(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max)
{
    struct sgc_taken taken[SGC_READY_MAX];
    uint32_t count = sgc_policy_take_singles(cache, max, taken);

    if (count == 0)
        return 0;
    cache->page_taken = true;
    sgc_small_enlist(cache, kind, cls, taken, count);
    return count;
}

/* How many pages to get at once: a part of what it took since the last cycle, so that few lie unused when the next one
 * comes. */
static uint32_t pages_at_once(const struct sgc_cache *cache, const struct sgc_bin *bin)
{
    uint32_t taken = bin->active_epoch == sgc_heap.epoch ? bin->taken : 0, share = taken / TAKEN_SHARE;

    sgc_assert(sgc_cache_ok(cache));
    return share == 0 ? 1 : share < cache->max_pages ? share : cache->max_pages;
}

/* How many pages to get at once that others could use, too: a fourth of the bin's done ones, all of
 * which are in use.  A thread that frees objects itself takes pages and gives them back all the
 * time, so the number that it has taken does not tell how many it needs. */
static uint32_t fresh_at_once(struct sgc_cache *cache, const struct sgc_bin *bin, uint32_t max)
{
    uint32_t count = 0, page;

    sgc_assert(max != 0);
    if (max == 1)
        return max;
    sgc_lock(&cache->lock, &cache->section);
    for (page = bin->lists.head[SGC_LIST_DONE]; page != SGC_NO_PAGE && count < max * TAKEN_SHARE; count++)
        page = sgc_heap.records[page].next;
    sgc_unlock(&cache->lock, &cache->section);
    return count < 2 * TAKEN_SHARE ? 1 : count / TAKEN_SHARE;
}

/* Besides so many of its own: pages of the pool are taken only when there was no other at all. */
static bool whole_pages(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t found, uint32_t max)
{
    sgc_assert(max != 0 && found <= max);
    if (found < max)
        found += sgc_orphan_adopt(cache, kind, cls, max - found);
    if (found == 0 && sgc_leave_idle(&cache->section))
        found = sgc_orphan_adopt(cache, kind, cls, max);
    if (found == 0)
        found = fresh_pages(cache, kind, cls, fresh_at_once(cache, &cache->bin[kind][cls], max));
    return found != 0;
}

/* Under a guard: between the steps a page may be in our hands only.  A guard costs two system calls, which wait for those of
 * other threads, hence several pages under one.  Should a cycle come in between, the first ones are forgotten, and on the
 * lists. */
static bool more_pages(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    uint32_t max = pages_at_once(cache, bin), found;
    bool more;

    sgc_guard_enter(&cache->section);
    found = own_pages(cache, bin, max);
    if (found == 0 && sgc_shared_suits(bin))
        more = shared_run(cache, kind, cls);
    else
        more = whole_pages(cache, kind, cls, found, max);
    sgc_guard_leave(&cache->section);
    return more;
}

void *sgc_small_refill(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    if (bin->size == 0)
        bin->size = sgc_class_bytes(cls);
    do {
        void *object = sgc_small_claim(cache, kind, cls);

        if (object != NULL)
            return object;
    } while (more_pages(cache, kind, cls));
    return NULL;
}

void *sgc_small_many(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max)
{
    void **first = sgc_small_refill(cache, kind, cls);

    sgc_assert(max != 0);
    if (first != NULL)
        sgc_small_link_others(cache, kind, cls, max, first);
    return first;
}
