/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/page_lists.c: pages on lists, moved, removed, and renewed by an epoch; against a model that knows
 * only which list each page is on.
 */
#include "tests/lib/heap.h"

enum { PAGES = 40, FIRST = 1 };

static struct sgc_page_lists lists;
static int model[FIRST + PAGES];        /* the list a page should be on; -1: none */

static bool listed(enum sgc_page_list list, uint32_t page)
{
    for (uint32_t p = lists.head[list]; p != SGC_NO_PAGE; p = sgc_heap.records[p].next)
        if (p == page)
            return true;
    return false;
}

static bool agrees(void)
{
    for (uint32_t page = FIRST; page < FIRST + PAGES; page++) {
        for (int list = 0; list < SGC_LISTS; list++)
            if (listed((enum sgc_page_list)list, page) != (model[page] == list))
                return false;
        if (model[page] >= 0 && sgc_list_of(&lists, page) != (enum sgc_page_list)model[page])
            return false;
    }
    sgc_lists_check(&lists, SGC_NO_OWNER);
    return true;
}

static void test_one(void)
{
    sgc_list_push(&lists, SGC_LIST_DONE, 3);
    model[3] = SGC_LIST_DONE;
    tap_ok(agrees(), "a page that is pushed is on its list and on no other");
    sgc_list_move(&lists, SGC_LIST_USABLE, 3);
    model[3] = SGC_LIST_USABLE;
    tap_ok(agrees(), "and on the other after a move");
    sgc_list_remove(&lists, 3);
    model[3] = -1;
    tap_ok(agrees() && sgc_heap.records[3].list == 0, "and on none after its removal");
}

/* What was used comes first, the last of it foremost; what was usable follows, then what was on todo already. */
static void test_renewal(void)
{
    for (uint32_t page = 1; page <= 9; page++) {
        sgc_list_push(&lists, (enum sgc_page_list)(page % SGC_LISTS), page);
        model[page] = (int)(page % SGC_LISTS);
    }
    tap_ok(agrees(), "nine pages on three lists");
    sgc_heap.epoch++;
    sgc_lists_renew(&lists);
    for (uint32_t page = 1; page <= 9; page++)
        model[page] = SGC_LIST_TODO;
    tap_ok(agrees(), "a new epoch puts all of them on todo");
    uint32_t p = lists.head[SGC_LIST_TODO];
    bool order = true;
    for (int i = 0; i < 9; i++, p = sgc_heap.records[p].next)
        order = order && p % SGC_LISTS == (uint32_t)(2 - i / 3);
    tap_ok(order && p == SGC_NO_PAGE, "done before usable, and last what was on todo already");
    sgc_list_move(&lists, SGC_LIST_DONE, 5);
    model[5] = SGC_LIST_DONE;
    tap_ok(agrees(), "one of them leaves from the middle");
    sgc_lists_renew(&lists);
    tap_ok(agrees(), "a renewal within the epoch changes nothing");
    for (uint32_t page = 1; page <= 9; page++, model[page - 1] = -1)
        sgc_list_remove(&lists, page);
    tap_ok(agrees() && lists.head[SGC_LIST_TODO] == SGC_NO_PAGE && lists.tail[SGC_LIST_TODO] == SGC_NO_PAGE,
           "empty again");
}

static void random_step(uint64_t *seed)
{
    uint32_t page = FIRST + heap_random(seed, PAGES);
    enum sgc_page_list to = (enum sgc_page_list)heap_random(seed, SGC_LISTS);

    if (heap_random(seed, 50) == 0) {
        sgc_heap.epoch++;
        sgc_lists_renew(&lists);
        for (uint32_t p = FIRST; p < FIRST + PAGES; p++)
            model[p] = model[p] >= 0 ? SGC_LIST_TODO : -1;
    } else if (model[page] < 0) {
        sgc_list_push(&lists, to, page);
        model[page] = (int)to;
    } else if (heap_random(seed, 3) == 0) {
        sgc_list_remove(&lists, page);
        model[page] = -1;
    } else {
        sgc_list_move(&lists, to, page);
        model[page] = (int)to;
    }
}

static void test_random(void)
{
    uint64_t seed = 7;
    int agreed = 0;

    for (int i = 0; i < 20000; i++) {
        random_step(&seed);
        agreed += agrees();
    }
    tap_ok(agreed == 20000, "20000 random pushes, moves, removals and epochs agree with the model");
}

int main(void)
{
    for (int page = 0; page < FIRST + PAGES; page++)
        model[page] = -1;
    heap_start(16 << 20, 0, false);
    lists.epoch = sgc_heap.epoch;
    return tap_all(test_one, test_renewal, test_random);
}
