/* SPDX-License-Identifier: MIT */
/*
 * Sweeping one page and the lists of one owner.  Locks: see alloc/small/sweep.h.
 */
#include "alloc/small/sweep.h"

#include <string.h>

#include "alloc/pages/live_pages.h"
#include "alloc/pages/marks.h"
#include "alloc/pages/pool.h"
#include "alloc/pages/survival.h"
#include "alloc/small/remote_free.h"
#include "platform/faults.h"

enum { POISON = 0xdb };

/* Fills the slots that hold nothing, so that a use of a reclaimed object shows. */
static void poison_free_slots(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_page_record *r = &sgc_heap.records[page];
    uint32_t used = r->zero_from / d->granules;
    size_t first = sgc_page_first_granule(page);

    sgc_assert(d->granules != 0 && r->zero_from <= SGC_PAGE_GRANULES);
    for (uint32_t slot = 0; slot < used; slot++)
        if (!sgc_alloc_bit(first + slot * d->granules))
            memset(sgc_granule_address(first + slot * d->granules), POISON,
                   (size_t)d->granules * SGC_GRANULE);
}

/* A page that becomes an orphan is swept once more in its epoch. */
static bool first_sweep(uint32_t page)
{
    return SGC_TRACES && sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[page].tag)) != sgc_heap.epoch;
}

/* The bits for the next mark are cleared on the way, as their words lie next to those that are
 * looked at; the tag says so. */
enum sgc_fill sgc_page_sweep(uint32_t page, uintptr_t tag)
{
    bool first = first_sweep(page);
    uint32_t owner = sgc_tag_owner(tag);
    enum sgc_fill fill;

    sgc_assert(sgc_page_ok(page) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    sgc_assert(sgc_tag_epoch(tag) == sgc_heap.epoch);
    sgc_assert(!first || !sgc_heap_is_marking());
    if (SGC_TRACES && first)
        sgc_survival_first_sweep(page);
    if (SGC_TRACES && first && sgc_fault_turn(SGC_FAULT_MARK_LOST, 16))
        sgc_aw_store(sgc_alloc_word(sgc_page_first_granule(page)), 0);
    sgc_page_merge(page);
    if (sgc_heap.config.poison)
        poison_free_slots(page);
    if (SGC_TRACES && first)
        sgc_page_clear_marks(page);
    sgc_heap.records[page].offered = false;
    sgc_aw_store_rel(&sgc_heap.pages[page].tag, tag + sgc_fault_turn(SGC_FAULT_SWEPT_EARLY, 16));
    fill = sgc_slots_fill(page, sgc_heap.pages[page].cls);
    if (first && fill != SGC_FILL_EMPTY)
        sgc_live_pages_count(owner == SGC_ORPHANS ? SGC_NO_OWNER : owner);
    return fill;
}

/* The bits of the page that is swept next come while this one is: 16 lines that nobody has looked
 * at since the mark. */
static void fetch_bits(uint32_t page)
{
    const char *bits = (const char *)sgc_bits_word((size_t)page * SGC_PAGE_WORDS, 0);

    sgc_assert(sgc_page_ok(page));
    for (size_t at = 0; at < SGC_BITMAPS * SGC_PAGE_WORDS * sizeof(sgc_aw_t); at += 64)
        __builtin_prefetch(bits + at, 1);
}

uint32_t sgc_lists_next_usable(struct sgc_page_lists *lists, uintptr_t tag, bool *more)
{
    uint32_t page = lists->head[SGC_LIST_USABLE];

    sgc_assert(lists->epoch == sgc_heap.epoch);
    *more = true;
    if (page != SGC_NO_PAGE) {
        sgc_list_move(lists, SGC_LIST_DONE, page);
        sgc_heap.records[page].offered = false;
        sgc_page_merge(page);
        return page;
    }
    page = lists->head[SGC_LIST_TODO];
    *more = page != SGC_NO_PAGE;
    if (page == SGC_NO_PAGE)
        return SGC_NO_PAGE;
    sgc_list_move(lists, SGC_LIST_DONE, page);
    if (lists->head[SGC_LIST_TODO] != SGC_NO_PAGE)
        fetch_bits(lists->head[SGC_LIST_TODO]);
    return sgc_page_sweep(page, tag) != SGC_FILL_FULL ? page : SGC_NO_PAGE;
}

/* Takes down an empty page that is on no list; the caller gives it to the pool. */
static void take_down(uint32_t page)
{
    struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_state(d) == SGC_PAGE_SMALL && sgc_heap.records[page].list == 0);
    sgc_assert(sgc_page_live(page) == 0 && !sgc_heap_is_marking());
    if (sgc_kind_uncollectable(d->kind))
        sgc_aw_and(&sgc_arena_of_page(page)->uncollectable, ~sgc_arena_bit(page));
    sgc_page_clear_bits(page);
    sgc_aw_store_rel(&sgc_heap.pages[page].tag, sgc_tag(SGC_NO_OWNER, 0));
    sgc_page_set_state(d, SGC_PAGE_FREE);
}

void sgc_lists_take_empty(struct sgc_page_lists *lists, uint32_t page, struct sgc_sweep_step *step)
{
    sgc_assert(step->empties < SGC_SWEEP_STEP && lists->epoch == sgc_heap.epoch);
    sgc_list_remove(lists, page);
    take_down(page);
    step->empty[step->empties++] = page;
}

void sgc_sweep_announce(const struct sgc_sweep_step *step)
{
    if (step->empties != 0)
        sgc_pool_transit_begin(step->empties);
}

static bool sweep_one(struct sgc_page_lists *lists, uintptr_t tag, struct sgc_sweep_step *step)
{
    uint32_t page = lists->head[SGC_LIST_TODO];
    enum sgc_fill fill;

    if (page == SGC_NO_PAGE)
        return false;
    fill = sgc_page_sweep(page, tag);
    if (fill == SGC_FILL_EMPTY) {
        sgc_lists_take_empty(lists, page, step);
    } else {
        sgc_list_move(lists, fill == SGC_FILL_FULL ? SGC_LIST_DONE : SGC_LIST_USABLE, page);
    }
    return true;
}

void sgc_lists_sweep(struct sgc_page_lists *lists, uintptr_t tag, uint32_t max, struct sgc_sweep_step *step)
{
    sgc_assert(sgc_tag_epoch(tag) == sgc_heap.epoch);
    step->swept = step->empties = 0;
    sgc_lists_renew(lists);
    if (sgc_heap_is_marking())
        return;
    while (step->swept < max && step->swept < SGC_SWEEP_STEP && sweep_one(lists, tag, step))
        step->swept++;
    sgc_sweep_announce(step);
}

void sgc_sweep_give(const struct sgc_sweep_step *step, uint32_t owner, struct sgc_section *self)
{
    sgc_assert(step->empties <= SGC_SWEEP_STEP);
    if (step->empties == 0)
        return;
    sgc_test_point();
    sgc_pool_give_singles(step->empty, step->empties, owner, self);
    sgc_pool_transit_end(step->empties);
}
