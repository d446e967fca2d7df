/* SPDX-License-Identifier: MIT */
/*
 * The pool of free pages: the free page lists of owners, and single pages, taken from where the
 * page rule says and given back to the list of the thread that had them last.  alloc/pages/pool.h
 * says which thread may call each function.
 */
#include "alloc/pages/pool.h"

#include "alloc/pages/page_lists.h"
#include "alloc/pages/homes.h"
#include "alloc/pages/live_pages.h"
#include "alloc/pages/page.h"
#include "platform/report.h"

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

/* The owner's thread runs there now. */
static void settle_owner(uint32_t owner, uint32_t home)
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
    sgc_page_links(page)->next = SGC_NO_PAGE;
    sgc_page_links(page)->prev = list->last;
    sgc_page_links(list->last)->next = page;
    list->last = page;
}

/* The owner of the list that the free page is on; SGC_NO_OWNER if it is nobody's. */
static uint32_t list_owner(uint32_t page)
{
    return (sgc_arena_of_page(page)->listed & sgc_arena_bit(page)) != 0 ? sgc_page_links(page)->list : SGC_NO_OWNER;
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
        sgc_link_page(&list->first, &list->last, page);
    else
        add_last(list, page);
    sgc_page_links(page)->list = owner;
    arena->listed |= sgc_arena_bit(page);
    change_count(owner, arena->home, 1);
}

void sgc_free_list_remove(uint32_t page)
{
    struct sgc_page_record *r = sgc_page_links(page);
    struct free_list *list = &free_lists.of[r->list];

    sgc_assert(list_owner(page) != SGC_NO_OWNER);
    sgc_unlink_page(&list->first, &list->last, page);
    sgc_arena_of_page(page)->listed &= ~sgc_arena_bit(page);
    change_count(r->list, sgc_arena_of_page(page)->home, (uint32_t)-1);
    r->list = 0;
}

/* SGC_NO_PAGE if there is none. */
static uint32_t first_listed(uint32_t owner)
{
    sgc_assert(owner < SGC_OWNERS_MAX);
    return free_lists.of != NULL ? free_lists.of[owner].first : SGC_NO_PAGE;
}

/* Among owners whose thread runs there; SGC_NO_PAGE if there is none. */
static uint32_t last_of_richest(const struct home_lists *on)
{
    if (on->wealths == 0)
        return SGC_NO_PAGE;
    return free_lists.of[on->head[63 - __builtin_clzll(on->wealths)]].last;
}

/* Among owners whose thread runs elsewhere: there are several homes. */
static uint32_t last_of_richest_far(uint32_t home)
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

/* How many pages of the home's arenas are on all lists. */
static uint32_t listed_on(uint32_t home)
{
    sgc_assert(home < sgc_heap.homes);
    return sgc_a32_load(&free_lists.listed[home]);
}

uint32_t sgc_free_list_total(void)
{
    uint32_t sum = 0;

    for (uint32_t home = 0; home < sgc_heap.homes; home++)
        sum += listed_on(home);
    return sum;
}

/* ---- finding one page ---- */

static bool any_of(uint32_t home, enum sgc_pool_sort sort)
{
    const struct sgc_pool_home *h = &sgc_pool.home[home];

    if (sort == SGC_POOL_CLEAN)
        return h->clean != 0;
    return sort == SGC_POOL_USED ? h->used != 0 : h->used != listed_on(home);
}

/* There is one. */
static uint32_t find_lowest(uint32_t home, enum sgc_pool_sort sort)
{
    uint32_t *a = &sgc_pool.home[home].lowest_of[sort];

    sgc_assert(sgc_lock_taken(&sgc_pool.lock) && home < sgc_heap.homes);
    while (sgc_pool_pages_of(&sgc_heap.arenas[*a], sort) == 0 || sgc_heap.arenas[*a].home != home) {
        ++*a;
        sgc_assert(*a < sgc_pool.committed);
    }
    return *a * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(sgc_pool_pages_of(&sgc_heap.arenas[*a], sort));
}

static inline uint32_t lowest_page(uint32_t home, enum sgc_pool_sort sort)
{
    return any_of(home, sort) ? find_lowest(home, sort) : SGC_NO_PAGE;
}

/* Threads of different nodes begin to look at different ones. */
static uint32_t lowest_far_page(uint32_t near, enum sgc_pool_sort sort)
{
    for (uint32_t i = 1; i < sgc_heap.homes; i++) {
        uint32_t page = lowest_page((near + i) % sgc_heap.homes, sort);

        if (page != SGC_NO_PAGE)
            return page;
    }
    return SGC_NO_PAGE;
}

static uint32_t lowest_page_of_all(enum sgc_pool_sort sort)
{
    uint32_t lowest = lowest_page(0, sort);

    for (uint32_t home = 1; home < sgc_heap.homes; home++) {
        uint32_t page = lowest_page(home, sort);

        if (lowest == SGC_NO_PAGE || (page != SGC_NO_PAGE && page < lowest))
            lowest = page;
    }
    return lowest;
}

/* ---- taking one page ---- */

/* Under the lock: a page without contents, growing the heap if need be. */
static uint32_t clean_page(uint32_t home, struct sgc_section *self)
{
    while (sgc_pool_within_limit(1)) {
        uint32_t page = lowest_page(home, SGC_POOL_CLEAN);

        if (page != SGC_NO_PAGE || !sgc_pool_more(1, true, home, self))
            return page;
    }
    return SGC_NO_PAGE;
}

/* The lowest one if all are its own, so that a heap without spare pages stays as small as it
 * can. */
static uint32_t own_page(uint32_t owner)
{
    uint32_t count = sgc_free_list_count(owner);

    sgc_assert(owner < SGC_OWNERS_MAX);
    if (count == 0)
        return SGC_NO_PAGE;
    return count == sgc_aw_load(&sgc_pool.dirty) ? lowest_page_of_all(SGC_POOL_USED) : first_listed(owner);
}

/* `near`: the asking thread's node. */
static uint32_t page_from(enum sgc_page_source source, uint32_t owner, uint32_t near, struct sgc_section *self)
{
    switch (source) {
    case SGC_SOURCE_OWN:
        return own_page(owner);
    case SGC_SOURCE_NOBODYS:
        return lowest_page(near, SGC_POOL_NOBODYS);
    case SGC_SOURCE_ANY:
        return lowest_page_of_all(SGC_POOL_USED);
    case SGC_SOURCE_OTHERS:
        return last_of_richest(&free_lists.on[near]);
    case SGC_SOURCE_FRESH:
        return clean_page(near, self);
    case SGC_SOURCE_NOBODYS_FAR:
        return lowest_far_page(near, SGC_POOL_NOBODYS);
    case SGC_SOURCE_OTHERS_FAR:
        return last_of_richest_far(near);
    case SGC_SOURCE_FRESH_FAR:
        return sgc_pool_within_limit(1) ? lowest_far_page(near, SGC_POOL_CLEAN) : SGC_NO_PAGE;
    default:
        return SGC_NO_PAGE;
    }
}

/* Spans are outside the policies: the pages in use by threads are those taken one by one. */
static struct sgc_page_order order_now(void)
{
    struct sgc_page_supply supply = {
        .consumed = sgc_aw_load(&sgc_pool.small) + sgc_aw_load(&sgc_pool.dirty),
        .max_live = sgc_live_pages_max(),
        .near_and_far = sgc_heap.homes > 1,
    };

    return sgc_page_order(&sgc_heap.config.page_rule, &supply);
}

static void note_taken(uint32_t page, uint32_t owner, uint32_t near, enum sgc_page_source source)
{
    uint32_t last = list_owner(page);

    sgc_assert(sgc_page_ok(page) && source < SGC_SOURCES);
    sgc_pool_count(&sgc_pool.small, 1);
    sgc_pool_count(&sgc_pool.taken[source], 1);
    sgc_pool_count(&sgc_pool.remote, last != SGC_NO_OWNER && last != owner);
    sgc_pool_count(&sgc_pool.foreign, sgc_page_settle(page, owner));
    if (sgc_arena_of_page(page)->home != near)
        sgc_pool_count(&sgc_pool.far, 1);
}

/* Under the lock. */
static bool take_one(uint32_t owner, uint32_t near, struct sgc_taken *taken, struct sgc_section *self)
{
    struct sgc_page_order order = order_now();

    sgc_assert(sgc_lock_taken(&sgc_pool.lock));
    for (int i = 0; sgc_pool_may_use(1) && order.source[i] != SGC_SOURCE_NONE; i++) {
        taken->page = page_from(order.source[i], owner, near, self);
        if (taken->page == SGC_NO_PAGE)
            continue;
        note_taken(taken->page, owner, near, order.source[i]);
        sgc_pool_take_run(taken->page, 1, &taken->zero);
        return true;
    }
    return false;
}

uint32_t sgc_pool_take_singles(uint32_t owner, uint32_t max, struct sgc_taken *taken, struct sgc_section *self)
{
    uint32_t n = 0, near = sgc_home_here();

    sgc_assert(owner < SGC_OWNERS_MAX && max != 0);
    sgc_lock(&sgc_pool.lock, self);
    if (sgc_heap.homes > 1)
        settle_owner(owner, near);
    while (n < max && take_one(owner, near, &taken[n], self))
        n++;
    sgc_unlock(&sgc_pool.lock, self);
    return n;
}

/* ---- giving ---- */

/* A page that was made ready and never used. */
static void give_untouched(uint32_t page)
{
    sgc_page_unsettle(page);
    sgc_pool_give_clean_run(page, 1);
}

void sgc_pool_give_singles(const uint32_t *pages, uint32_t count, uint32_t owner, struct sgc_section *self)
{
    uint64_t now = sgc_clock_ns();

    sgc_assert(owner < SGC_OWNERS_MAX && count <= sgc_aw_load(&sgc_pool.small));
    sgc_lock(&sgc_pool.lock, self);
    for (uint32_t i = 0; i < count; i++)
        if (sgc_heap.records[pages[i]].zero_from == 0)
            give_untouched(pages[i]);
        else
            sgc_pool_give_run(pages[i], 1, owner, now);
    sgc_pool_count(&sgc_pool.small, -(size_t)count);
    sgc_unlock(&sgc_pool.lock, self);
}

bool sgc_pool_forget_owner(uint32_t owner, uint32_t max, struct sgc_section *self)
{
    uint32_t page;

    sgc_assert(owner != SGC_NO_OWNER && owner < SGC_OWNERS_MAX);
    sgc_lock(&sgc_pool.lock, self);
    for (; max > 0 && (page = first_listed(owner)) != SGC_NO_PAGE; max--) {
        sgc_free_list_remove(page);
        sgc_pool_note_arena(page / SGC_ARENA_PAGES);
    }
    page = first_listed(owner);
    sgc_unlock(&sgc_pool.lock, self);
    return page != SGC_NO_PAGE;
}

/* ---- the free page lists: the check ---- */

static uint32_t check_free_list(uint32_t owner)
{
    const struct free_list *list = &free_lists.of[owner];
    uint32_t prev = SGC_NO_PAGE, count = 0;

    for (uint32_t page = list->first; page != SGC_NO_PAGE; page = sgc_page_links(page)->next) {
        sgc_verify(list_owner(page) == owner && sgc_page_links(page)->prev == prev);
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
        sgc_verify(listed_in(home, arenas) == listed_on(home));
        of_owners += free_lists.of == NULL ? 0 : check_owners(home);
    }
    sgc_verify(of_owners == sgc_free_list_total());
    (void)of_owners;
}
