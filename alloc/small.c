/* SPDX-License-Identifier: MIT */
/*
 * Small objects: the slower ways.  Runs on the cache's own thread.  Claiming takes no lock: nobody
 * else writes the allocation bits or the bin of an active page.  Choosing a page takes the cache's
 * lock, because the service thread sweeps the same lists.
 */
#include "alloc/small.h"

#include "alloc/orphan.h"
#include "alloc/policy.h"
#include "alloc/pool.h"
#include "alloc/remote.h"
#include "alloc/sweep.h"

enum { SWEEP_STEP = 8 };        /* pages swept before the lock is given up for a moment */

/* ---- claiming ---- */

/* The slots [first, end) of a page. */
struct slots {
    uint32_t first, end;
};

static bool slot_allocated(size_t first_granule, uint32_t granules, uint32_t slot)
{
    return sgc_alloc_bit(first_granule + (size_t)slot * granules);
}

/* The next free slots of the active page, at most about a claim's worth, marked allocated. */
static struct slots claim_slots(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t cls)
{
    const struct sgc_size_class *c = &sgc_size_classes.of[cls];
    size_t base = sgc_page_first_granule(bin->page);
    struct slots s = { .first = bin->next_slot };
    uint32_t most = cache->claim_bytes / bin->size;

    while (s.first < c->per_page && slot_allocated(base, c->granules, s.first))
        s.first++;
    s.end = s.first;
    while (s.end < c->per_page && s.end - s.first <= most &&
           !slot_allocated(base, c->granules, s.end)) {
        sgc_alloc_bit_set(base + (size_t)s.end * c->granules);
        s.end++;
    }
    bin->next_slot = s.end;
    return s;
}

/* What lies below zero_from may hold anything; what lies above was never handed out.  Slots of
 * pointer-free kinds are not zeroed. */
static void prepare(struct sgc_bin *bin, uint32_t kind, uint32_t granules, struct slots s)
{
    struct sgc_page_record *r = &sgc_heap.records[bin->page];
    uint32_t from = s.first * granules;
    uint32_t to = s.end * granules;
    uint32_t dirty_to = to < r->zero_from ? to : r->zero_from;

    if (sgc_kind_has_pointers(kind) && from < dirty_to)
        memset((void *)(sgc_page_start(bin->page) + from * SGC_GRANULE), 0,
               (size_t)(dirty_to - from) * SGC_GRANULE);
    if (to > r->zero_from)
        r->zero_from = to;
}

/* Claims a run and opens it for bumping.  In a section.  Freed slots that are kept for reuse look free in
 * the bitmap, too, so they must have been handed out before. */
static bool claim(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind, uint32_t cls)
{
    uint32_t granules = sgc_size_classes.of[cls].granules;
    struct slots s;
    char *start;

    if (bin->active_epoch != sgc_heap.epoch || bin->page == SGC_NO_PAGE)
        return false;
    sgc_assert(bin->nfreed == 0);
    s = claim_slots(cache, bin, cls);
    if (s.first == s.end) {
        bin->page = SGC_NO_PAGE;
        return false;
    }
    prepare(bin, kind, granules, s);
    start = (char *)sgc_page_start(bin->page);
    sgc_count_add(&cache->claimed, (size_t)(s.end - s.first) * granules * SGC_GRANULE);
    sgc_bin_mark_active(cache, kind, cls);
    bin->limit = start + (size_t)s.end * granules * SGC_GRANULE;
    sgc_compiler_barrier();
    bin->cur = start + (size_t)s.first * granules * SGC_GRANULE;
    return true;
}

static void *claim_and_bump(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void *object;

    sgc_section_enter(&cache->section);
    object = sgc_bin_bump(bin);
    if (object == NULL && claim(cache, bin, kind, cls))
        object = sgc_bin_bump(bin);
    sgc_section_leave(&cache->section);
    return object;
}

/* ---- choosing a page ---- */

/* Opens a page of ours for claiming.  Under the cache's lock, hence in a section. */
static void activate(struct sgc_bin *bin, uint32_t page)
{
    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    bin->page = page;
    bin->next_slot = 0;
    bin->active_epoch = sgc_heap.epoch;
}

/* One short look at our own pages. */
static bool own_page_step(struct sgc_cache *cache, struct sgc_bin *bin, bool *more)
{
    uint32_t page;
    bool arriving;

    sgc_lock(&cache->lock, &cache->section);
    sgc_lists_renew(&bin->lists);
    arriving = sgc_cache_drain(cache);
    page = sgc_lists_next_usable(&bin->lists, cache->tag, SWEEP_STEP, more);
    *more = *more || arriving;
    if (page != SGC_NO_PAGE)
        activate(bin, page);
    sgc_unlock(&cache->lock, &cache->section);
    return page != SGC_NO_PAGE;
}

static bool own_page(struct sgc_cache *cache, struct sgc_bin *bin)
{
    bool more;

    do {
        if (own_page_step(cache, bin, &more))
            return true;
    } while (more);
    return false;
}

/* Makes a page nobody else knows one of ours. */
static void enlist(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t page, uint32_t kind,
                   uint32_t cls, bool zero)
{
    sgc_lock(&cache->lock, &cache->section);
    sgc_lists_renew(&bin->lists);
    sgc_page_set_up_small(page, cls, kind, cache->tag, zero);
    sgc_list_push(&bin->lists, SGC_LIST_DONE, page);
    activate(bin, page);
    sgc_unlock(&cache->lock, &cache->section);
}

static bool fresh_page(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind, uint32_t cls)
{
    bool zero;
    uint32_t page = sgc_policy_take_page(cache, &zero);

    if (page == SGC_NO_PAGE)
        return false;
    enlist(cache, bin, page, kind, cls, zero);
    return true;
}

/* Under a guard: between the steps a page may be in our hands only. */
static bool next_page(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    bool got;

    sgc_guard_enter(&cache->section);
    got = own_page(cache, bin) || sgc_orphan_adopt(cache, kind, cls) ||
          fresh_page(cache, bin, kind, cls);
    sgc_guard_leave(&cache->section);
    return got;
}

void *sgc_small_refill(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    if (bin->size == 0)
        bin->size = sgc_class_bytes(cls);
    do {
        void *object = claim_and_bump(cache, kind, cls);

        if (object != NULL)
            return object;
    } while (next_page(cache, kind, cls));
    return NULL;
}

/* ---- a batch for the client ---- */

/* The next slot that is ready: a freed one, else of the claimed run.  In a section. */
static void *next_ready(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind, uint32_t cls)
{
    void *object;

    if (bin->nfreed == 0)
        return sgc_bin_bump(bin);
    object = sgc_bin_pop(cache, bin, kind, cls);
    if (sgc_kind_has_pointers(kind))
        memset(object, 0, bin->size);
    return object;
}

/* Links everything that is ready behind `last`.  In a section. */
static void link_ready(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most, void **last)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void **object;

    while (most-- > 0 && (object = next_ready(cache, bin, kind, cls)) != NULL) {
        *object = NULL;
        *last = object;
        last = object;
    }
}

void *sgc_small_many(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most)
{
    void **first = sgc_small_try(cache, kind, cls);

    sgc_assert(most > 0);
    if (first == NULL)
        first = sgc_small_refill(cache, kind, cls);
    if (first == NULL)
        return NULL;
    *first = NULL;
    sgc_section_enter(&cache->section);
    link_ready(cache, kind, cls, most - 1, first);
    sgc_section_leave(&cache->section);
    return first;
}

/* ---- freeing on the owner's thread ---- */

/* Where an object was freed: outside the section its page may be another thread's already. */
struct freed_from {
    uint32_t kind, cls;
};

/* A slot that was claimed but never handed out has its bit set, too. */
static bool handed_out(const struct sgc_bin *bin, const char *object)
{
    return bin->cur == NULL || (size_t)(object - bin->cur) >= (size_t)(bin->limit - bin->cur);
}

static enum sgc_free_result give_slot(struct sgc_cache *cache, const struct sgc_page *d, void *object)
{
    struct sgc_bin *bin = &cache->bin[d->kind][d->cls];
    size_t granule = sgc_granule_number((uintptr_t)object);

    if (!sgc_alloc_bit(granule) || !handed_out(bin, object) || sgc_freed_remotely(d, granule))
        return SGC_FREE_NOT_ALLOCATED;
    if (sgc_heap.config.poison)
        memset(object, 0xdf, bin->size);
    sgc_alloc_bit_clear(granule);
    sgc_count_add(&cache->freed_bytes, bin->size);
    sgc_compiler_barrier();
    if (bin->nfreed < cache->freed_max) {
        sgc_bin_mark_active(cache, d->kind, d->cls);
        cache->freed[d->kind][d->cls][bin->nfreed] = object;
        sgc_compiler_barrier();
        bin->nfreed++;
    }
    return SGC_FREE_DONE;
}

static enum sgc_free_result free_in_section(struct sgc_cache *cache, void *object, struct freed_from *from)
{
    uint32_t page = sgc_page_number((uintptr_t)object);
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint32_t g = sgc_granule_in_page((uintptr_t)object);

    /* Acquire: the service thread may have swept the page, and written its bits, just now. */
    if (sgc_aw_load_acq(&sgc_heap.records[page].tag) != cache->tag)
        return SGC_FREE_NOT_HERE;
    if (sgc_slot_of(g, d->reciprocal) * d->granules != g || (uintptr_t)object % SGC_GRANULE != 0 ||
        g / d->granules >= sgc_size_classes.of[d->cls].per_page)
        return SGC_FREE_INTERIOR;
    *from = (struct freed_from){ d->kind, d->cls };
    return give_slot(cache, d, object);
}

enum sgc_free_result sgc_small_free_local(struct sgc_cache *cache, void *object)
{
    struct freed_from from = { 0, 0 };
    enum sgc_free_result result;
    bool full;

    sgc_section_enter(&cache->section);
    result = free_in_section(cache, object, &from);
    full = result == SGC_FREE_DONE && cache->bin[from.kind][from.cls].nfreed >= cache->freed_max;
    sgc_section_leave(&cache->section);
    if (full)
        sgc_cache_flush(cache, from.kind, from.cls);
    return result;
}
