/* SPDX-License-Identifier: MIT */
/*
 * The free page lists: one an owner, of pages of the pool that the owner had last.
 *
 * A page on a list is free in the pool's words like any other, and found there by spans and by decay; who
 * takes it for whatever use takes it off its list, which is O(1).  So a list says only who comes first.
 * Pages that are free and have contents but are on no list are nobody's: of spans, of ended threads.
 *
 * In front of a list is the lowest of the pages put on it since it was empty (a page below the first goes
 * in front, others go behind), so that reuse keeps the heap dense; another thread takes from the end.
 *
 * Owners are linked by the wealth of their lists (alloc/pages/page_rules.h), those of each memory node by themselves, so that a
 * rich one is found at once.  Which node an owner's pages lie on is their arenas' affair: most are on that of its thread.
 *
 *   what                              written by               read by                  ordering
 *   everything here                   under the pool's lock    same                     the lock
 *   next, prev, list of a page        under the pool's lock    same                     the lock; before and after,
 *   record, while the page is free                                                      who has the page owns them
 *   counts                            under the pool's lock    anybody, relaxed too     a stale value costs a look
 *
 * A page's `list` is then its owner's number.
 */
#ifndef SGC_ALLOC_PAGES_FREE_LIST_H
#define SGC_ALLOC_PAGES_FREE_LIST_H

#include "alloc/pages/heap.h"

/* Before the first page is put on a list.  If the system refuses memory for them there are no lists, and every
 * page is nobody's. */
void sgc_free_lists_init(void);

/* A free page with contents that is on no list becomes the last owner's.  SGC_NO_OWNER: stays nobody's. */
void sgc_free_list_add(uint32_t owner, uint32_t page);

/* A page on a list becomes nobody's. */
void sgc_free_list_remove(uint32_t page);

/* The owner of the list that the free page is on; SGC_NO_OWNER if it is nobody's. */
uint32_t sgc_free_list_of(uint32_t page);

/* SGC_NO_PAGE if there is none. */
uint32_t sgc_free_list_first(uint32_t owner);
uint32_t sgc_free_list_last_of_richest(uint32_t home);         /* among owners whose thread runs there, */
uint32_t sgc_free_list_last_of_richest_far(uint32_t home);     /* or elsewhere: there are several homes */

/* The owner's thread runs there now. */
void sgc_free_list_settle(uint32_t owner, uint32_t home);

/* How many pages are on one list.  Without the lock: about. */
uint32_t sgc_free_list_count(uint32_t owner);

/* How many pages are on all lists, of the arenas of one home and of all.  Without the lock: about. */
uint32_t sgc_free_list_listed(uint32_t home);
uint32_t sgc_free_list_total(void);

/* Panics on a contradiction; there are so many arenas.  World stopped, or under the pool's lock. */
void sgc_free_lists_check(uint32_t arenas);

#endif
