/* SPDX-License-Identifier: MIT */
/*
 * A list of dates that are over at the same tick, and the queue of those that are over.
 *
 * A list is the pages from `first` to the one that `next` lies in: `next` is where the next date goes, and all words before it
 * are dates.  It alone says where the list ends, so that each change of a list is one store; a thread that leaves a function of
 * ours by a jump leaves a list as it was before or after that, and loses at most a page that was on its way.  Where there is no
 * room `next` points at an SGC_DATES_END.  Behind the page of `next` there may be one more, to be used next.
 *
 *   both      its thread, in a section; world stopped: the collecting thread     same   program order; stopping the world
 */
#ifndef SGC_SHORTTERM_DATE_LIST_H
#define SGC_SHORTTERM_DATE_LIST_H

#include "shortterm/date_pages.h"

struct sgc_date_list {
    uintptr_t *next;                    /* &sgc_dates_none: it has no page */
    struct sgc_date_page *first;
    struct sgc_date_page *last;         /* a hint where `next` lies */
};

/* SGC_DATES_END, for lists without a page.  Never written. */
extern uintptr_t sgc_dates_none;

/* A queue of dates that are over: pages whose dates go up to an SGC_DATES_END in each.  `begin`:
 * the first word of the first page that has not been taken off yet. */
struct sgc_date_queue {
    struct sgc_date_page *first, *last;
    uint32_t begin;
};

static inline bool sgc_date_page_holds(const struct sgc_date_page *page, const uintptr_t *next)
{
    return next >= page->word && next <= page->word + sgc_date_words;
}

static inline bool sgc_date_list_empty(const struct sgc_date_list *list)
{
    return list->next == &sgc_dates_none || list->next == list->first->word;
}

/* Does `next` lie in a page, or nowhere? */
static inline bool sgc_date_list_ok(const struct sgc_date_list *list)
{
    return list->next == &sgc_dates_none || (list->first != NULL && list->next != NULL);
}

/* The page that `next` lies in. */
struct sgc_date_page *sgc_date_list_last(struct sgc_date_list *list);

/* Makes room behind a full page, or for the first date; the pool has a page.  In a section. */
void sgc_date_list_extend(struct sgc_date_list *list, struct sgc_date_pool *pool);

/* Forgets the dates, and keeps a page: the others are *first to *last (NULL: there are none).  In a section. */
void sgc_date_list_clear(struct sgc_date_list *list, struct sgc_date_page **first, struct sgc_date_page **last);

/* Appends the list's dates to the queue; it has no page then.  In a section. */
void sgc_date_queue_append(struct sgc_date_queue *queue, struct sgc_date_list *list);

/* Calls fn for each stretch of dates.  World stopped, or by the thread in a section. */
typedef void (*sgc_visit_dates_t)(void *arg, uintptr_t *from, uintptr_t *end);
void sgc_date_list_visit(const struct sgc_date_list *list, sgc_visit_dates_t fn, void *arg);
void sgc_date_queue_visit(const struct sgc_date_queue *queue, sgc_visit_dates_t fn, void *arg);

/* The queue is nobody's any more: its pages are the pool's.  By the pool's thread outside sections, or (self NULL) where no
 * other thread runs. */
void sgc_date_queue_give(const struct sgc_date_queue *queue, struct sgc_date_pool *pool, struct sgc_section *self);

/* Asks about each date, of so many words, whether it stays in the queue, and gives back the pages that are not needed then.
 * World stopped. */
typedef bool (*sgc_date_stays_t)(void *arg, const uintptr_t *date);
void sgc_date_queue_filter(struct sgc_date_queue *queue, struct sgc_date_pool *pool, uint32_t words, sgc_date_stays_t stays,
                           void *arg);

/* Moves the dates of the queue's first page so that they begin with its first word (`begin` is 0).
 * In a section. */
void sgc_date_queue_settle(struct sgc_date_queue *queue);

/* Appends the dates of `from`, whose `begin` is 0, to those of `to`; `from` is empty then.  In a
 * section. */
void sgc_date_queue_join(struct sgc_date_queue *to, struct sgc_date_queue *from);

#endif
