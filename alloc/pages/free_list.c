/* SPDX-License-Identifier: MIT */
/*
 * The free page lists.  Everything under the pool's lock: see alloc/pages/free_list.h.
 */
#include "alloc/pages/free_list.h"

#include "alloc/pages/owner_tables.h"
#include "alloc/pages/page_lists.h"
#include "platform/report.h"

enum { WEALTHS = 33 };

struct free_list {
    uint32_t first, last;
    sgc_a32_t count;
    uint32_t richer, poorer;        /* neighbours among the owners of the same home and wealth */
    uint32_t home;                  /* node of the owner's thread */
};

/* The owners of one home. */
struct home_lists {
    uint32_t head[WEALTHS];         /* by wealth; the lists of wealth 0 are not linked */
    uint64_t wealths;               /* which heads are there */
};

struct free_lists {
    struct free_list *of;           /* by owner */
    struct home_lists on[SGC_NODES_MAX];
    sgc_a32_t listed[SGC_NODES_MAX];        /* by home of the arena: pages on all lists */
};

static struct free_lists lists;
SGC_STATE_LARGE(lists);

void sgc_free_lists_init(void)
{
    lists.of = sgc_owner_table_make(sizeof *lists.of);
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
    struct home_lists *on = &lists.on[list->home];

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX && wealth < WEALTHS);
    if (wealth == 0)
        return;
    list->richer = SGC_NO_OWNER;
    list->poorer = on->head[wealth];
    if (list->poorer != SGC_NO_OWNER)
        lists.of[list->poorer].richer = owner;
    on->head[wealth] = owner;
    on->wealths |= UINT64_C(1) << wealth;
}

static void unlink_owner(uint32_t owner, uint32_t wealth)
{
    const struct free_list *list = &lists.of[owner];
    struct home_lists *on = &lists.on[list->home];

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX && wealth < WEALTHS);
    if (wealth == 0)
        return;
    if (list->richer != SGC_NO_OWNER)
        lists.of[list->richer].poorer = list->poorer;
    else
        on->head[wealth] = list->poorer;
    if (list->poorer != SGC_NO_OWNER)
        lists.of[list->poorer].richer = list->richer;
    if (on->head[wealth] == SGC_NO_OWNER)
        on->wealths &= ~(UINT64_C(1) << wealth);
}

void sgc_free_list_settle(uint32_t owner, uint32_t home)
{
    struct free_list *list;
    uint32_t wealth;

    sgc_assert(home < sgc_heap.homes);
    if (lists.of == NULL || lists.of[owner].home == home)
        return;
    list = &lists.of[owner];
    wealth = sgc_page_wealth(sgc_a32_load(&list->count));
    unlink_owner(owner, wealth);
    list->home = home;
    link_owner(owner, wealth);
}

/* Apart, since it happens seldom to a long list. */
__attribute__((noinline))
static void change_wealth(uint32_t owner, uint32_t before, uint32_t after)
{
    unlink_owner(owner, before);
    link_owner(owner, after);
}

static void change_count(uint32_t owner, uint32_t page_home, uint32_t by)
{
    struct free_list *list = &lists.of[owner];
    sgc_a32_t *listed = &lists.listed[page_home];
    uint32_t before = sgc_a32_load(&list->count);
    uint32_t after = before + by;

    sgc_assert(by == 1 || before != 0);
    sgc_a32_store(&list->count, after);
    sgc_a32_store(listed, sgc_a32_load(listed) + by);
    if (sgc_page_wealth(before) != sgc_page_wealth(after))
        change_wealth(owner, sgc_page_wealth(before), sgc_page_wealth(after));
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
    change_count(owner, arena->home, 1);
}

void sgc_free_list_remove(uint32_t page)
{
    struct sgc_page_record *r = record(page);
    struct free_list *list = &lists.of[r->list];

    sgc_assert(sgc_free_list_of(page) != SGC_NO_OWNER);
    sgc_page_unlink(&list->first, &list->last, page);
    sgc_arena_of_page(page)->listed &= ~sgc_arena_bit(page);
    change_count(r->list, sgc_arena_of_page(page)->home, (uint32_t)-1);
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

static uint32_t last_of_richest(const struct home_lists *on)
{
    if (on->wealths == 0)
        return SGC_NO_PAGE;
    return lists.of[on->head[63 - __builtin_clzll(on->wealths)]].last;
}

uint32_t sgc_free_list_last_of_richest(uint32_t home)
{
    sgc_assert(home < sgc_heap.homes);
    return last_of_richest(&lists.on[home]);
}

uint32_t sgc_free_list_last_of_richest_far(uint32_t home)
{
    const struct home_lists *best = &lists.on[home == 0 ? 1 : 0];

    sgc_assert(sgc_heap.homes > 1 && home < sgc_heap.homes);
    for (uint32_t h = 0; h < sgc_heap.homes; h++)
        if (h != home && lists.on[h].wealths > best->wealths)
            best = &lists.on[h];
    return last_of_richest(best);
}

uint32_t sgc_free_list_count(uint32_t owner)
{
    sgc_assert(owner < SGC_OWNERS_MAX);
    return lists.of != NULL ? sgc_a32_load(&lists.of[owner].count) : 0;
}

uint32_t sgc_free_list_listed(uint32_t home)
{
    sgc_assert(home < sgc_heap.homes);
    return sgc_a32_load(&lists.listed[home]);
}

uint32_t sgc_free_list_total(void)
{
    uint32_t sum = 0;

    for (uint32_t home = 0; home < sgc_heap.homes; home++)
        sum += sgc_free_list_listed(home);
    return sum;
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

/* Owners of one home with lists that are not empty, each where its wealth says; returns their pages. */
static uint32_t check_owners(uint32_t home)
{
    const struct home_lists *on = &lists.on[home];
    uint32_t sum = 0;

    for (uint32_t wealth = 1; wealth < WEALTHS; wealth++) {
        uint32_t richer = SGC_NO_OWNER;

        sgc_verify((on->head[wealth] != SGC_NO_OWNER) == (on->wealths >> wealth & 1));
        for (uint32_t owner = on->head[wealth]; owner != SGC_NO_OWNER; owner = lists.of[owner].poorer) {
            uint32_t count = check_list(owner);

            sgc_verify(lists.of[owner].richer == richer && sgc_page_wealth(count) == wealth);
            sgc_verify(lists.of[owner].home == home);
            richer = owner;
            sum += count;
        }
        (void)richer;
    }
    return sum;
}

static uint32_t listed_in(uint32_t home, uint32_t arenas)
{
    uint32_t listed = 0;

    for (uint32_t a = 0; a < arenas; a++)
        if (sgc_heap.arenas[a].home == home)
            listed += (uint32_t)__builtin_popcountll(sgc_heap.arenas[a].listed);
    return listed;
}

void sgc_free_lists_check(uint32_t arenas)
{
    uint32_t of_owners = 0;

    for (uint32_t a = 0; a < arenas; a++)
        sgc_verify((sgc_heap.arenas[a].listed & ~sgc_heap.arenas[a].dirty) == 0);
    for (uint32_t home = 0; home < sgc_heap.homes; home++) {
        sgc_verify(listed_in(home, arenas) == sgc_free_list_listed(home));
        of_owners += lists.of == NULL ? 0 : check_owners(home);
    }
    sgc_verify(of_owners == sgc_free_list_total());
    (void)of_owners;
}
