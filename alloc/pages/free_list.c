/* SPDX-License-Identifier: MIT */
/*
 * The free page lists.  Everything under the pool's lock: see alloc/pages/free_list.h.
 */
#include "alloc/pages/free_list.h"

#include "alloc/pages/page_lists.h"
#include "platform/report.h"

enum { WEALTHS = 33 };

struct free_list {
    uint32_t first, last;
    sgc_a32_t count;
    uint32_t richer, poorer;        /* neighbours among the owners of the same wealth */
};

struct free_lists {
    struct free_list *of;           /* by owner */
    uint32_t head[WEALTHS];         /* owners by wealth; the lists of wealth 0 are not linked */
    uint64_t wealths;               /* which heads are there */
    sgc_a32_t total;                /* pages on all lists */
};

SGC_STATE static struct free_lists lists;

/* Address space only, as for the table of caches. */
void sgc_free_lists_init(void)
{
    lists.of = sgc_mem_obtain(SGC_OWNERS_MAX * sizeof *lists.of);
}

static struct sgc_page_record *record(uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    return &sgc_heap.records[page];
}

/* ---- owners by wealth ---- */

static void link_owner(uint32_t owner, uint32_t wealth)
{
    struct free_list *list = &lists.of[owner];

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX && wealth < WEALTHS);
    if (wealth == 0)
        return;
    list->richer = SGC_NO_OWNER;
    list->poorer = lists.head[wealth];
    if (list->poorer != SGC_NO_OWNER)
        lists.of[list->poorer].richer = owner;
    lists.head[wealth] = owner;
    lists.wealths |= UINT64_C(1) << wealth;
}

static void unlink_owner(uint32_t owner, uint32_t wealth)
{
    const struct free_list *list = &lists.of[owner];

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX && wealth < WEALTHS);
    if (wealth == 0)
        return;
    if (list->richer != SGC_NO_OWNER)
        lists.of[list->richer].poorer = list->poorer;
    else
        lists.head[wealth] = list->poorer;
    if (list->poorer != SGC_NO_OWNER)
        lists.of[list->poorer].richer = list->richer;
    if (lists.head[wealth] == SGC_NO_OWNER)
        lists.wealths &= ~(UINT64_C(1) << wealth);
}

static void change_count(uint32_t owner, uint32_t by)
{
    struct free_list *list = &lists.of[owner];
    uint32_t before = sgc_a32_load(&list->count);
    uint32_t after = before + by;

    sgc_assert(by == 1 || before != 0);
    sgc_a32_store(&list->count, after);
    sgc_a32_store(&lists.total, sgc_a32_load(&lists.total) + by);
    if (sgc_page_wealth(before) == sgc_page_wealth(after))
        return;
    unlink_owner(owner, sgc_page_wealth(before));
    link_owner(owner, sgc_page_wealth(after));
}

/* ---- pages ---- */

static void add_last(struct free_list *list, uint32_t page)
{
    sgc_assert(list->last != SGC_NO_PAGE);
    record(page)->next = SGC_NO_PAGE;
    record(page)->prev = list->last;
    record(list->last)->next = page;
    list->last = page;
}

void sgc_free_list_add(uint32_t owner, uint32_t page)
{
    struct sgc_arena *arena = sgc_arena_of_page(page);
    struct free_list *list;

    sgc_assert((arena->dirty & ~arena->listed & sgc_arena_bit(page)) != 0);
    if (owner == SGC_NO_OWNER || lists.of == NULL)
        return;
    list = &lists.of[owner];
    if (list->first == SGC_NO_PAGE || page < list->first)
        sgc_page_link(&list->first, &list->last, page);
    else
        add_last(list, page);
    record(page)->list = owner;
    arena->listed |= sgc_arena_bit(page);
    change_count(owner, 1);
}

void sgc_free_list_remove(uint32_t page)
{
    struct sgc_page_record *r = record(page);
    struct free_list *list = &lists.of[r->list];

    sgc_assert(sgc_free_list_of(page) != SGC_NO_OWNER);
    sgc_page_unlink(&list->first, &list->last, page);
    sgc_arena_of_page(page)->listed &= ~sgc_arena_bit(page);
    change_count(r->list, (uint32_t)-1);
    r->list = 0;
}

uint32_t sgc_free_list_of(uint32_t page)
{
    return (sgc_arena_of_page(page)->listed & sgc_arena_bit(page)) != 0 ? record(page)->list : SGC_NO_OWNER;
}

uint32_t sgc_free_list_first(uint32_t owner)
{
    sgc_assert(owner < SGC_OWNERS_MAX);
    return lists.of != NULL ? lists.of[owner].first : SGC_NO_PAGE;
}

uint32_t sgc_free_list_last_of_richest(void)
{
    if (lists.wealths == 0)
        return SGC_NO_PAGE;
    return lists.of[lists.head[63 - __builtin_clzll(lists.wealths)]].last;
}

uint32_t sgc_free_list_count(uint32_t owner)
{
    sgc_assert(owner < SGC_OWNERS_MAX);
    return lists.of != NULL ? sgc_a32_load(&lists.of[owner].count) : 0;
}

uint32_t sgc_free_list_total(void)
{
    return sgc_a32_load(&lists.total);
}

/* ---- check ---- */

static uint32_t check_list(uint32_t owner)
{
    const struct free_list *list = &lists.of[owner];
    uint32_t prev = SGC_NO_PAGE, count = 0;

    for (uint32_t page = list->first; page != SGC_NO_PAGE; page = record(page)->next) {
        sgc_verify(sgc_free_list_of(page) == owner && record(page)->prev == prev);
        prev = page;
        count++;
    }
    sgc_verify(list->last == prev && sgc_a32_load(&list->count) == count);
    return count;
}

/* Owners of lists that are not empty, each where its wealth says; returns their pages. */
static uint32_t check_owners(void)
{
    uint32_t sum = 0;

    for (uint32_t wealth = 1; wealth < WEALTHS; wealth++) {
        uint32_t richer = SGC_NO_OWNER;

        sgc_verify((lists.head[wealth] != SGC_NO_OWNER) == (lists.wealths >> wealth & 1));
        for (uint32_t owner = lists.head[wealth]; owner != SGC_NO_OWNER; owner = lists.of[owner].poorer) {
            uint32_t count = check_list(owner);

            sgc_verify(lists.of[owner].richer == richer && sgc_page_wealth(count) == wealth);
            richer = owner;
            sum += count;
        }
        (void)richer;
    }
    return sum;
}

void sgc_free_lists_check(uint32_t arenas)
{
    uint32_t listed = 0;

    for (uint32_t a = 0; a < arenas; a++) {
        sgc_verify((sgc_heap.arenas[a].listed & ~sgc_heap.arenas[a].dirty) == 0);
        listed += (uint32_t)__builtin_popcountll(sgc_heap.arenas[a].listed);
    }
    sgc_verify(listed == sgc_free_list_total());
    sgc_verify(lists.of == NULL || check_owners() == listed);
    (void)listed;
}
