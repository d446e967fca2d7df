/* SPDX-License-Identifier: MIT */
/*
 * Pages emptied by freeing.  alloc/release.h says which thread may call each function.
 */
#include "alloc/release.h"

#include "alloc/pages/pool.h"
#include "alloc/small/freed.h"
#include "alloc/small/remote_free.h"

enum {
    ONE_BY_ONE = 3,                 /* pages taken by a bin that is in no great demand
                                     * (alloc/new_objects.c) */
    WALK_STEP = 32,                 /* pages looked at before the lock is given up for a moment, */
    COUNT_STEP = 256,               /* and pages counted */
    FREED_PER_PAGE = 16,            /* freed slots for which a page is looked at */
    BOUND_SHARE = 4,                /* of what its pages hold a plain malloc's bin may keep */
    FREED_WALKED = 64,              /* freed slots at hand, each of which may have left the
                                     * processor's caches */
};

/* ---- one page ---- */

static bool is_empty(uint32_t page)
{
    sgc_page_merge(page);
    return sgc_slots_fill(page, sgc_heap.pages[page].cls) == SGC_FILL_EMPTY;
}

/* Takes a page that waits out of those that the bin expects; false if it is the active one. */
static bool unexpect(struct sgc_bin *bin, uint32_t page)
{
    uint8_t end = bin->next_ready;

    if (bin->active_epoch != sgc_heap.epoch)
        return true;
    if (bin->page == page)
        return false;
    for (uint8_t i = bin->next_ready; i < bin->ready_end; i++)
        if (bin->ready[i] != page)
            bin->ready[end++] = bin->ready[i];
    bin->ready_end = end;
    return true;
}

/* Forgets the freed slots at hand that are of the page; false if there are too many at hand to look
 * through.  Under the lock. */
static bool forget_freed(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t page)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    struct sgc_freed *slot = sgc_bin_freed(bin), *kept = slot;

    sgc_assert(sgc_cache_ok(cache) && sgc_lock_taken(cache->lock));
    if (sgc_bin_nfreed(bin) > FREED_WALKED)
        return false;
    sgc_cache_count_freed(cache);
    for (; slot != bin->freed; slot++)
        if (sgc_page_number((uintptr_t)slot->object) != page)
            *kept++ = *slot;
    cache->counted -= (size_t)(bin->freed - kept) * bin->size;
    bin->freed = kept;
    return true;
}

bool sgc_emptied_leave(struct sgc_cache *cache, uint32_t page, struct sgc_sweep_step *step)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_bin *bin = &cache->bin[d->kind][d->cls];

    sgc_assert(sgc_lock_taken(cache->lock) && sgc_aw_load(&d->tag) == cache->tag);
    if (sgc_heap_is_marking() || !is_empty(page))
        return false;
    if (!unexpect(bin, page) || !forget_freed(cache, d->kind, d->cls, page))
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

    sgc_assert(sgc_cache_ok(cache) && sgc_lock_taken(cache->lock) && bin->lists.epoch == sgc_heap.epoch);
    if (bin->active_epoch != sgc_heap.epoch || sgc_bin_has_freed(bin) || sgc_heap_is_marking() ||
        bin->lists.head[SGC_LIST_TODO] != SGC_NO_PAGE || !expects_all(bin, SGC_LIST_USABLE) || !expects_all(bin, SGC_LIST_DONE))
        return;
    while (bin->ready_end > bin->next_ready && step->empties < SGC_SWEEP_STEP) {
        unexpect_last(cache, bin, step);
        bin->taken = bin->taken < ONE_BY_ONE ? bin->taken : ONE_BY_ONE;
    }
}

/* ---- all pages of a bin ---- */

/* A walk over the swept pages of a bin, some at a time under the lock.  Others add pages to these
 * lists meanwhile, at their beginnings; who takes some off, since memory has run out, gives them to
 * no owner. */
struct walk {
    struct sgc_cache *cache;
    struct sgc_page_lists *lists;
    int list;
    uint32_t next;
    uint32_t epoch;                 /* in which it began: after a cycle others may have renewed the
                                     * lists, and swept them */
    size_t live;                    /* slots of a plain malloc's pages so far that the program has */
};

static struct walk walk_of(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    return (struct walk){ cache, &cache->bin[kind][cls].lists, SGC_LIST_TODO, SGC_NO_PAGE, sgc_heap.epoch, 0 };
}

/* The next page; `usable` comes before `done`, whose pages may be moved there.  It is the last one
 * when a cycle has come, after which all is to be swept, or a mark goes on beside the program, when
 * no page leaves. */
static uint32_t walk_next(struct walk *w)
{
    uint32_t page;

    sgc_assert(sgc_lock_taken(w->cache->lock));
    if (w->epoch != sgc_heap.epoch || w->lists->epoch != w->epoch || sgc_heap_is_marking())
        return SGC_NO_PAGE;
    if (w->next != SGC_NO_PAGE && sgc_page_owner(w->next) != w->cache->id)
        return SGC_NO_PAGE;
    while (w->next == SGC_NO_PAGE && w->list < SGC_LIST_DONE)
        w->next = w->lists->head[++w->list];
    page = w->next;
    if (page != SGC_NO_PAGE)
        w->next = sgc_heap.records[page].next;
    return page;
}

/* Swept pages of the bin, up to so many. */
static size_t count_pages(struct sgc_cache *cache, uint32_t kind, uint32_t cls, size_t max)
{
    struct walk w = walk_of(cache, kind, cls);
    uint32_t page = SGC_NO_PAGE;
    size_t count = 0;

    sgc_assert(max != 0);
    do {
        sgc_lock(cache->lock, &cache->section);
        for (uint32_t i = 0; i < COUNT_STEP && count < max && (page = walk_next(&w)) != SGC_NO_PAGE; i++)
            count++;
        sgc_unlock(cache->lock, &cache->section);
    } while (page != SGC_NO_PAGE && count < max);
    return count;
}

bool sgc_emptied_more_pages(struct sgc_cache *cache, uint32_t kind, uint32_t cls, size_t max)
{
    return count_pages(cache, kind, cls, max) == max;
}

/* Of a plain malloc's page the slots are counted that the program has: a bin that has given up its
 * own has a bound by them. */
static enum sgc_fill fill_of(struct walk *w, uint32_t page)
{
    uint32_t cls = sgc_heap.pages[page].cls, live;

    if (SGC_TRACES)
        return sgc_slots_fill(page, cls);
    live = sgc_page_live(page);
    w->live += live;
    return live == 0 ? SGC_FILL_EMPTY : live < sgc_size_classes.of[cls].per_page ? SGC_FILL_PART : SGC_FILL_FULL;
}

/* The bin has given up its slots. */
static void sort_page(struct walk *w, uint32_t page, struct sgc_sweep_step *step)
{
    enum sgc_fill fill;

    sgc_page_merge(page);
    fill = fill_of(w, page);
    if (fill == SGC_FILL_EMPTY)
        sgc_lists_take_empty(w->lists, page, step);
    else if (fill == SGC_FILL_PART && sgc_list_of(w->lists, page) == SGC_LIST_DONE)
        sgc_list_move(w->lists, SGC_LIST_USABLE, page);
}

/* False: there are no more. */
static bool sort_some(struct walk *w, struct sgc_sweep_step *step)
{
    uint32_t page = SGC_NO_PAGE;

    *step = (struct sgc_sweep_step){ .swept = 0 };
    while (step->swept < WALK_STEP && step->empties < SGC_SWEEP_STEP && (page = walk_next(w)) != SGC_NO_PAGE) {
        step->swept++;
        sort_page(w, page, step);
    }
    sgc_sweep_announce(step);
    return page != SGC_NO_PAGE;
}

/* Sorts all of them and renews the bin's bound: one whose objects are all freed shrinks by fourths
 * of them, however few of them its pages had.  Each page but the active one has one or more, so the
 * next look at all pages is paid for by a free for each four of them, or more. */
static uint32_t sort_pages(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct walk w = walk_of(cache, kind, cls);
    struct sgc_sweep_step step;
    uint32_t found = 0;
    bool more;

    do {
        sgc_lock(cache->lock, &cache->section);
        more = sort_some(&w, &step);
        sgc_unlock(cache->lock, &cache->section);
        sgc_sweep_give(&step, cache->id, &cache->section);
        found += step.empties;
    } while (more);
    if (!SGC_TRACES)
        cache->bin[kind][cls].bound = w.live / BOUND_SHARE;
    return found;
}

/* A page that leaves while it is in our inbox stays there, and its next owner hears of nothing that
 * is freed in it until we look.  With cycles there is a next look. */
static void drain_inbox(struct sgc_cache *cache)
{
    bool more;

    sgc_assert(!SGC_TRACES);
    do {
        sgc_lock(cache->lock, &cache->section);
        more = sgc_cache_drain(cache);
        sgc_unlock(cache->lock, &cache->section);
    } while (more);
}

/* Under a guard: pages are in our hands only until the pool has them. */
uint32_t sgc_emptied_give_up(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    uint32_t found;

    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    sgc_guard_enter(&cache->section);
    if (!SGC_TRACES)
        drain_inbox(cache);
    sgc_lock(cache->lock, &cache->section);
    sgc_bin_leave_run(cache, &cache->bin[kind][cls]);
    sgc_bin_give_up(cache, kind, cls);
    sgc_unlock(cache->lock, &cache->section);
    found = sort_pages(cache, kind, cls);
    sgc_guard_leave(&cache->section);
    return found;
}

void sgc_emptied_give_up_all(struct sgc_cache *cache)
{
    sgc_assert(sgc_cache_ok(cache));
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            if (cache->bin[kind][cls].size != 0)
                sgc_emptied_give_up(cache, kind, cls);
}

/* ---- freed slots that are too many ---- */

/* They are offered to claims: as many as a step looks at.  After a cycle a page is none of our
 * business: it is not ours any more, or unswept.  In a stop the system may have taken the array
 * back: then the pages are found by sweeping, or are others'. */
static const struct sgc_freed *offer_some(struct sgc_cache *cache, const struct sgc_freed *slot, const struct sgc_freed *end)
{
    if (end - slot > COUNT_STEP)
        end = slot + COUNT_STEP;
    for (; slot != end && slot->object != NULL; slot++) {
        uint32_t page = sgc_page_number((uintptr_t)slot->object);

        if (!sgc_heap.records[page].offered && sgc_aw_load(&sgc_heap.pages[page].tag) == cache->tag)
            sgc_cache_page_usable(cache, page);
    }
    return slot;
}

/* Forgets all freed slots at hand.  Returns the first of them in the array, so that their pages can
 * be looked at.  Under the lock. */
static const struct sgc_freed *forget_all_freed(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    struct sgc_freed *first = sgc_bin_freed(bin);

    sgc_assert(sgc_cache_ok(cache) && sgc_lock_taken(cache->lock));
    sgc_cache_count_freed(cache);
    cache->counted -= (size_t)(bin->freed - first) * bin->size;
    bin->freed = first;
    return first;
}

/* Only this thread writes to the array, and it stays: what the bin has forgotten can be read on. */
static void offer_freed(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    const struct sgc_freed *slot, *end = cache->bin[kind][cls].freed;

    sgc_lock(cache->lock, &cache->section);
    slot = forget_all_freed(cache, kind, cls);
    sgc_unlock(cache->lock, &cache->section);
    while (slot != end) {
        sgc_lock(cache->lock, &cache->section);
        slot = offer_some(cache, slot, end);
        sgc_unlock(cache->lock, &cache->section);
        if (slot != end && slot->object == NULL)
            break;
    }
}

/* Are all pages to be looked at?  If they are few, compared with the freed slots at hand, which are
 * as many as a plain malloc's bin may keep. */
static bool pays_to_walk(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    size_t slots = sgc_bin_nfreed(&cache->bin[kind][cls]);

    return !SGC_TRACES || !sgc_emptied_more_pages(cache, kind, cls, slots / FREED_PER_PAGE + 1);
}

void sgc_emptied_leave_freed(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    sgc_assert(sgc_cache_ok(cache) && !sgc_section_inside(&cache->section));
    sgc_guard_enter(&cache->section);
    if (pays_to_walk(cache, kind, cls))
        sgc_emptied_give_up(cache, kind, cls);
    else
        offer_freed(cache, kind, cls);
    sgc_guard_leave(&cache->section);
}
