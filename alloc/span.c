/* SPDX-License-Identifier: MIT */
/*
 * Large objects.  Lists and allocation bits are under the spans' lock; setting up and taking down
 * a reserved span needs none.
 */
#include "alloc/span.h"

#include <string.h>

#include "alloc/policy.h"

struct spans {
    struct sgc_lock lock;
    struct sgc_page_lists lists;        /* todo and done only */
    sgc_aw_t allocated, freed;          /* bytes since somebody asked */
};

SGC_STATE static struct spans spans = { .lock = SGC_LOCK_INIT(SGC_RANK_SPANS) };

static size_t pages_for(size_t bytes)
{
    return (bytes + SGC_PAGE - 1) / SGC_PAGE;
}

/* ---- setting up and taking down: nobody else knows these pages ---- */

/* The world may be stopped anywhere in here, hence the order. */
static void set_up_tail(struct sgc_page *d, uint32_t back, uint32_t kind)
{
    d->back = back;
    d->kind = (uint8_t)kind;
    sgc_page_set_state(d, SGC_PAGE_SPAN_TAIL);
}

static void set_up(uint32_t first, uint32_t count, size_t bytes, uint32_t kind)
{
    struct sgc_page *head = &sgc_heap.pages[first];

    sgc_page_set_state(head, SGC_PAGE_RESERVED);
    head->back = 0;
    head->limited = false;
    head->kind = (uint8_t)kind;
    sgc_aw_store(&head->span_bytes, bytes);
    sgc_a8_store(&head->remote, 0);
    for (uint32_t i = 1; i < count; i++)
        set_up_tail(&sgc_heap.pages[first + i], i, kind);
    sgc_heap.records[first].span_pages = count;
    sgc_heap.records[first].list = 0;
}

static void take_down(uint32_t first, uint32_t count, struct sgc_section *self)
{
    for (uint32_t i = count; i-- > 0;)
        sgc_page_set_state(&sgc_heap.pages[first + i], SGC_PAGE_FREE);
    sgc_pool_give(first, count, self);
}

/* ---- publishing and withdrawing: under the lock ---- */

static void publish(uint32_t first)
{
    struct sgc_page *head = &sgc_heap.pages[first];

    sgc_assert(!sgc_span_bit(first));
    sgc_lists_renew(&spans.lists);
    sgc_page_set_state(head, SGC_PAGE_SPAN);
    sgc_aw_store_rel(&sgc_heap.pages[first].tag, sgc_tag(SGC_NO_OWNER, sgc_heap.epoch));
    sgc_list_push(&spans.lists, SGC_LIST_DONE, first);
    if (sgc_kind_uncollectable(head->kind))
        sgc_aw_or(&sgc_arena_of_page(first)->uncollectable, sgc_arena_bit(first));
    sgc_aw_or(sgc_span_word(first, sgc_heap.alloc_role), sgc_arena_bit(first));
}

static void withdraw(uint32_t first)
{
    struct sgc_page *head = &sgc_heap.pages[first];

    sgc_list_remove(&spans.lists, first);
    sgc_page_set_state(head, SGC_PAGE_RESERVED);
    if (sgc_kind_uncollectable(head->kind))
        sgc_aw_and(&sgc_arena_of_page(first)->uncollectable, ~sgc_arena_bit(first));
}

/* ---- allocation ---- */

/* Takes pages such that the first lies at a multiple of `align`; what was taken too much goes
 * back. */
static uint32_t take_aligned(struct sgc_section *self, size_t count, size_t align, bool *zero)
{
    size_t extra = align > SGC_PAGE ? align / SGC_PAGE - 1 : 0;
    uint32_t got, first;

    if (count + extra < count || count + extra > sgc_heap.reserved / SGC_PAGE)
        return SGC_NO_PAGE;
    got = sgc_policy_take_pages((uint32_t)(count + extra), self, zero);
    if (got == SGC_NO_PAGE || extra == 0)
        return got;
    first = sgc_page_number(sgc_round_up(sgc_page_start(got), align));
    if (first > got)
        sgc_pool_give(got, first - got, self);
    if (got + count + extra > first + count)
        sgc_pool_give(first + (uint32_t)count, (uint32_t)(got + extra - first), self);
    return first;
}

static void *make_span(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align)
{
    size_t count = pages_for(bytes);
    bool zero;
    uint32_t first = take_aligned(self, count, align, &zero);
    void *object;

    if (first == SGC_NO_PAGE)
        return NULL;
    object = (void *)sgc_page_start(first);
    bytes = sgc_round_up(bytes, SGC_GRANULE);
    set_up(first, (uint32_t)count, bytes, kind);
    if (!zero && sgc_kind_has_pointers(kind))
        memset(object, 0, bytes);
    sgc_lock(&spans.lock, self);
    publish(first);
    sgc_aw_add_relaxed(&spans.allocated, bytes);
    sgc_unlock(&spans.lock, self);
    return object;
}

/* Under a guard: a span that is being made is on no list. */
void *sgc_span_alloc(struct sgc_section *self, size_t bytes, uint32_t kind, size_t align)
{
    void *object;

    sgc_guard_enter(self);
    object = make_span(self, bytes, kind, align);
    sgc_guard_leave(self);
    return object;
}

/* ---- freeing ---- */

bool sgc_span_free(struct sgc_section *self, uint32_t page)
{
    bool freed = false;
    uint32_t count = 0;

    sgc_guard_enter(self);
    sgc_lock(&spans.lock, self);
    if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN && sgc_span_bit(page)) {
        sgc_lists_renew(&spans.lists);
        sgc_aw_and(sgc_span_word(page, sgc_heap.alloc_role), ~sgc_arena_bit(page));
        count = sgc_heap.records[page].span_pages;
        sgc_aw_add_relaxed(&spans.freed, sgc_span_bytes(page));
        withdraw(page);
        freed = true;
    }
    sgc_unlock(&spans.lock, self);
    if (freed)
        take_down(page, count, self);
    sgc_guard_leave(self);
    return freed;
}

/* ---- resizing: the caller owns the object, so nobody else takes it down ---- */

static void shrink(struct sgc_section *self, uint32_t page, uint32_t count)
{
    struct sgc_page_record *r = &sgc_heap.records[page];
    uint32_t old = r->span_pages;

    sgc_lock(&spans.lock, self);
    r->span_pages = count;
    sgc_unlock(&spans.lock, self);
    for (uint32_t i = count; i < old; i++)
        sgc_page_set_state(&sgc_heap.pages[page + i], SGC_PAGE_RESERVED);
    take_down(page + count, old - count, self);
}

bool sgc_span_resize(struct sgc_section *self, uint32_t page, size_t bytes)
{
    struct sgc_page_record *r = &sgc_heap.records[page];
    size_t old = sgc_span_bytes(page);
    size_t count = pages_for(bytes);

    if (count > r->span_pages)
        return false;
    bytes = sgc_round_up(bytes, SGC_GRANULE);
    sgc_aw_add_relaxed(bytes > old ? &spans.allocated : &spans.freed, bytes > old ? bytes - old : old - bytes);
    if (bytes > old && sgc_kind_has_pointers(sgc_heap.pages[page].kind))
        memset((void *)(sgc_page_start(page) + old), 0, bytes - old);
    sgc_aw_store(&sgc_heap.pages[page].span_bytes, bytes);
    if (count < r->span_pages) {
        sgc_guard_enter(self);
        shrink(self, page, (uint32_t)count);
        sgc_guard_leave(self);
    }
    return true;
}

void sgc_span_set_reach(uint32_t page, size_t bytes)
{
    sgc_aw_store(&sgc_heap.pages[page].span_reach, bytes);
    sgc_heap.pages[page].limited = true;
}

/* ---- sweeping ---- */

static bool sweep_one(uint32_t *dead, uint32_t *count)
{
    uint32_t page;

    sgc_lists_renew(&spans.lists);
    page = spans.lists.head[SGC_LIST_TODO];
    *dead = SGC_NO_PAGE;
    if (page == SGC_NO_PAGE)
        return false;
    if (sgc_span_bit(page)) {
        sgc_aw_store_rel(&sgc_heap.pages[page].tag, sgc_tag(SGC_NO_OWNER, sgc_heap.epoch));
        sgc_list_move(&spans.lists, SGC_LIST_DONE, page);
        return true;
    }
    *count = sgc_heap.records[page].span_pages;
    withdraw(page);
    *dead = page;
    return true;
}

bool sgc_span_sweep(uint32_t most, struct sgc_section *self)
{
    bool more = true;

    for (; more && most > 0; most--) {
        uint32_t dead, count;

        sgc_lock(&spans.lock, self);
        more = sweep_one(&dead, &count);
        sgc_unlock(&spans.lock, self);
        if (dead == SGC_NO_PAGE)
            continue;
        if (sgc_heap.config.poison)
            memset((void *)sgc_page_start(dead), 0xdb, (size_t)count * SGC_PAGE);
        take_down(dead, count, self);
    }
    return more;
}

/* ---- figures and checks ---- */

size_t sgc_span_take_allocated(void)
{
    return sgc_aw_swap(&spans.allocated, 0);
}

size_t sgc_span_take_freed(void)
{
    return sgc_aw_swap(&spans.freed, 0);
}

size_t sgc_span_allocated(void)
{
    return sgc_aw_load(&spans.allocated);
}

size_t sgc_span_freed(void)
{
    return sgc_aw_load(&spans.freed);
}

void sgc_span_check(void)
{
    sgc_lists_check(&spans.lists, SGC_NO_OWNER);
}

void sgc_spans_lock(struct sgc_section *self)
{
    sgc_lock(&spans.lock, self);
}

void sgc_spans_unlock(struct sgc_section *self)
{
    sgc_unlock(&spans.lock, self);
}

void sgc_span_after_fork(void)
{
    sgc_lock_reset(&spans.lock);
}
