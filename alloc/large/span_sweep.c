/* SPDX-License-Identifier: MIT */
/*
 * Large objects: sweeping, a batch at a time.  Lists are under the spans' lock, which makes each batch a section; what is dead
 * is taken down outside of it, under a guard, since it is on no list then.
 */
#include "alloc/large/span.h"

#include <string.h>

#include "alloc/large/span_cache.h"
#include "alloc/pages/survival.h"
#include "platform/faults.h"

enum { BATCH = 16 };            /* spans swept under the lock at a time */

/* Spans to be kept as an owner's spare ones: those of exactly so many pages; 0: none. */
struct wanted {
    uint32_t owner, count;
};

struct batch {
    struct sgc_run run[BATCH];
    uint32_t count;
    uint32_t pages;             /* of all runs */
    uint32_t kept;              /* became spare spans */
};

uint32_t sgc_span_withdraw(uint32_t first)
{
    struct sgc_page *head = &sgc_heap.pages[first];

    sgc_assert(sgc_lock_taken(&sgc_spans.lock) && sgc_page_state(head) == SGC_PAGE_SPAN);
    sgc_assert((!sgc_heap_is_marking() || sgc_fault(SGC_FAULT_TAKEN_DOWN)) && !sgc_span_bit(first));
    sgc_list_remove(&sgc_spans.lists, first);
    sgc_page_set_state(head, SGC_PAGE_RESERVED);
    if (sgc_kind_uncollectable(head->kind))
        sgc_aw_and(&sgc_arena_of_page(first)->uncollectable, ~sgc_arena_bit(first));
    return sgc_heap.records[first].span_pages;
}

void sgc_span_take_down(const struct sgc_run *runs, uint32_t count, struct sgc_section *self)
{
    sgc_assert(count != 0);
    sgc_test_point();
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = runs[i].count; p-- > 0;)
            sgc_page_set_state(&sgc_heap.pages[runs[i].first + p], SGC_PAGE_FREE);
    sgc_pool_give_runs(runs, count, self);
}

/* Under the lock: it has been looked at in this epoch. */
static void set_swept(uint32_t page)
{
    sgc_assert(sgc_lock_taken(&sgc_spans.lock) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN);
    sgc_aw_store_rel(&sgc_heap.pages[page].tag, sgc_tag(SGC_NO_OWNER, sgc_heap.epoch));
    sgc_list_move(&sgc_spans.lists, SGC_LIST_DONE, page);
}

/* Under the lock: into the batch. */
static void take_dead(uint32_t page, struct batch *dead)
{
    struct sgc_run run = { page, sgc_span_withdraw(page) };

    sgc_assert(dead->count < BATCH && run.count != 0);
    dead->run[dead->count++] = run;
    dead->pages += run.count;
    sgc_pool_transit_begin(run.count);
}

static bool serves(uint32_t page, const struct wanted *wanted)
{
    return wanted->count != 0 && sgc_heap.records[page].span_pages == wanted->count &&
           !sgc_kind_uncollectable(sgc_heap.pages[page].kind) && sgc_cached_span_fits(wanted->owner, wanted->count);
}

/* Under the lock.  False if none was left. */
static bool sweep_one(struct batch *dead, const struct wanted *wanted)
{
    uint32_t page = sgc_spans.lists.head[SGC_LIST_TODO];

    if (page == SGC_NO_PAGE)
        return false;
    sgc_survival_span_swept(page);
    if (sgc_span_bit(page)) {
        set_swept(page);
    } else if (serves(page, wanted)) {
        set_swept(page);
        sgc_cached_span_push(wanted->owner, page, false);
        dead->kept++;
    } else {
        take_dead(page, dead);
    }
    return true;
}

static void give_back(const struct batch *dead, struct sgc_section *self)
{
    for (uint32_t i = 0; sgc_heap.config.poison && i < dead->count; i++)
        memset((void *)sgc_page_start(dead->run[i].first), 0xdb, (size_t)dead->run[i].count * SGC_PAGE);
    if (dead->count == 0)
        return;
    sgc_span_take_down(dead->run, dead->count, self);
    sgc_pool_transit_end(dead->pages);
}

/* At most a batch; `kept` counts the spans that are wanted.  While a mark goes on beside the program there are none to be
 * swept: all have been, in this epoch, and what has been freed since is left to the next. */
static bool sweep_batch(uint32_t max, const struct wanted *wanted, uint32_t *kept, struct sgc_section *self)
{
    struct batch dead = { .count = 0 };
    bool more = true;

    sgc_assert(max <= BATCH);
    sgc_lock(&sgc_spans.lock, self);
    sgc_lists_renew(&sgc_spans.lists);
    sgc_assert(!sgc_heap_is_marking() || sgc_spans.lists.head[SGC_LIST_TODO] == SGC_NO_PAGE);
    for (; more && max > 0; max--)
        more = sweep_one(&dead, wanted);
    sgc_unlock(&sgc_spans.lock, self);
    give_back(&dead, self);
    *kept += dead.kept;
    return more;
}

/* Until there are some that are wanted.  False if no span was left; how many are kept. */
static bool sweep(uint32_t max, const struct wanted *wanted, uint32_t *kept, struct sgc_section *self)
{
    bool more = true;

    for (uint32_t step; more && *kept == 0 && max > 0; max -= step) {
        step = max < BATCH ? max : BATCH;
        more = sweep_batch(step, wanted, kept, self);
    }
    return more;
}

bool sgc_span_sweep(uint32_t max, struct sgc_section *self)
{
    const struct wanted none = { SGC_NO_OWNER, 0 };
    uint32_t kept = 0;
    bool more;

    sgc_guard_enter(self);
    more = sweep(max, &none, &kept, self);
    sgc_guard_leave(self);
    return more;
}

bool sgc_span_sweep_for(uint32_t owner, uint32_t count, uint32_t max, struct sgc_section *self)
{
    const struct wanted wanted = { owner, count };
    uint32_t kept = 0;

    sgc_assert(count != 0);
    sweep(max, &wanted, &kept, self);
    return kept != 0;
}

/* ---- spare spans given up ---- */

/* Under the lock: a batch of the owner's. */
static void take_cached(uint32_t owner, struct batch *dead)
{
    uint32_t page;

    sgc_lists_renew(&sgc_spans.lists);
    if (sgc_heap_is_marking())
        return;
    while (dead->count < BATCH && (page = sgc_cached_span_pop_any(owner)) != SGC_NO_PAGE)
        take_dead(page, dead);
}

void sgc_span_give_cached(uint32_t owner, struct sgc_section *self)
{
    struct batch dead;

    if (sgc_cached_span_pages(owner) == 0)
        return;
    sgc_guard_enter(self);
    do {
        dead = (struct batch){ .count = 0 };
        sgc_lock(&sgc_spans.lock, self);
        take_cached(owner, &dead);
        sgc_unlock(&sgc_spans.lock, self);
        give_back(&dead, self);
    } while (dead.count == BATCH);
    sgc_guard_leave(self);
}
