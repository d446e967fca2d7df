/* SPDX-License-Identifier: MIT */
/*
 * The lists of pages of one size class and kind.  alloc/pages/page_lists.h says under which lock
 * each function runs.
 */
#include "alloc/pages/page_lists.h"

#include "platform/report.h"

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
    uint32_t l = sgc_page_links(page)->list;

    sgc_assert(l != 0);
    return l >> 2 == lists->epoch << 2 >> 2 ? (l & 3) - 1 : SGC_LIST_TODO;
}

void sgc_list_push(struct sgc_page_lists *lists, enum sgc_page_list list, uint32_t page)
{
    sgc_assert(sgc_page_links(page)->list == 0);
    sgc_page_links(page)->list = label(lists, list);
    sgc_link_page(&lists->head[list], &lists->tail[list], page);
}

void sgc_list_remove(struct sgc_page_lists *lists, uint32_t page)
{
    enum sgc_page_list list = sgc_list_of(lists, page);

    sgc_unlink_page(&lists->head[list], &lists->tail[list], page);
    sgc_page_links(page)->list = 0;
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
    sgc_page_links(tail)->next = todo;
    if (todo != SGC_NO_PAGE)
        sgc_page_links(todo)->prev = tail;
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

    for (uint32_t page = lists->head[list]; page != SGC_NO_PAGE; page = sgc_page_links(page)->next) {
        sgc_verify(sgc_list_of(lists, page) == list);
        sgc_verify(sgc_page_links(page)->prev == prev);
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
