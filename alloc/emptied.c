/* SPDX-License-Identifier: MIT */
/*
 * Pages emptied by freeing.  Who may run what: alloc/emptied.h.
 *
 * Slots that a thread frees wait in their bin for the next object of that size.  A program whose sizes change would leave them
 * there for ever, since no cycle comes while everything is freed.  So a thread that asks for pages, and has no free ones, first
 * looks at what its bins have at hand.  A bin gives up all of its slots at once: the allocation bits say which pages are empty
 * without a look at the slots, which may be cold.
 *
 * What that costs is bounded by what was freed before: a bin is left alone if its pages are many more than its freed slots
 * would fill, and after a look in vain there is none until a fourth more is at hand.
 */
#include "alloc/emptied.h"

#include "alloc/pages/pool.h"
#include "alloc/small/remote_free.h"

enum {
    KEPT_MIN = 4,                   /* pages' worth at hand; less is nothing to look for, */
    KEPT_BIN = SGC_PAGE / 2,        /* nor are so many bytes of a bin */
    FOUND_MANY = 4,                 /* pages for which a look at all bins was worth while */
    PAUSE_MIN = 2, PAUSE_MAX = 16,  /* demands for pages between two such looks */
    DENSE = 4,                      /* at least a fourth of what the pages of a bin hold is at hand, */
    EXPECTED_PAGES = 16,            /* not counting so many, */
    GROWN = 4,                      /* and a fourth more than at the last look */
    ONE_BY_ONE = 3,                 /* pages taken by a bin that is in no great demand (alloc/refill.c) */
    WALK_STEP = 32,                 /* pages looked at before the lock is given up for a moment, */
    COUNT_STEP = 256,               /* and pages counted */
};

/* ---- one page ---- */

static bool is_empty(uint32_t page)
{
    sgc_page_merge(page);
    return sgc_slots_fill(page, sgc_heap.pages[page].cls) == SGC_FILL_EMPTY;
}

bool sgc_emptied_leave(struct sgc_cache *cache, uint32_t page, struct sgc_sweep_step *step)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_bin *bin = &cache->bin[d->kind][d->cls];

    sgc_assert(sgc_lock_taken(&cache->lock) && sgc_aw_load(&d->tag) == cache->tag);
    if (sgc_heap_is_marking() || !is_empty(page))
        return false;
    if (sgc_bin_expects(bin, page) || !sgc_bin_forget_freed(cache, d->kind, d->cls, page))
        return false;
    sgc_lists_take_empty(&bin->lists, page, step);
    return true;
}

/* ---- pages that wait to be used ---- */

static bool expects_all(const struct sgc_bin *bin, enum sgc_page_list list)
{
    uint32_t page = bin->lists.head[list];

    while (page != SGC_NO_PAGE && sgc_bin_expects(bin, page))
        page = sgc_heap.records[page].next;
    return page == SGC_NO_PAGE;
}

/* A page that was offered while it waited may wait twice. */
static void unexpect_last(struct sgc_cache *cache, struct sgc_bin *bin, struct sgc_sweep_step *step)
{
    uint32_t page = bin->ready[--bin->ready_end];

    if (sgc_bin_expects(bin, page))
        return;
    if (is_empty(page))
        sgc_lists_take_empty(&bin->lists, page, step);
    else
        sgc_cache_page_usable(cache, page);
}

/* The bin then asks for pages one by one, until it is in demand again. */
void sgc_emptied_unexpect(struct sgc_cache *cache, uint32_t kind, uint32_t cls, struct sgc_sweep_step *step)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_cache_ok(cache) && sgc_lock_taken(&cache->lock) && bin->lists.epoch == sgc_heap.epoch);
    if (bin->active_epoch != sgc_heap.epoch || bin->freed != NULL || sgc_heap_is_marking() ||
        bin->lists.head[SGC_LIST_TODO] != SGC_NO_PAGE || !expects_all(bin, SGC_LIST_USABLE) || !expects_all(bin, SGC_LIST_DONE))
        return;
    while (bin->ready_end > bin->next_ready && step->empties < SGC_SWEEP_STEP) {
        unexpect_last(cache, bin, step);
        bin->taken = bin->taken < ONE_BY_ONE ? bin->taken : ONE_BY_ONE;
    }
}

/* ---- which bin ---- */

struct kept {
    size_t bytes;                   /* of freed slots at hand */
    uint32_t kind, cls;
};

/* Of the bins with more than `above` bytes at hand, `least` is the one with the fewest; all that they have. */
static size_t kept_above(const struct sgc_cache *cache, uint32_t kind, size_t above, struct kept *least)
{
    size_t all = 0;

    for (uint32_t half = 0; half < 2; half++)
        for (uint64_t bins = cache->active[kind][half]; bins != 0; bins &= bins - 1) {
            uint32_t cls = half * 64 + (uint32_t)__builtin_ctzll(bins);
            const struct sgc_bin *bin = &cache->bin[kind][cls];
            size_t bytes = (size_t)sgc_bin_nfreed(bin) * bin->size;

            if (bytes <= above)
                continue;
            all += bytes;
            if (bytes < least->bytes)
                *least = (struct kept){ bytes, kind, cls };
        }
    return all;
}

static size_t kept_of_all(const struct sgc_cache *cache, size_t above, struct kept *least)
{
    size_t all = 0;

    *least = (struct kept){ .bytes = SIZE_MAX };
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        all += kept_above(cache, kind, above, least);
    return all;
}

/* ---- all pages of a bin ---- */

/* A walk over the swept pages of a bin, some at a time under the lock.  Others add pages to these lists meanwhile, at their
 * beginnings, and take none off. */
struct walk {
    struct sgc_cache *cache;
    struct sgc_page_lists *lists;
    int list;
    uint32_t next;
};

static struct walk walk_of(struct sgc_cache *cache, const struct kept *kept)
{
    return (struct walk){ cache, &cache->bin[kept->kind][kept->cls].lists, SGC_LIST_TODO, SGC_NO_PAGE };
}

/* The next page; `usable` comes before `done`, whose pages may be moved there.  It is the last one when a cycle has come, after
 * which all is to be swept, or a mark goes on beside the program, when no page leaves. */
static uint32_t walk_next(struct walk *w)
{
    uint32_t page;

    sgc_assert(sgc_lock_taken(&w->cache->lock));
    if (w->lists->epoch != sgc_heap.epoch || sgc_heap_is_marking())
        return SGC_NO_PAGE;
    while (w->next == SGC_NO_PAGE && w->list < SGC_LIST_DONE)
        w->next = w->lists->head[++w->list];
    page = w->next;
    if (page != SGC_NO_PAGE)
        w->next = sgc_heap.records[page].next;
    return page;
}

/* Ends early. */
static bool has_more_pages(struct sgc_cache *cache, const struct kept *kept, size_t most)
{
    struct walk w = walk_of(cache, kept);
    uint32_t page = SGC_NO_PAGE;

    sgc_assert(most != 0);
    do {
        sgc_lock(&cache->lock, &cache->section);
        for (uint32_t i = 0; i < COUNT_STEP && most > 0 && (page = walk_next(&w)) != SGC_NO_PAGE; i++)
            most--;
        sgc_unlock(&cache->lock, &cache->section);
    } while (page != SGC_NO_PAGE && most > 0);
    return page != SGC_NO_PAGE;
}

/* The bin has given up its slots. */
static void sort_page(struct sgc_page_lists *lists, uint32_t page, struct sgc_sweep_step *step)
{
    enum sgc_fill fill;

    sgc_page_merge(page);
    fill = sgc_slots_fill(page, sgc_heap.pages[page].cls);
    if (fill == SGC_FILL_EMPTY)
        sgc_lists_take_empty(lists, page, step);
    else if (fill == SGC_FILL_PART && sgc_list_of(lists, page) == SGC_LIST_DONE)
        sgc_list_move(lists, SGC_LIST_USABLE, page);
}

/* False: there are no more. */
static bool sort_some(struct walk *w, struct sgc_sweep_step *step)
{
    uint32_t page = SGC_NO_PAGE;

    *step = (struct sgc_sweep_step){ .swept = 0 };
    while (step->swept < WALK_STEP && step->empties < SGC_SWEEP_STEP && (page = walk_next(w)) != SGC_NO_PAGE) {
        step->swept++;
        sort_page(w->lists, page, step);
    }
    sgc_sweep_announce(step);
    return page != SGC_NO_PAGE;
}

static uint32_t sort_pages(struct sgc_cache *cache, const struct kept *kept)
{
    struct walk w = walk_of(cache, kept);
    struct sgc_sweep_step step;
    uint32_t found = 0;
    bool more;

    do {
        sgc_lock(&cache->lock, &cache->section);
        more = sort_some(&w, &step);
        sgc_unlock(&cache->lock, &cache->section);
        sgc_sweep_give(&step, cache->id, &cache->section);
        found += step.empties;
    } while (more);
    return found;
}

/* Unless it has many pages, and few of them are likely to be empty; so many may be, besides those whose slots are at hand. */
static uint32_t give_up(struct sgc_cache *cache, const struct kept *kept, uint32_t others)
{
    if (has_more_pages(cache, kept, (kept->bytes / SGC_PAGE + others) * DENSE + EXPECTED_PAGES))
        return 0;
    sgc_lock(&cache->lock, &cache->section);
    sgc_bin_give_up(cache, kept->kind, kept->cls);
    sgc_unlock(&cache->lock, &cache->section);
    return sort_pages(cache, kept);
}

/* ---- the look ---- */

/* When a cache looks again. */
struct look {
    uint32_t kept;                  /* pages' worth of freed slots that must be at hand */
    uint16_t wait, pause;           /* demands for pages until all bins are looked at; how many it waits each time */
};

static struct look looks[SGC_OWNERS_MAX];
SGC_STATE_LARGE(looks);

/* Bins that keep many freed slots.  Those with the fewest come first: if they are enough, the others are left in peace.  One
 * that did not give them up is passed over, with those that have as many. */
static uint32_t look_at_kept(struct sgc_cache *cache, struct look *look, uint32_t want)
{
    struct kept least;
    size_t above = KEPT_BIN, kept = kept_of_all(cache, above, &least) / SGC_PAGE;
    uint32_t again = (uint32_t)(kept + kept / GROWN + KEPT_MIN), found = 0;

    if (look->kept > again)
        look->kept = again;
    if (kept < KEPT_MIN || kept < look->kept)
        return 0;
    while (found < want && least.bytes != SIZE_MAX) {
        found += give_up(cache, &least, 0);
        if (sgc_bin_nfreed(&cache->bin[least.kind][least.cls]) != 0)
            above = least.bytes;
        kept_of_all(cache, above, &least);
    }
    look->kept = found == 0 ? again : 0;
    return found;
}

/* The lowest bits of a word. */
static inline uintptr_t low_bits(size_t bits)
{
    return bits >= 64 ? UINTPTR_MAX : ((uintptr_t)1 << bits) - 1;
}

/* Those of the word of granules from `at` on that are of the claimed run. */
static uintptr_t run_bits(const struct sgc_bin *bin, size_t at)
{
    size_t from = sgc_granule_number((uintptr_t)bin->cur), to = sgc_granule_number((uintptr_t)bin->end);

    if (bin->cur >= bin->end || to <= at || from >= at + 64)
        return 0;
    return low_bits(to - at) & ~low_bits(from <= at ? 0 : from - at);
}

/* Is nothing allocated in the active page but the run? */
static bool has_run_only(const struct sgc_bin *bin)
{
    size_t first = sgc_page_first_granule(bin->page);

    for (size_t at = first; at < first + SGC_PAGE_GRANULES; at += 64)
        if ((sgc_aw_load(sgc_slot_word(at)) & ~run_bits(bin, at)) != 0)
            return false;
    return true;
}

static bool is_promising(struct sgc_cache *cache, const struct sgc_bin *bin)
{
    bool promising;

    sgc_lock(&cache->lock, &cache->section);
    promising = bin->active_epoch == sgc_heap.epoch &&
                ((bin->page != SGC_NO_PAGE && has_run_only(bin)) ||
                 (cache->delivered != 0 && bin->lists.head[SGC_LIST_USABLE] != SGC_NO_PAGE));
    sgc_unlock(&cache->lock, &cache->section);
    return promising;
}

static uint32_t look_at_kind(struct sgc_cache *cache, uint32_t kind, uint32_t delivered)
{
    uint32_t found = 0;

    for (uint32_t half = 0; half < 2; half++)
        for (uint64_t bins = cache->active[kind][half]; bins != 0; bins &= bins - 1) {
            uint32_t cls = half * 64 + (uint32_t)__builtin_ctzll(bins);
            const struct sgc_bin *bin = &cache->bin[kind][cls];
            struct kept kept = { (size_t)sgc_bin_nfreed(bin) * bin->size, kind, cls };

            if (is_promising(cache, bin))
                found += give_up(cache, &kept, delivered);
        }
    return found;
}

/* After a look in vain the next one comes later. */
static void pause_now(struct look *look, bool in_vain)
{
    if (!in_vain)
        look->pause = PAUSE_MIN;
    else if (look->pause < PAUSE_MAX)
        look->pause *= 2;
    look->wait = look->pause;
}

/* The first one is not at once. */
static bool is_time(struct look *look)
{
    if (look->pause == 0)
        look->wait = look->pause = PAUSE_MAX;
    return look->wait == 0 || --look->wait == 0;
}

/* All bins that had a page in this epoch: what other threads have freed, and active pages in which nothing is left. */
static uint32_t look_at_all(struct sgc_cache *cache, struct look *look)
{
    uint32_t found = 0, delivered = cache->delivered;

    if (!is_time(look))
        return 0;
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        found += look_at_kind(cache, kind, delivered);
    cache->delivered = 0;
    pause_now(look, found < FOUND_MANY);
    return found;
}

uint32_t sgc_emptied_look(struct sgc_cache *cache, uint32_t want)
{
    struct look *look = &looks[cache->id];
    uint32_t found;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    if (sgc_heap_is_marking())
        return 0;
    sgc_guard_enter(&cache->section);
    found = look_at_kept(cache, look, want);
    if (found < want)
        found += look_at_all(cache, look);
    sgc_guard_leave(&cache->section);
    return found;
}
