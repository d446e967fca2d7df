/* SPDX-License-Identifier: MIT */
/*
 * Lists of pages, each list of what the last cycle has left to do with its pages.
 *
 * Pages are linked by number through their records, so a page is on one list at a time.  The lock is that of the lists'
 * holder: a cache's, the spans', the orphans'.
 */
#ifndef SGC_ALLOC_PAGES_PAGE_LISTS_H
#define SGC_ALLOC_PAGES_PAGE_LISTS_H

#include "alloc/pages/page.h"

/* Todo: pages not swept since the last cycle.  Usable: swept, have free slots.  Done: full, ready to be used, or in use. */
enum sgc_page_list { SGC_LIST_TODO, SGC_LIST_USABLE, SGC_LIST_DONE, SGC_LISTS };

struct sgc_page_lists {
    uint32_t head[SGC_LISTS];
    uint32_t tail[SGC_LISTS];
    uint32_t epoch;                 /* the cycle that `done` and `usable` are of */
};

/* Links a page in front of those from *first to *last, which are linked by their records; and takes one out.  Under the lock of
 * who has them. */
void sgc_page_link(uint32_t *first, uint32_t *last, uint32_t page);
void sgc_page_unlink(uint32_t *first, uint32_t *last, uint32_t page);

/* After a cycle: pages swept in an older epoch are to be swept again.  Under the lists' lock. */
void sgc_lists_renew(struct sgc_page_lists *lists);
void sgc_list_push(struct sgc_page_lists *lists, enum sgc_page_list list, uint32_t page);
void sgc_list_remove(struct sgc_page_lists *lists, uint32_t page);
void sgc_list_move(struct sgc_page_lists *lists, enum sgc_page_list to, uint32_t page);
enum sgc_page_list sgc_list_of(const struct sgc_page_lists *lists, uint32_t page);
uint32_t sgc_lists_check(const struct sgc_page_lists *lists, uint32_t owner);    /* how many pages */

#endif
