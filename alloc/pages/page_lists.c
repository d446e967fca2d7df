/* SPDX-License-Identifier: MIT */
/*
 * The lists of pages of one size class and kind, and the free page lists of owners, linked by page
 * number through the page records.  alloc/pages/page_lists.h says under which lock each runs.
 */
#include "alloc/pages/page_lists.h"

#include "alloc/pages/homes.h"
#include "platform/report.h"

static struct sgc_page_record *record(uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    return &sgc_heap.records[page];
}

/* Links a page in front of those from *first to *last, which are linked by their records. */
static void link_page(uint32_t *first, uint32_t *last, uint32_t page)
{
    struct sgc_page_record *r = record(page);

    r->prev = SGC_NO_PAGE;
    r->next = *first;
    if (r->next != SGC_NO_PAGE)
        record(r->next)->prev = page;
    else
        *last = page;
    *first = page;
}

static void unlink_page(uint32_t *first, uint32_t *last, uint32_t page)
{
    const struct sgc_page_record *r = record(page);

    sgc_assert(*first != SGC_NO_PAGE && *last != SGC_NO_PAGE);
    if (r->prev != SGC_NO_PAGE)
        record(r->prev)->next = r->next;
    else
        *first = r->next;
    if (r->next != SGC_NO_PAGE)
        record(r->next)->prev = r->prev;
    else
        *last = r->prev;
}

/*
 * A page's label says which list it is on, and since which epoch of the lists.  When the lists are
 * renewed, everything on `usable` and `done` is put before `todo` in O(1): labels of an older epoch
 * then mean `todo`.  (The epoch is kept in 30 bits; a page would have to stay unswept for 2^30
 * cycles to be mistaken.)
 */
static uint32_t label(const struct sgc_page_lists *lists, enum sgc_page_list list)
{
    sgc_assert(list < SGC_LISTS);
    return lists->epoch << 2 | (list + 1);
}

enum sgc_page_list sgc_list_of(const struct sgc_page_lists *lists, uint32_t page)
{
    uint32_t l = record(page)->list;

    sgc_assert(l != 0);
    return l >> 2 == lists->epoch << 2 >> 2 ? (l & 3) - 1 : SGC_LIST_TODO;
}

void sgc_list_push(struct sgc_page_lists *lists, enum sgc_page_list list, uint32_t page)
{
    sgc_assert(record(page)->list == 0);
    record(page)->list = label(lists, list);
    link_page(&lists->head[list], &lists->tail[list], page);
}

void sgc_list_remove(struct sgc_page_lists *lists, uint32_t page)
{
    enum sgc_page_list list = sgc_list_of(lists, page);

    unlink_page(&lists->head[list], &lists->tail[list], page);
    record(page)->list = 0;
}

void sgc_list_move(struct sgc_page_lists *lists, enum sgc_page_list to, uint32_t page)
{
    sgc_list_remove(lists, page);
    sgc_list_push(lists, to, page);
}

/* The pages used last are in the caches, if any are, so they come first. */
static void put_before_todo(struct sgc_page_lists *lists, enum sgc_page_list from)
{
    uint32_t head = lists->head[from], tail = lists->tail[from], todo = lists->head[SGC_LIST_TODO];

    sgc_assert((head == SGC_NO_PAGE) == (tail == SGC_NO_PAGE));
    if (head == SGC_NO_PAGE)
        return;
    record(tail)->next = todo;
    if (todo != SGC_NO_PAGE)
        record(todo)->prev = tail;
    else
        lists->tail[SGC_LIST_TODO] = tail;
    lists->head[SGC_LIST_TODO] = head;
    lists->head[from] = lists->tail[from] = SGC_NO_PAGE;
}

void sgc_lists_renew(struct sgc_page_lists *lists)
{
    sgc_assert(lists->epoch <= sgc_heap.epoch);
    if (lists->epoch == sgc_heap.epoch)
        return;
    put_before_todo(lists, SGC_LIST_USABLE);
    put_before_todo(lists, SGC_LIST_DONE);
    lists->epoch = sgc_heap.epoch;
}

static uint32_t check_list(const struct sgc_page_lists *lists, enum sgc_page_list list, uint32_t owner)
{
    uint32_t prev = SGC_NO_PAGE, count = 0;

    for (uint32_t page = lists->head[list]; page != SGC_NO_PAGE; page = record(page)->next) {
        sgc_verify(sgc_list_of(lists, page) == list);
        sgc_verify(record(page)->prev == prev);
        sgc_verify(sgc_page_owner(page) == owner);
        prev = page;
        count++;
    }
    sgc_verify(lists->tail[list] == prev);
    (void)owner, (void)prev;
    return count;
}

uint32_t sgc_lists_check(const struct sgc_page_lists *lists, uint32_t owner)
{
    uint32_t count = 0;

    for (int list = 0; list < SGC_LISTS; list++)
        count += check_list(lists, (enum sgc_page_list)list, owner);
    return count;
}

/* ---- the free page lists ---- */

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

static struct free_lists free_lists;
SGC_STATE_LARGE(free_lists);

void sgc_free_lists_init(void)
{
    free_lists.of = sgc_owner_table_make(sizeof *free_lists.of);
}

/* ---- the free page lists: owners by wealth ---- */

static void link_owner(uint32_t owner, uint32_t wealth)
{
    struct free_list *list = &free_lists.of[owner];
    struct home_lists *on = &free_lists.on[list->home];

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX && wealth < WEALTHS);
    if (wealth == 0)
        return;
    list->richer = SGC_NO_OWNER;
    list->poorer = on->head[wealth];
    if (list->poorer != SGC_NO_OWNER)
        free_lists.of[list->poorer].richer = owner;
    on->head[wealth] = owner;
    on->wealths |= UINT64_C(1) << wealth;
}

static void unlink_owner(uint32_t owner, uint32_t wealth)
{
    const struct free_list *list = &free_lists.of[owner];
    struct home_lists *on = &free_lists.on[list->home];

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX && wealth < WEALTHS);
    if (wealth == 0)
        return;
    if (list->richer != SGC_NO_OWNER)
        free_lists.of[list->richer].poorer = list->poorer;
    else
        on->head[wealth] = list->poorer;
    if (list->poorer != SGC_NO_OWNER)
        free_lists.of[list->poorer].richer = list->richer;
    if (on->head[wealth] == SGC_NO_OWNER)
        on->wealths &= ~(UINT64_C(1) << wealth);
}

void sgc_free_list_settle(uint32_t owner, uint32_t home)
{
    struct free_list *list;
    uint32_t wealth;

    sgc_assert(home < sgc_heap.homes);
    if (free_lists.of == NULL || free_lists.of[owner].home == home)
        return;
    list = &free_lists.of[owner];
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
    struct free_list *list = &free_lists.of[owner];
    sgc_a32_t *listed = &free_lists.listed[page_home];
    uint32_t before = sgc_a32_load(&list->count);
    uint32_t after = before + by;

    sgc_assert(by == 1 || before != 0);
    sgc_a32_store(&list->count, after);
    sgc_a32_store(listed, sgc_a32_load(listed) + by);
    if (sgc_page_wealth(before) != sgc_page_wealth(after))
        change_wealth(owner, sgc_page_wealth(before), sgc_page_wealth(after));
}

/* ---- the free page lists: pages ---- */

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
    if (owner == SGC_NO_OWNER || free_lists.of == NULL)
        return;
    list = &free_lists.of[owner];
    if (list->first == SGC_NO_PAGE || page < list->first)
        link_page(&list->first, &list->last, page);
    else
        add_last(list, page);
    record(page)->list = owner;
    arena->listed |= sgc_arena_bit(page);
    change_count(owner, arena->home, 1);
}

void sgc_free_list_remove(uint32_t page)
{
    struct sgc_page_record *r = record(page);
    struct free_list *list = &free_lists.of[r->list];

    sgc_assert(sgc_free_list_of(page) != SGC_NO_OWNER);
    unlink_page(&list->first, &list->last, page);
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
    return free_lists.of != NULL ? free_lists.of[owner].first : SGC_NO_PAGE;
}

static uint32_t last_of_richest(const struct home_lists *on)
{
    if (on->wealths == 0)
        return SGC_NO_PAGE;
    return free_lists.of[on->head[63 - __builtin_clzll(on->wealths)]].last;
}

uint32_t sgc_free_list_last_of_richest(uint32_t home)
{
    sgc_assert(home < sgc_heap.homes);
    return last_of_richest(&free_lists.on[home]);
}

uint32_t sgc_free_list_last_of_richest_far(uint32_t home)
{
    const struct home_lists *best = &free_lists.on[home == 0 ? 1 : 0];

    sgc_assert(sgc_heap.homes > 1 && home < sgc_heap.homes);
    for (uint32_t h = 0; h < sgc_heap.homes; h++)
        if (h != home && free_lists.on[h].wealths > best->wealths)
            best = &free_lists.on[h];
    return last_of_richest(best);
}

uint32_t sgc_free_list_count(uint32_t owner)
{
    sgc_assert(owner < SGC_OWNERS_MAX);
    return free_lists.of != NULL ? sgc_a32_load(&free_lists.of[owner].count) : 0;
}

uint32_t sgc_free_list_listed(uint32_t home)
{
    sgc_assert(home < sgc_heap.homes);
    return sgc_a32_load(&free_lists.listed[home]);
}

uint32_t sgc_free_list_total(void)
{
    uint32_t sum = 0;

    for (uint32_t home = 0; home < sgc_heap.homes; home++)
        sum += sgc_free_list_listed(home);
    return sum;
}

/* ---- the free page lists: the check ---- */

static uint32_t check_free_list(uint32_t owner)
{
    const struct free_list *list = &free_lists.of[owner];
    uint32_t prev = SGC_NO_PAGE, count = 0;

    for (uint32_t page = list->first; page != SGC_NO_PAGE; page = record(page)->next) {
        sgc_verify(sgc_free_list_of(page) == owner && record(page)->prev == prev);
        prev = page;
        count++;
    }
    sgc_verify(list->last == prev && sgc_a32_load(&list->count) == count);
    return count;
}

/* Owners of one home with lists that are not empty, each where its wealth says; returns their
 * pages. */
static uint32_t check_owners(uint32_t home)
{
    const struct home_lists *on = &free_lists.on[home];
    uint32_t sum = 0;

    for (uint32_t wealth = 1; wealth < WEALTHS; wealth++) {
        uint32_t richer = SGC_NO_OWNER;

        sgc_verify((on->head[wealth] != SGC_NO_OWNER) == (on->wealths >> wealth & 1));
        for (uint32_t owner = on->head[wealth]; owner != SGC_NO_OWNER; owner = free_lists.of[owner].poorer) {
            uint32_t count = check_free_list(owner);

            sgc_verify(free_lists.of[owner].richer == richer && sgc_page_wealth(count) == wealth);
            sgc_verify(free_lists.of[owner].home == home);
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
        of_owners += free_lists.of == NULL ? 0 : check_owners(home);
    }
    sgc_verify(of_owners == sgc_free_list_total());
    (void)of_owners;
}
