/* SPDX-License-Identifier: MIT */
/*
 * New objects where the common path has none.  On the cache's own thread.  Choosing a page takes
 * the cache's lock, because the service thread sweeps the same lists.
 */
#include "alloc/new_objects.h"

#include "alloc/large/span.h"
#include "alloc/page_supply.h"
#include "alloc/small/carve.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/sampling.h"
#include "alloc/small/small.h"
#include "alloc/small/sweep.h"

enum {
    SWEEP_STEP = 8,             /* pages swept before the lock is given up for a moment */
    TAKEN_SHARE = 4,            /* of the pages that a bin has taken it may have a fourth besides,
                                 * unused */
    SWEEP_FOR = 256,            /* spans swept for one request, if none of them serves */
    PAGES_MAX = 256,            /* in one pause */
    PAGES_MORE = 16,            /* than the last hook used twice */
};

/* ---- small objects ---- */

/* Some of our own pages, found in one short look.  One look for several: each lock waits for the
 * program's stores before it that are on their way to memory. */
static uint32_t own_pages_step(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t max, bool *more)
{
    uint32_t found = 0;
    bool arriving;

    sgc_assert(max != 0);
    sgc_lock(cache->lock, &cache->section);
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
    sgc_unlock(cache->lock, &cache->section);
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

/* Makes pages that nobody else knows the cache's. */
static void enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken, uint32_t count)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count && count != 0);
    sgc_lock(cache->lock, &cache->section);
    sgc_lists_renew(&bin->lists);
    for (uint32_t i = 0; i < count; i++) {
        sgc_page_set_up_small(taken[i].page, cls, kind, sgc_bin_of_page(kind, cls), cache->tag, taken[i].zero);
        sgc_list_push(&bin->lists, SGC_LIST_DONE, taken[i].page);
        sgc_bin_make_ready(bin, taken[i].page);
    }
    sgc_unlock(cache->lock, &cache->section);
}

/* A page for all, and a short run of it.  Others may be first to take the whole page: then there
 * may be a next one, so that false says that the pool is empty. */
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
    enlist(cache, kind, cls, taken, count);
    return count;
}

/* How many pages to get at once: a part of what it took since the last cycle, so that few lie
 * unused when the next one comes. */
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
    sgc_lock(cache->lock, &cache->section);
    for (page = bin->lists.head[SGC_LIST_DONE]; page != SGC_NO_PAGE && count < max * TAKEN_SHARE; count++)
        page = sgc_heap.records[page].next;
    sgc_unlock(cache->lock, &cache->section);
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

/* Under a guard: between the steps a page may be in our hands only.  A guard costs two system
 * calls, which wait for those of other threads, hence several pages under one.  Should a cycle come
 * in between, the first ones are forgotten, and on the lists. */
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
        void *object;

        sgc_sampling_begin(cache, bin);
        object = SGC_TRACES ? sgc_small_claim(cache, kind, cls) : sgc_small_carve(cache, kind, cls);
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

/* ---- large objects ---- */

/* Pages that were taken too much; `zero`: as clean as they came. */
static void give_extra(uint32_t first, uint32_t count, bool zero, struct sgc_section *self)
{
    if (count != 0 && zero)
        sgc_pool_give_clean(first, count, self);
    else if (count != 0)
        sgc_pool_give(first, count, self);
}

/* Takes pages such that the first lies at a multiple of `align`; what was taken too much goes
 * back. */
static uint32_t take_aligned(struct sgc_section *self, size_t count, size_t align, bool *zero)
{
    size_t extra = align > SGC_PAGE ? align / SGC_PAGE - 1 : 0;
    uint32_t got, first;

    sgc_assert(count != 0 && (align & (align - 1)) == 0);
    if (count + extra < count || count + extra > sgc_heap.reserved / SGC_PAGE)
        return SGC_NO_PAGE;
    got = sgc_policy_take_pages((uint32_t)(count + extra), self, zero);
    if (got == SGC_NO_PAGE || extra == 0)
        return got;
    first = sgc_page_number(sgc_round_up(sgc_page_start(got), align));
    give_extra(got, first - got, *zero, self);
    give_extra(first + (uint32_t)count, (uint32_t)(got + extra - first), *zero, self);
    return first;
}

static void *make_span(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align)
{
    bool zero;
    uint32_t first = take_aligned(self, sgc_span_pages_for(bytes), align, &zero);

    return first != SGC_NO_PAGE ? sgc_span_make(first, bytes, kind, zero, self) : NULL;
}

/* Under a guard: a span that is being made is on no list. */
static void *make_or_find_span(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align, bool spare)
{
    uint32_t owner = sgc_section_owner(self);
    void *object = NULL;

    if (spare && sgc_span_sweep_for(owner, (uint32_t)sgc_span_pages_for(bytes), SWEEP_FOR, self))
        object = sgc_span_use_cached(owner, bytes, kind, self);
    return object != NULL ? object : make_span(self, bytes, kind, align);
}

void *sgc_span_alloc(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align)
{
    bool spare = align <= SGC_PAGE && !sgc_kind_uncollectable(kind) &&
                 bytes <= (size_t)sgc_heap.config.spare_pages * SGC_PAGE;
    void *object = spare ? sgc_span_use_cached(sgc_section_owner(self), bytes, kind, self) : NULL;

    sgc_assert(bytes != 0 && sgc_kind_ok(kind));
    if (object != NULL)
        return object;
    sgc_guard_enter(self);
    object = make_or_find_span(self, bytes, kind, align, spare);
    sgc_guard_leave(self);
    return object;
}

bool sgc_span_free(struct sgc_section *self, uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    return sgc_span_release(sgc_section_owner(self), page, self);
}

/* ---- objects for the thread that has stopped the world ---- */

struct stopped_page {
    uint32_t page, slots;       /* so many of its first are handed out */
};

struct stopped {
    struct stopped_page of[PAGES_MAX];
    uint32_t count, last;       /* pages in use; how many the last hook used */
    struct sgc_taken ready[PAGES_MAX];
    uint32_t ready_count;
};

SGC_STATE static struct stopped all;

static void take_ready(struct sgc_cache *cache, uint32_t want)
{
    uint32_t got = 1;

    sgc_assert(want <= PAGES_MAX);
    while (all.ready_count < want && got != 0) {
        got = sgc_policy_take_singles(cache, want - all.ready_count, &all.ready[all.ready_count]);
        all.ready_count += got;
    }
}

/* Whether they have contents is what the pool asks their records. */
static void give_ready_back(struct sgc_cache *cache, uint32_t from)
{
    uint32_t page[PAGES_MAX], count = all.ready_count - from;

    sgc_assert(from <= all.ready_count);
    for (uint32_t i = 0; i < count; i++) {
        page[i] = all.ready[from + i].page;
        sgc_heap.records[page[i]].zero_from = all.ready[from + i].zero ? 0 : SGC_PAGE_GRANULES;
    }
    all.ready_count = from;
    sgc_pool_give_singles(page, count, cache->id, &cache->section);
}

/* Under a guard: a handler that jumped out would lose the pages that are in hand. */
void sgc_stopped_reserve(struct sgc_cache *cache, bool allocates)
{
    uint32_t want = allocates ? 2 * all.last + PAGES_MORE : 0;

    sgc_assert(sgc_cache_ok(cache));
    want = want < PAGES_MAX ? want : PAGES_MAX;
    if (want == all.ready_count)
        return;
    sgc_guard_enter(&cache->section);
    if (want > all.ready_count)
        take_ready(cache, want);
    else
        give_ready_back(cache, want);
    sgc_guard_leave(&cache->section);
}

static bool has_room(const struct stopped_page *p, uint32_t kind, uint32_t cls)
{
    const struct sgc_page *d = &sgc_heap.pages[p->page];

    sgc_assert(sgc_page_ok(p->page));
    return d->kind == kind && d->cls == cls && p->slots < sgc_size_classes.of[cls].per_page;
}

static struct stopped_page *new_page(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_taken *taken;

    if (all.count == PAGES_MAX || all.ready_count == 0)
        return NULL;
    taken = &all.ready[--all.ready_count];
    taken->zero = false;        /* for the next user */
    cache->bin[kind][cls].size = (uint32_t)sgc_class_bytes(cls);
    enlist(cache, kind, cls, taken, 1);
    all.of[all.count] = (struct stopped_page){ taken->page, 0 };
    return &all.of[all.count++];
}

/* The last one of its class is the one with room. */
static struct stopped_page *page_for(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    for (uint32_t i = all.count; i-- > 0;)
        if (has_room(&all.of[i], kind, cls))
            return &all.of[i];
    return new_page(cache, kind, cls);
}

static uintptr_t slot_of(const struct stopped_page *p, uint32_t slot)
{
    sgc_assert(slot < SGC_PAGE_GRANULES);
    return sgc_page_start(p->page) + (uintptr_t)slot * sgc_heap.pages[p->page].granules * SGC_GRANULE;
}

void *sgc_stopped_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct stopped_page *p = page_for(cache, kind, cls);
    size_t bytes = sgc_class_bytes(cls);
    uintptr_t object;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    if (p == NULL)
        return NULL;
    object = slot_of(p, p->slots++);
    memset((void *)object, 0, bytes);
    sgc_own_bit_set(sgc_alloc_words, sgc_bit_index(sgc_granule_number(object)));
    sgc_count_add(&cache->claimed, bytes);
    return (void *)object;
}

void sgc_stopped_each(void (*fn)(void *arg, uintptr_t object), void *arg)
{
    for (uint32_t i = 0; i < all.count; i++)
        for (uint32_t slot = 0; slot < all.of[i].slots; slot++)
            fn(arg, slot_of(&all.of[i], slot));
    all.last = all.count;
    all.count = 0;
}

/* The pages in reserve look as if a thread that is not here had them in its hands. */
void sgc_stopped_after_fork(void)
{
    sgc_assert(all.count == 0);
    all.ready_count = 0;
}
