/* SPDX-License-Identifier: MIT */
/*
 * Large objects: spare spans, freeing, and sweeping, a batch at a time.  Lists are under
 * the spans' lock, which makes each batch a section; a dead span is taken down outside of it, under
 * a guard, since it is on no list then.
 */
#include "alloc/large/span.h"

#include <string.h>

#include "alloc/pages/dangling.h"
#include "alloc/pages/homes.h"
#include "alloc/pages/survival.h"
#include "platform/faults.h"

enum {
    SIZES = 8,                  /* lists a thread; a list has spans of one size at a time */
    LIMIT_SHARE = 32,           /* of the heap limit one thread keeps so much at most */
    BATCH = 16,                 /* spans swept under the lock at a time */
};

/* ---- spare spans ---- */

struct sgc_span_caches {
    uint32_t epoch;             /* that the lists are of */
    uint32_t pages;             /* on all lists */
    uint32_t head[SIZES];
};

SGC_STATE static struct sgc_span_caches *spares;

void sgc_span_caches_init(void)
{
    if (sgc_heap.config.spare_pages == 0)
        return;
    spares = sgc_owner_table_make(sizeof *spares);
}

/* NULL: nothing is kept.  Spans that an older epoch has left belong to the sweepers. */
static struct sgc_span_caches *spares_of(uint32_t owner)
{
    struct sgc_span_caches *s = spares != NULL && owner != SGC_NO_OWNER ? &spares[owner] : NULL;

    sgc_assert(owner < SGC_OWNERS_MAX);
    if (s != NULL && s->epoch != sgc_heap.epoch) {
        *s = (struct sgc_span_caches){ .epoch = s->epoch };
        sgc_compiler_barrier();
        s->epoch = sgc_heap.epoch;
    }
    return s;
}

static uint32_t size_of(uint32_t page)
{
    sgc_assert(sgc_page_ok(page) && sgc_heap.records[page].span_pages != 0);
    return sgc_heap.records[page].span_pages;
}

static uint32_t max_pages(void)
{
    size_t share = sgc_aw_load(&sgc_pool.limit) / LIMIT_SHARE;

    return share < sgc_heap.config.spare_pages ? (uint32_t)share : sgc_heap.config.spare_pages;
}

/* Would a span of so many pages be kept? */
static bool fits(uint32_t owner, uint32_t count)
{
    const struct sgc_span_caches *s = spares_of(owner);

    return s != NULL && (s->head[count % SIZES] == SGC_NO_PAGE || size_of(s->head[count % SIZES]) == count) &&
           s->pages + count <= max_pages();
}

/* Keeps a span that fits: swept in this epoch, its allocation bit clear.  `warm`: it has just been
 * used. */
static void push(uint32_t owner, uint32_t page, bool warm)
{
    struct sgc_span_caches *s = spares_of(owner);
    struct sgc_page_record *r = &sgc_heap.records[page];
    uint32_t *head = &s->head[r->span_pages % SIZES];

    sgc_assert(fits(owner, r->span_pages) && sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN);
    sgc_assert(sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[page].tag)) == sgc_heap.epoch);
    r->spare_next = *head;
    r->warm = warm;
    s->pages += r->span_pages;
    sgc_compiler_barrier();
    *head = page;
}

/* A page that is lost in between is counted until the epoch ends. */
static uint32_t pop(struct sgc_span_caches *s, uint32_t *head)
{
    uint32_t page = *head;

    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN);
    *head = sgc_heap.records[page].spare_next;
    sgc_compiler_barrier();
    sgc_assert(s->pages >= size_of(page));
    s->pages -= size_of(page);
    return page;
}

uint32_t sgc_cached_span_pop(uint32_t owner, uint32_t count)
{
    struct sgc_span_caches *s = spares_of(owner);
    uint32_t *head = s != NULL ? &s->head[count % SIZES] : NULL;

    sgc_assert(count != 0);
    return head != NULL && *head != SGC_NO_PAGE && size_of(*head) == count ? pop(s, head) : SGC_NO_PAGE;
}

/* Takes one of the owner's spare spans, of any size; SGC_NO_PAGE if there is none. */
static uint32_t pop_any(uint32_t owner)
{
    struct sgc_span_caches *s = spares_of(owner);

    for (int i = 0; s != NULL && i < SIZES; i++)
        if (s->head[i] != SGC_NO_PAGE)
            return pop(s, &s->head[i]);
    return SGC_NO_PAGE;
}

uint32_t sgc_cached_span_pages(uint32_t owner)
{
    const struct sgc_span_caches *s = spares_of(owner);

    return s != NULL ? s->pages : 0;
}

/* ---- taking down ---- */

/* Off the lists; returns how many pages it has.  Under the lock, and not while a mark goes on
 * beside the program. */
static uint32_t withdraw(uint32_t first)
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

/* A mark beside the program may have begun since they were withdrawn: they held no object then, so
 * they are like any pages of the pool. */
void sgc_span_take_down(const struct sgc_run *runs, uint32_t count, struct sgc_section *self)
{
    sgc_assert(count != 0);
    sgc_test_point();
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = runs[i].count; p-- > 0;)
            sgc_page_set_state(&sgc_heap.pages[runs[i].first + p], SGC_PAGE_FREE);
    sgc_pool_give_runs(runs, count, self);
}

/* ---- freeing ---- */

/* Takes the allocation bit away; false if somebody else did. */
static bool clear_bit(uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    sgc_dangling_freed(sgc_page_first_granule(page));
    return (sgc_aw_and(sgc_span_word(page, sgc_heap.alloc_role), ~sgc_arena_bit(page)) & sgc_arena_bit(page)) != 0;
}

bool sgc_span_clear(uint32_t page)
{
    sgc_assert(sgc_page_ok(page) && !sgc_heap_is_marking());
    if (sgc_page_state(&sgc_heap.pages[page]) != SGC_PAGE_SPAN || !clear_bit(page))
        return false;
    if (SGC_TRACES)
        sgc_survival_span_freed(page);
    return true;
}

/* May be kept as it is: swept in this epoch, so that no sweeper looks at it any more. */
static bool may_be_spare(uint32_t page, uint32_t owner)
{
    sgc_assert(sgc_page_ok(page));
    return sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN &&
           sgc_tag_epoch(sgc_aw_load_acq(&sgc_heap.pages[page].tag)) == sgc_heap.epoch &&
           !sgc_kind_uncollectable(sgc_heap.pages[page].kind) &&
           fits(owner, sgc_heap.records[page].span_pages);
}

/* The bit says who of several threads that free the span at once has it. */
static bool free_to_spares(uint32_t owner, uint32_t page, struct sgc_section *self)
{
    bool freed = false;

    sgc_section_enter(self);
    if (may_be_spare(page, owner) && clear_bit(page)) {
        sgc_aw_add(&sgc_spans.freed, sgc_span_bytes(page));
        push(owner, page, true);
        freed = true;
    }
    sgc_section_leave(self);
    return freed;
}

/* Markers beside the program may look at its pages: it is left to the sweep after their mark. */
static bool free_to_pool(struct sgc_section *self, uint32_t page)
{
    struct sgc_run run = { page, 0 };
    bool freed = false;

    sgc_assert(sgc_page_ok(page));
    sgc_guard_enter(self);
    sgc_lock(&sgc_spans.lock, self);
    if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN && clear_bit(page)) {
        if (SGC_TRACES)
            sgc_survival_span_freed(page);
        sgc_lists_renew(&sgc_spans.lists);
        sgc_aw_add(&sgc_spans.freed, sgc_span_bytes(page));
        if (!sgc_heap_is_marking() || sgc_fault(SGC_FAULT_TAKEN_DOWN))
            run.count = withdraw(page);
        freed = true;
    }
    sgc_unlock(&sgc_spans.lock, self);
    if (run.count != 0)
        sgc_span_take_down(&run, 1, self);
    sgc_guard_leave(self);
    return freed;
}

bool sgc_span_release(uint32_t owner, uint32_t page, struct sgc_section *self)
{
    return free_to_spares(owner, page, self) || free_to_pool(self, page);
}

/* ---- sweeping ---- */

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
    struct sgc_run run = { page, withdraw(page) };

    sgc_assert(dead->count < BATCH && run.count != 0);
    dead->run[dead->count++] = run;
    dead->pages += run.count;
    sgc_pool_transit_begin(run.count);
}

static bool serves(uint32_t page, const struct wanted *wanted)
{
    return wanted->count != 0 && sgc_heap.records[page].span_pages == wanted->count &&
           !sgc_kind_uncollectable(sgc_heap.pages[page].kind) && fits(wanted->owner, wanted->count);
}

/* Under the lock.  False if none was left. */
static bool sweep_one(struct batch *dead, const struct wanted *wanted)
{
    uint32_t page = sgc_spans.lists.head[SGC_LIST_TODO];

    if (page == SGC_NO_PAGE)
        return false;
    if (SGC_TRACES)
        sgc_survival_span_swept(page);
    if (sgc_span_bit(page)) {
        set_swept(page);
    } else if (serves(page, wanted)) {
        set_swept(page);
        push(wanted->owner, page, false);
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

/* At most a batch; `kept` counts the spans that are wanted.  While a mark goes on beside the
 * program there are none to be swept: all have been, in this epoch, and what has been freed since
 * is left to the next. */
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
    while (dead->count < BATCH && (page = pop_any(owner)) != SGC_NO_PAGE)
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
