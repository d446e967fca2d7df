/* SPDX-License-Identifier: MIT */
/*
 * Lists of pages, each list of what the last cycle has left to do with its pages; and lists of free
 * pages.
 *
 * Pages are linked by number through their records, so a page is on one list at a time.  The lock
 * is that of the lists' holder: a cache's, the spans', the orphans'.
 */
#ifndef SGC_ALLOC_PAGES_PAGE_LISTS_H
#define SGC_ALLOC_PAGES_PAGE_LISTS_H

#include "alloc/pages/page.h"

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

/* ---- the free page lists: one an owner, of pages of the pool that the owner had last ----
 *
 * A page on a list is free in the pool's words like any other, and found there by spans and by
 * decay; who takes it for whatever use takes it off its list, which is O(1).  So a list says only
 * who comes first.  Pages that are free and have contents but are on no list are nobody's: of
 * spans, of ended threads.
 *
 * In front of a list is the lowest of the pages put on it since it was empty (a page below the
 * first goes in front, others go behind), so that reuse keeps the heap dense; another thread takes
 * from the end.
 *
 * Owners are linked by the wealth of their lists (alloc/pages/page_rules.h), those of each memory
 * node by themselves, so that a rich one is found at once.  Which node an owner's pages lie on is
 * their arenas' affair: most are on that of its thread.
 *
 *   what                              written by               read by                  ordering
 *   everything here                   under the pool's lock    same                     the lock
 *   next, prev, list of a page        under the pool's lock    same                     the lock; before and after,
 *   record, while the page is free                                                      who has the page owns them
 *   counts                            under the pool's lock    anybody, relaxed too     a stale value costs a look
 *
 * A page's `list` is then its owner's number.
 */

/* Before the first page is put on a list.  If the system refuses memory for them there are no
 * lists, and every page is nobody's. */
void sgc_free_lists_init(void);

/* A free page with contents that is on no list becomes the last owner's.  SGC_NO_OWNER: stays
 * nobody's. */
void sgc_free_list_add(uint32_t owner, uint32_t page);

/* A page on a list becomes nobody's. */
void sgc_free_list_remove(uint32_t page);

/* The owner of the list that the free page is on; SGC_NO_OWNER if it is nobody's. */
uint32_t sgc_free_list_of(uint32_t page);

/* SGC_NO_PAGE if there is none. */
uint32_t sgc_free_list_first(uint32_t owner);
uint32_t sgc_free_list_last_of_richest(uint32_t home);         /* among owners whose thread runs
                                                                * there, */
uint32_t sgc_free_list_last_of_richest_far(uint32_t home);     /* or elsewhere: there are several
                                                                * homes */

/* The owner's thread runs there now. */
void sgc_free_list_settle(uint32_t owner, uint32_t home);

/* How many pages are on one list.  Without the lock: about. */
uint32_t sgc_free_list_count(uint32_t owner);

/* How many pages are on all lists, of the arenas of one home and of all.  Without the lock:
 * about. */
uint32_t sgc_free_list_listed(uint32_t home);
uint32_t sgc_free_list_total(void);

/* Panics on a contradiction; there are so many arenas.  World stopped, or under the pool's lock. */
void sgc_free_lists_check(uint32_t arenas);

#endif
