/* SPDX-License-Identifier: MIT */
/*
 * Lists of pages, each list of what the last cycle has left to do with its pages; and how pages are
 * linked, on these lists and on those of free pages (alloc/pages/pool.h).
 *
 * Pages are linked by number through their records, so a page is on one list at a time.  The lock
 * is that of the lists' holder: a cache's, the spans', the orphans', the pool's.
 */
#ifndef SGC_ALLOC_PAGES_PAGE_LISTS_H
#define SGC_ALLOC_PAGES_PAGE_LISTS_H

#include "alloc/pages/page.h"

/* ---- links ---- */

/* The page's record, for its links. */
static inline struct sgc_page_record *sgc_page_links(uint32_t page)
{
    sgc_assert(sgc_page_ok(page));
    return &sgc_heap.records[page];
}

/* Links a page in front of those from *first to *last, which are linked by their records;
 * SGC_NO_PAGE in both: there are none. */
static inline void sgc_link_page(uint32_t *first, uint32_t *last, uint32_t page)
{
    struct sgc_page_record *r = sgc_page_links(page);

    r->prev = SGC_NO_PAGE;
    r->next = *first;
    if (r->next != SGC_NO_PAGE)
        sgc_page_links(r->next)->prev = page;
    else
        *last = page;
    *first = page;
}

/* Takes a page out of those from *first to *last. */
static inline void sgc_unlink_page(uint32_t *first, uint32_t *last, uint32_t page)
{
    const struct sgc_page_record *r = sgc_page_links(page);

    sgc_assert(*first != SGC_NO_PAGE && *last != SGC_NO_PAGE);
    if (r->prev != SGC_NO_PAGE)
        sgc_page_links(r->prev)->next = r->next;
    else
        *first = r->next;
    if (r->next != SGC_NO_PAGE)
        sgc_page_links(r->next)->prev = r->prev;
    else
        *last = r->prev;
}

/* ---- lists by what is left to do ---- */

/* Todo: pages not swept since the last cycle.  Usable: swept, have free slots.  Done: full, ready
 * to be used, or in use. */
enum sgc_page_list { SGC_LIST_TODO, SGC_LIST_USABLE, SGC_LIST_DONE, SGC_LISTS };

struct sgc_page_lists {
    uint32_t head[SGC_LISTS];
    uint32_t tail[SGC_LISTS];
    uint32_t epoch;                 /* the cycle that `done` and `usable` are of */
};

/* After a cycle: pages swept in an older epoch are to be swept again.  Under the lists' lock. */
void sgc_lists_renew(struct sgc_page_lists *lists);
void sgc_list_push(struct sgc_page_lists *lists, enum sgc_page_list list, uint32_t page);
void sgc_list_remove(struct sgc_page_lists *lists, uint32_t page);
void sgc_list_move(struct sgc_page_lists *lists, enum sgc_page_list to, uint32_t page);
enum sgc_page_list sgc_list_of(const struct sgc_page_lists *lists, uint32_t page);
uint32_t sgc_lists_check(const struct sgc_page_lists *lists, uint32_t owner);    /* how many pages */

#endif
