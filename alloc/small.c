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
#include "alloc/slots.h"
#include "alloc/sweep.h"

enum { SWEEP_STEP = 8 };        /* pages swept before the lock is given up for a moment */

/* ---- claiming ---- */

/* Of the claimed slots below `upto`: what may hold anything is zeroed if the kind asks for that. */
static char *zeroed_until(const struct sgc_bin *bin, char *from, char *upto)
{
    char *dirty_to = upto < bin->dirty ? upto : bin->dirty;

    if (from < dirty_to)
        memset(from, 0, (size_t)(dirty_to - from));
    return upto;
}

/* Makes the next claimed slots ready to be handed out: all that are zero, else a few kilobytes. */
static void open_run(struct sgc_bin *bin, char *from)
{
    size_t most = (SGC_ZERO_BYTES / bin->size + 1) * (size_t)bin->size;

    bin->limit = from >= bin->dirty || (size_t)(bin->end - from) <= most ? zeroed_until(bin, from, bin->end)
                                                                         : zeroed_until(bin, from, from + most);
}

/* Where the run stops holding old words; below zero_from each slot has been handed out before. */
static char *dirty_until(uint32_t page, uint32_t kind, uint32_t to)
{
    struct sgc_page_record *r = &sgc_heap.records[page];
    char *dirty = (char *)sgc_page_start(page) + (size_t)r->zero_from * SGC_GRANULE;

    if (to > r->zero_from)
        r->zero_from = to;
    return sgc_kind_has_pointers(kind) ? dirty : NULL;
}

/* In an order in which the bin has, at no instruction, slots that are not all claimed. */
static void give_run(struct sgc_bin *bin, char *from, char *end, char *dirty)
{
    bin->limit = bin->end = NULL;
    sgc_compiler_barrier();
    bin->cur = from;
    bin->dirty = dirty;
    sgc_compiler_barrier();
    bin->end = end;
    open_run(bin, from);
}

/* Claims a run and opens it for bumping.  In a section.  Freed slots that are kept for reuse look free in
 * the bitmap, too, so they must have been handed out before. */
static bool claim(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind, uint32_t cls)
{
    uint32_t granules = sgc_size_classes.of[cls].granules;
    struct sgc_slots s;
    char *start;

    if (bin->active_epoch != sgc_heap.epoch || bin->page == SGC_NO_PAGE)
        return false;
    sgc_assert(bin->freed == NULL);
    s = sgc_slots_claim(bin->page, cls, bin->next_slot, cache->claim_bytes / bin->size + 1);
    bin->next_slot = s.end;
    if (s.first == s.end) {
        bin->page = SGC_NO_PAGE;
        return false;
    }
    start = (char *)sgc_page_start(bin->page);
    sgc_count_add(&cache->claimed, (size_t)(s.end - s.first) * granules * SGC_GRANULE);
    sgc_bin_activate(cache, kind, cls);
    give_run(bin, start + (size_t)s.first * granules * SGC_GRANULE, start + (size_t)s.end * granules * SGC_GRANULE,
             dirty_until(bin->page, kind, s.end * granules));
    return true;
}

/* The next slot that is ready: a freed one, else of the claimed run.  In a section. */
static void *next_ready(struct sgc_bin *bin, uint32_t kind)
{
    void *object;

    if (bin->freed == NULL) {
        if (bin->limit < bin->end && !sgc_bin_has_run(bin))
            open_run(bin, bin->limit);
        return sgc_bin_has_run(bin) ? sgc_bin_bump(bin) : NULL;
    }
    object = sgc_bin_pop(bin);
    if (sgc_kind_has_pointers(kind))
        memset(object, 0, bin->size);
    return object;
}

void *sgc_small_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void *object;

    sgc_section_enter(&cache->section);
    object = next_ready(bin, kind);
    if (object == NULL && claim(cache, bin, kind, cls))
        object = sgc_bin_bump(bin);
    sgc_section_leave(&cache->section);
    return object;
}

void *sgc_bin_finish_zeroed(struct sgc_cache *cache, void *object, size_t bytes)
{
    sgc_brief_end(&cache->section);
    return memset(object, 0, bytes);
}

void *sgc_small_try(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    void *object;

    sgc_section_enter(&cache->section);
    object = next_ready(&cache->bin[kind][cls], kind);
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
    cache->took = true;
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
        void *object = sgc_small_claim(cache, kind, cls);

        if (object != NULL)
            return object;
    } while (next_page(cache, kind, cls));
    return NULL;
}

/* ---- a batch for the client ---- */

/* Links everything that is ready behind `last`.  In a section. */
static void link_ready(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most, void **last)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void **object;

    while (most-- > 0 && (object = next_ready(bin, kind)) != NULL) {
        *object = NULL;
        *last = object;
        last = object;
    }
}

void *sgc_small_many(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most)
{
    void **first = sgc_small_refill(cache, kind, cls);

    sgc_assert(most > 0);
    if (first == NULL)
        return NULL;
    *first = NULL;
    sgc_section_enter(&cache->section);
    link_ready(cache, kind, cls, most - 1, first);
    sgc_section_leave(&cache->section);
    return first;
}

/* ---- freeing on the owner's thread ---- */

/* The slot's bit is cleared. */
static void keep_or_forget(struct sgc_cache *cache, const struct sgc_page *d, void *object, size_t granule)
{
    struct sgc_bin *bin = &cache->bin[d->kind][d->cls];

    if (!cache->keeps_freed || sgc_kind_uncollectable(d->kind)) {
        sgc_count_add(&cache->freed_bytes, bin->size);
        return;
    }
    sgc_bin_activate(cache, d->kind, d->cls);
    bin->nfreed++;
    sgc_bin_push(bin, object, sgc_bit_place(granule));
}

static enum sgc_free_result give_slot(struct sgc_cache *cache, const struct sgc_page *d, void *object)
{
    const struct sgc_bin *bin = &cache->bin[d->kind][d->cls];
    size_t granule = sgc_granule_number((uintptr_t)object);

    if (!sgc_alloc_bit(granule) || !sgc_bin_handed_out(bin, object) || sgc_freed_remotely(d, granule))
        return SGC_FREE_NOT_ALLOCATED;
    if (sgc_heap.config.poison)
        memset(object, 0xdf, bin->size);
    sgc_alloc_bit_clear(granule);
    sgc_compiler_barrier();
    keep_or_forget(cache, d, object, granule);
    return SGC_FREE_DONE;
}

void sgc_free_undo(struct sgc_cache *cache, void *object)
{
    sgc_bin_at(cache, sgc_a32_load(&sgc_heap.pages[sgc_page_number((uintptr_t)object)].bin))->nfreed--;
    sgc_own_bit_set(sgc_alloc_words, sgc_bit_place(sgc_granule_number((uintptr_t)object)));
}

static enum sgc_free_result free_in_section(struct sgc_cache *cache, void *object)
{
    uint32_t page = sgc_page_number((uintptr_t)object);
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint32_t g = sgc_granule_in_page((uintptr_t)object);

    if (sgc_aw_load_acq(&d->tag) != cache->tag)
        return SGC_FREE_NOT_HERE;
    if (sgc_slot_of(g, d->reciprocal) * d->granules != g || (uintptr_t)object % SGC_GRANULE != 0 ||
        g / d->granules >= sgc_size_classes.of[d->cls].per_page)
        return SGC_FREE_INTERIOR;
    return give_slot(cache, d, object);
}

enum sgc_free_result sgc_small_free_local(struct sgc_cache *cache, void *object)
{
    enum sgc_free_result result;

    sgc_section_enter(&cache->section);
    result = free_in_section(cache, object);
    sgc_section_leave(&cache->section);
    return result;
}
