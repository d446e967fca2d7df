/* SPDX-License-Identifier: MIT */
/* See alloc/pause_alloc.h. */
#include "alloc/pause_alloc.h"

#include "alloc/page_supply.h"
#include "alloc/refill.h"
#include "alloc/small/small.h"

enum {
    PAGES_MAX = 256,           /* in one pause */
    PAGES_MORE = 16,            /* than the last hook used twice */
};

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

static void take(struct sgc_cache *cache, uint32_t want)
{
    uint32_t got = 1;

    sgc_assert(want <= PAGES_MAX);
    while (all.ready_count < want && got != 0) {
        got = sgc_policy_take_singles(cache, want - all.ready_count, &all.ready[all.ready_count]);
        all.ready_count += got;
    }
}

/* Whether they have contents is what the pool asks their records. */
static void give_back(struct sgc_cache *cache, uint32_t from)
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
        take(cache, want);
    else
        give_back(cache, want);
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
    sgc_small_enlist(cache, kind, cls, taken, 1);
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
