/* SPDX-License-Identifier: MIT */
/*
 * Leaving pages behind, adopting them, and claiming short runs in them.  The lists are under the
 * orphans' lock.
 */
#include "alloc/small/orphan.h"

#include "alloc/small/remote_free.h"
#include "alloc/small/slots.h"
#include "alloc/small/small.h"
#include "alloc/small/sweep.h"
#include "platform/report.h"

SGC_STATE struct sgc_orphans sgc_orphans = { .lock = SGC_LOCK_INIT(SGC_RANK_ORPHANS) };

static struct sgc_page_lists orphan_lists[SGC_KINDS][SGC_CLASSES_MAX];
SGC_STATE_LARGE(orphan_lists);

SGC_STATE struct sgc_shared sgc_shared;
SGC_STATE struct sgc_leave sgc_leave;

enum {
    LEAVE_STEP = 32,            /* pages left at a time under the locks */
    ADOPT_STEP = 8,
    FIRST_BYTES = 512,          /* of a run */
    MIN_SHARE = 4,              /* of what was asked for, that a run counts as */
    SEARCH_STEP = 8,            /* pages looked at before the locks are given up for a moment */
};

/* Ready to be looked through.  Under the lock. */
static struct sgc_page_lists *lists_of(uint32_t kind, uint32_t cls)
{
    struct sgc_page_lists *lists = &orphan_lists[kind][cls];

    sgc_assert(sgc_lock_taken(&sgc_orphans.lock) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    sgc_lists_renew(lists);
    return lists;
}

/* ---- leaving ---- */

/* Moves one page from our lists to the orphans'.  Both locks held. */
static void leave_one(struct sgc_page_lists *ours, struct sgc_page_lists *theirs, uint32_t page)
{
    struct sgc_page *d = &sgc_heap.pages[page];
    uint32_t epoch = sgc_tag_epoch(sgc_aw_load(&d->tag));

    sgc_assert(sgc_lock_taken(&sgc_orphans.lock) && sgc_page_state(d) == SGC_PAGE_SMALL);
    sgc_list_remove(ours, page);
    sgc_aw_store_rel(&d->tag, sgc_tag(SGC_ORPHANS, epoch));
    sgc_test_point();
    sgc_list_push(theirs, SGC_LIST_TODO, page);
    sgc_aw_add(&sgc_orphans.count, 1);
}

static uint32_t any_page(const struct sgc_page_lists *lists)
{
    for (int list = 0; list < SGC_LISTS; list++)
        if (lists->head[list] != SGC_NO_PAGE)
            return lists->head[list];
    return SGC_NO_PAGE;
}

/* Others may have more use for a page that has not been swept in this epoch.  The owner frees
 * nothing there before it has taken its lock and found the page gone. */
static uint32_t unswept_page(const struct sgc_page_lists *lists)
{
    sgc_assert(lists->epoch == sgc_heap.epoch);
    return lists->head[SGC_LIST_TODO];
}

static bool leave(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max, struct sgc_section *self,
                  uint32_t (*next)(const struct sgc_page_lists *))
{
    struct sgc_page_lists *ours = &cache->bin[kind][cls].lists;
    uint32_t page;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    sgc_assert(sgc_lock_taken(cache->lock));
    sgc_lock(&sgc_orphans.lock, self);
    for (; max > 0 && (page = next(ours)) != SGC_NO_PAGE; max--)
        leave_one(ours, &orphan_lists[kind][cls], page);
    sgc_unlock(&sgc_orphans.lock, self);
    return next(ours) != SGC_NO_PAGE;
}

bool sgc_orphan_leave(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max)
{
    return leave(cache, kind, cls, max, &cache->section, any_page);
}

static bool has_room(uint32_t page)
{
    sgc_assert(sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    sgc_page_merge(page);
    return sgc_slots_fill(page, sgc_heap.pages[page].cls) != SGC_FILL_FULL;
}

/* Makes all of a bin's pages that have free slots orphans, but, if dates are counted by owners
 * (`counted`), not those whose objects may have dates.  World stopped, under the cache's lock, and
 * the bin has no slots in hand. */
static void leave_with_room(struct sgc_cache *cache, uint32_t kind, uint32_t cls, bool counted, struct sgc_section *self)
{
    struct sgc_page_lists *ours = &cache->bin[kind][cls].lists;

    sgc_assert(sgc_lock_taken(cache->lock) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    sgc_lock(&sgc_orphans.lock, self);
    for (int list = 0; list < SGC_LISTS; list++)
        for (uint32_t page = ours->head[list], next; page != SGC_NO_PAGE; page = next) {
            next = sgc_heap.records[page].next;
            if (has_room(page) && !(counted && sgc_page_is_watched(&sgc_heap.pages[page], SGC_WATCH_DATED_HERE)))
                leave_one(ours, &orphan_lists[kind][cls], page);
        }
    sgc_unlock(&sgc_orphans.lock, self);
}

/* ---- leaving what is idle, once an epoch ---- */

/* A thread that needs a page of the class takes the lock, and makes the current epoch its bin's:
 * the answer holds under the lock. */
static bool is_idle(const struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    const struct sgc_bin *bin = &cache->bin[kind][cls];

    sgc_assert(sgc_lock_taken(cache->lock));
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
    sgc_lock(cache->lock, self);
    for (uint32_t cls = half * 64; cls < sgc_size_classes.count && cls < half * 64 + 64; cls++)
        if (has_pages(&cache->bin[kind][cls].lists) && is_idle(cache, kind, cls))
            idle |= UINT64_C(1) << (cls % 64);
    sgc_unlock(cache->lock, self);
    return idle;
}

static void leave_unswept(struct sgc_cache *cache, uint32_t kind, uint32_t cls, struct sgc_section *self)
{
    bool more;

    sgc_assert(sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    do {
        sgc_lock(cache->lock, self);
        sgc_lists_renew(&cache->bin[kind][cls].lists);
        more = is_idle(cache, kind, cls) && leave(cache, kind, cls, LEAVE_STEP, self, unswept_page);
        sgc_unlock(cache->lock, self);
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

/* ---- leaving when memory has run out ---- */

static bool has_any(struct sgc_cache *cache, uint32_t kind, uint32_t cls, struct sgc_section *self)
{
    const struct sgc_bin *bin = &cache->bin[kind][cls];
    bool any;

    sgc_assert(sgc_cache_ok(cache));
    sgc_lock(cache->lock, self);
    any = has_pages(&bin->lists) || bin->active_epoch == sgc_heap.epoch;
    sgc_unlock(cache->lock, self);
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

        sgc_lock(cache->lock, self);
        if (cache->bin[kind][cls].size != 0) {
            sgc_bin_give_up(cache, kind, cls);
            leave_with_room(cache, kind, cls, counted, self);
        }
        sgc_unlock(cache->lock, self);
    }
}

/* ---- pages that belong to all ---- */

void sgc_orphan_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken)
{
    sgc_assert(sgc_cache_ok(cache));
    sgc_lock(&sgc_orphans.lock, &cache->section);
    sgc_page_set_up_small(taken->page, cls, kind, sgc_bin_of_page(kind, cls), sgc_tag(SGC_ORPHANS, sgc_heap.epoch),
                          taken->zero);
    sgc_list_push(lists_of(kind, cls), SGC_LIST_USABLE, taken->page);
    sgc_aw_add(&sgc_orphans.count, 1);
    sgc_unlock(&sgc_orphans.lock, &cache->section);
}

/* Is it the only one of its class that has room, where threads take short runs of such pages? */
static bool is_needed(const struct sgc_page_lists *lists, uint32_t page)
{
    return sgc_a32_load(&sgc_shared.threads) > 1 && lists->head[SGC_LIST_USABLE] == page &&
           lists->tail[SGC_LIST_USABLE] == page;
}

/* The page is merged whether it may leave or not: no news come of it before that. */
static bool may_leave(const struct sgc_page_lists *lists, uint32_t page)
{
    sgc_assert(sgc_list_of(lists, page) == SGC_LIST_USABLE && sgc_page_owner(page) == SGC_ORPHANS);
    sgc_page_merge(page);
    if (sgc_heap_is_marking() || is_needed(lists, page))
        return false;
    return sgc_slots_fill(page, sgc_heap.pages[page].cls) == SGC_FILL_EMPTY;
}

/* One that is not swept in this epoch will be looked at anyway. */
static void update_page(uint32_t page, struct sgc_sweep_step *step)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_page_lists *lists = lists_of(d->kind, d->cls);

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && step->empties < SGC_SWEEP_STEP);
    if (sgc_tag_epoch(sgc_aw_load(&d->tag)) != sgc_heap.epoch)
        return;
    sgc_list_move(lists, SGC_LIST_USABLE, page);
    if (!may_leave(lists, page))
        return;
    sgc_lists_take_empty(lists, page, step);
    sgc_aw_add(&sgc_orphans.count, (uintptr_t)-1);
}

/* False: none has any news. */
static bool update_some(struct sgc_sweep_step *step)
{
    uint32_t page = SGC_NO_PAGE;

    *step = (struct sgc_sweep_step){ .swept = 0 };
    for (; step->swept < SGC_SWEEP_STEP && (page = sgc_orphan_with_news()) != SGC_NO_PAGE; step->swept++)
        update_page(page, step);
    sgc_sweep_announce(step);
    return page != SGC_NO_PAGE;
}

/* Orphans in which something was freed are found again, and leave for the pool if they are empty
 * and not needed.  Under a guard, outside sections. */
static void drain(struct sgc_section *self)
{
    struct sgc_sweep_step step;
    bool more = sgc_orphans_have_news();

    while (more) {
        sgc_lock(&sgc_orphans.lock, self);
        more = update_some(&step);
        sgc_unlock(&sgc_orphans.lock, self);
        sgc_sweep_give(&step, SGC_NO_OWNER, self);
    }
}

/* Is each object of the page freed, by the bits that others set as by its own?  Those around the
 * granule are looked at first: in most cases something is left there. */
static bool seems_empty(size_t granule)
{
    size_t word = granule / 64, first = word - word % SGC_PAGE_WORDS;

    for (size_t i = 0; i < SGC_PAGE_WORDS; i++) {
        size_t at = (first + (word + i) % SGC_PAGE_WORDS) * 64;

        if ((sgc_aw_load(sgc_alloc_word(at)) & ~sgc_aw_load(sgc_remote_word(at))) != 0)
            return false;
    }
    return true;
}

/* Under the lock the page is looked at again: it may be somebody's by now, or the pool's. */
void sgc_orphan_freed(size_t granule, struct sgc_section *self)
{
    uint32_t page = (uint32_t)(granule / SGC_PAGE_GRANULES);
    struct sgc_sweep_step step = { .swept = 0 };

    sgc_assert(sgc_page_ok(page));
    if (sgc_page_owner(page) != SGC_ORPHANS || !seems_empty(granule))
        return;
    sgc_guard_enter(self);
    sgc_lock(&sgc_orphans.lock, self);
    if (sgc_page_owner(page) == SGC_ORPHANS)
        update_page(page, &step);
    sgc_sweep_announce(&step);
    sgc_unlock(&sgc_orphans.lock, self);
    sgc_sweep_give(&step, SGC_NO_OWNER, self);
    sgc_guard_leave(self);
}

/* ---- short runs ---- */

/* The next orphan with free slots: it is taken off the usable ones.  SGC_NO_PAGE: *more says
 * whether there may be others. */
static uint32_t next_usable(uint32_t kind, uint32_t cls, bool *more)
{
    return sgc_lists_next_usable(lists_of(kind, cls), sgc_tag(SGC_ORPHANS, sgc_heap.epoch), more);
}

/* Puts it back, to be found first. */
static void offer(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_owner(page) == SGC_ORPHANS);
    sgc_list_move(lists_of(d->kind, d->cls), SGC_LIST_USABLE, page);
}

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

/* Where there are live objects in between runs are shorter than was asked for; each counts as a
 * fourth of that at least, so that there are not too many of them. */
static void show(struct sgc_bin *bin, size_t bytes)
{
    uint32_t min = bytes_at_once(bin) / MIN_SHARE;
    size_t shown = bin->shown + (bytes < min ? min : bytes) / SGC_SHOWN_UNIT;

    bin->shown = (uint8_t)(shown < SGC_SHOWN_ENOUGH ? shown : SGC_SHOWN_ENOUGH);
}

/* There is no active page: short runs are looked for nowhere, and when this one ends there is a
 * slow way. */
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
    offer(page);
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

    sgc_assert(sgc_lock_taken(cache->lock) && sgc_lock_taken(&sgc_orphans.lock));
    sgc_bin_renew(bin);
    *more = !is_served(bin) && sgc_shared_suits(bin);
    if (!*more)
        return is_served(bin);
    for (uint32_t i = 0; i < SEARCH_STEP && *more; i++) {
        uint32_t page = next_usable(kind, cls, more);

        if (page != SGC_NO_PAGE && claim_in_page(cache, kind, cls, page))
            return true;
    }
    return false;
}

bool sgc_shared_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    bool found, more;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    drain(&cache->section);
    do {
        sgc_lock(cache->lock, &cache->section);
        sgc_lock(&sgc_orphans.lock, &cache->section);
        found = claim_step(cache, kind, cls, &more);
        sgc_unlock(&sgc_orphans.lock, &cache->section);
        sgc_unlock(cache->lock, &cache->section);
    } while (!found && more);
    return found;
}

/* ---- adopting ---- */

/* Both locks held. */
static void adopt_one(struct sgc_cache *cache, struct sgc_bin *bin, struct sgc_page_lists *theirs, uint32_t page)
{
    sgc_assert(sgc_lock_taken(&sgc_orphans.lock) && sgc_lock_taken(cache->lock));
    sgc_assert(sgc_page_owner(page) == SGC_ORPHANS && sgc_aw_load(&sgc_orphans.count) != 0);
    sgc_list_remove(theirs, page);
    sgc_aw_add(&sgc_orphans.count, (uintptr_t)-1);
    sgc_aw_store_sc(&sgc_heap.pages[page].tag, cache->tag);
    sgc_test_point();
    sgc_page_merge(page);
    sgc_list_push(&bin->lists, SGC_LIST_DONE, page);
    sgc_bin_make_ready(bin, page);
}

/* The next orphans with free slots become ours, as many as one short look finds.  Both locks
 * held. */
static uint32_t adopt_some(struct sgc_cache *cache, struct sgc_bin *bin, struct sgc_page_lists *theirs, uint32_t max,
                           bool *more)
{
    uint32_t found = 0;

    sgc_assert(theirs->epoch == sgc_heap.epoch && bin->lists.epoch == sgc_heap.epoch);
    *more = true;
    for (uint32_t i = 0; i < ADOPT_STEP && found < max && *more; i++) {
        uint32_t page = sgc_lists_next_usable(theirs, sgc_tag(SGC_ORPHANS, sgc_heap.epoch), more);

        if (page == SGC_NO_PAGE)
            continue;
        adopt_one(cache, bin, theirs, page);
        found++;
    }
    return found;
}

/* Both locks are taken, since a page must always be on somebody's list. */
static uint32_t adopt_step(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max, bool *more)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    uint32_t found;

    sgc_lock(cache->lock, &cache->section);
    sgc_lock(&sgc_orphans.lock, &cache->section);
    sgc_lists_renew(&bin->lists);
    found = adopt_some(cache, bin, lists_of(kind, cls), max, more);
    sgc_unlock(&sgc_orphans.lock, &cache->section);
    sgc_unlock(cache->lock, &cache->section);
    return found;
}

static bool has_candidates(const struct sgc_page_lists *lists)
{
    return lists->epoch != sgc_heap.epoch || lists->head[SGC_LIST_TODO] != SGC_NO_PAGE ||
           lists->head[SGC_LIST_USABLE] != SGC_NO_PAGE;
}

static bool may_adopt(uint32_t kind, uint32_t cls, struct sgc_section *self)
{
    const struct sgc_page_lists *lists = &orphan_lists[kind][cls];
    bool worth;

    if (sgc_aw_load(&sgc_orphans.count) == 0)
        return false;
    sgc_lock(&sgc_orphans.lock, self);
    worth = any_page(lists) != SGC_NO_PAGE && has_candidates(lists);
    sgc_unlock(&sgc_orphans.lock, self);
    return worth;
}

uint32_t sgc_orphan_adopt(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t max)
{
    uint32_t found = 0;
    bool more;

    sgc_assert(sgc_cache_ok(cache) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    drain(&cache->section);
    more = may_adopt(kind, cls, &cache->section);
    while (more && found < max)
        found += adopt_step(cache, kind, cls, max - found, &more);
    return found;
}

/* ---- sweeping, and the check ---- */

static bool sweep_class(struct sgc_page_lists *lists, uint32_t *max, struct sgc_section *self)
{
    struct sgc_sweep_step step = { .swept = 1 };

    while (step.swept != 0 && *max > 0) {
        sgc_lock(&sgc_orphans.lock, self);
        sgc_lists_sweep(lists, sgc_tag(SGC_ORPHANS, sgc_heap.epoch), *max, &step);
        sgc_assert(sgc_aw_load(&sgc_orphans.count) >= step.empties);
        sgc_aw_add(&sgc_orphans.count, -(uintptr_t)step.empties);
        sgc_unlock(&sgc_orphans.lock, self);
        sgc_sweep_give(&step, SGC_NO_OWNER, self);
        *max -= step.swept;
    }
    return step.swept != 0;
}

/* The thread that finds no orphans left to sweep may find those that were swept just now on their
 * way to the pool. */
bool sgc_orphan_sweep(uint32_t max, struct sgc_section *self)
{
    if (sgc_aw_load_acq(&sgc_orphans.count) == 0 || sgc_heap_is_marking())
        return false;
    drain(self);
    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
            if (sweep_class(&orphan_lists[kind][cls], &max, self))
                return true;
    return false;
}

void sgc_orphan_check(void)
{
    uint32_t count = 0;

    for (uint32_t kind = 0; kind < sgc_kind_count(); kind++)
        for (uint32_t cls = 0; cls < SGC_CLASSES_MAX; cls++)
            count += sgc_lists_check(&orphan_lists[kind][cls], SGC_ORPHANS);
    sgc_verify(count == sgc_aw_load(&sgc_orphans.count));
    (void)count;
}
