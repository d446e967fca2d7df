/* SPDX-License-Identifier: MIT */
/*
 * Pages of dates, and the lock of short-term memory.
 *
 * Lists of dates have their words in pages beside the heap, so that no date is a root by itself.  A
 * page has sgc_date_words words for dates and one behind them.  The words of a page that is in use
 * are dates from the first on up to one that is SGC_DATES_END; the one behind them is always that.
 * In a page that nobody uses it is the only one, so a list finds out by one load whether there is
 * room (shortterm/dates/date_list.h).
 *
 * A thread keeps a few pages; those it has too many of go to a list for all.  Pages come from the
 * system in chunks, which are kept.
 *
 *   page in use      its thread, in a section;            same        program order; stopping the
 *   and pool         world stopped: the collecting                    world
 *                    thread
 *   common pages     under the lock                       same        the lock
 *   sgc_date_words   the thread that starts the layer     everybody   release of sgc_upper_now /
 *                                                                     acquire
 */
#ifndef SGC_SHORTTERM_DATES_DATE_PAGES_H
#define SGC_SHORTTERM_DATES_DATE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/report.h"
#include "platform/section/section.h"

#define SGC_DATES_END UINTPTR_MAX       /* no address */

struct sgc_date_page {
    struct sgc_date_page *next;
    uintptr_t word[];
};

enum {
    SGC_DATE_PAGE_MIN = 24,             /* bytes of a page: one date */
    SGC_DATE_PAGE_MAX = 65536,
};

/* Words for dates in a page. */
extern uint32_t sgc_date_words;

struct sgc_date_pool {
    struct sgc_date_page *first;
    uint32_t count;                     /* from there on; too small after an abandoned section */
};

/* Pages are `bytes` large from now on, or as many fewer as are no whole date, and have room for one
 * at least.  Before the first is taken; once. */
void sgc_date_pages_init(size_t bytes, uint32_t words_a_date);

/* Sees to it that the pool has a page.  False if the system has no memory.  By its thread, outside
 * sections. */
bool sgc_date_pool_fill(struct sgc_date_pool *pool, struct sgc_section *self);

/* Pages from `first` to `last` are not used any more, and none of their words but the last is
 * SGC_DATES_END.  By the pool's thread outside sections, or (self NULL) where no other thread
 * runs. */
void sgc_date_pages_give(struct sgc_date_pool *pool, struct sgc_date_page *first, struct sgc_date_page *last,
                         struct sgc_section *self);

/* Gives all pages of the pool to the common pages.  By the pool's thread outside sections, by the
 * thread that buries that one, or (self NULL) where no other thread runs. */
void sgc_date_pool_empty(struct sgc_date_pool *pool, struct sgc_section *self);

/* Memory of all pages, used or not. */
size_t sgc_date_pages_bytes(void);

/*
 * The lock of short-term memory, the last in rank: nothing but memory of the system is asked for
 * under it.  A thread that forks holds it meanwhile, so that its child finds none of this half
 * changed.
 *
 *   common pages                                    shortterm/dates/date_pages.c
 *   what the program wants; the start of the layer  shortterm/start.c
 *   holds, and those that were taken back           shortterm/holds.c
 *   dates that ended threads have left              shortterm/orphan_dates.c
 *
 * The collecting thread changes the last two without it, with the world stopped: then no thread
 * holds it.
 */
void sgc_shortterm_lock(struct sgc_section *self);
void sgc_shortterm_unlock(struct sgc_section *self);

/* In the child of a fork, instead of giving it back. */
void sgc_shortterm_lock_reset(void);

/* Does a thread hold it?  For assertions of what runs under it. */
bool sgc_shortterm_locked(void);

/* Is there room for dates up to the word behind them? */
static inline bool sgc_date_page_ok(const struct sgc_date_page *page)
{
    return (uintptr_t)page % sizeof(uintptr_t) == 0 && page->word[sgc_date_words] == SGC_DATES_END;
}

/* There is a page: sgc_date_pool_fill.  In a section; one that is left half way loses a page. */
static inline struct sgc_date_page *sgc_date_page_take(struct sgc_date_pool *pool)
{
    struct sgc_date_page *page = pool->first;

    sgc_assert(page != NULL && sgc_date_page_ok(page));
    pool->first = page->next;
    if (pool->count != 0)
        pool->count--;
    page->next = NULL;
    return page;
}

#endif
