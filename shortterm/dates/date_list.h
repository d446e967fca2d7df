/* SPDX-License-Identifier: MIT */
/*
 * A list of dates that are over at the same tick, the queue of those that are over, and the dates
 * of a clock: a ring of lists, one for each tick at which a date may be over ([SCM-C] 3.3).
 *
 * A list is the pages from `first` to the one that `next` lies in: `next` is where the next date
 * goes, and all words before it are dates.  It alone says where the list ends, so that each change
 * of a list is one store; a thread that leaves a function of ours by a jump leaves a list as it was
 * before or after that, and loses at most a page that was on its way.  Where there is no room
 * `next` points at an SGC_DATES_END.  Behind the page of `next` there may be one more, to be used
 * next.
 *
 * Of a ring, the list at `now` is over at the next tick, the one `later` places behind it at the
 * (later + 1)-th.  A buffer of n + 1 lists has room for n.
 *
 *   all of these   their thread, in a section; world       same   program order; stopping the world
 *                  stopped: the collecting thread
 */
#ifndef SGC_SHORTTERM_DATES_DATE_LIST_H
#define SGC_SHORTTERM_DATES_DATE_LIST_H

#include "shortterm/dates/date_pages.h"

struct sgc_date_list {
    uintptr_t *next;                    /* &sgc_dates_none: it has no page */
    struct sgc_date_page *first;
    struct sgc_date_page *last;         /* a hint where `next` lies */
};

/* SGC_DATES_END, for lists without a page.  Never written. */
extern uintptr_t sgc_dates_none;

/* A queue of dates that are over: pages whose dates go up to an SGC_DATES_END in each.  `at` is the
 * next date to be taken off; a jump may leave it at the end of a page that is in the queue no more.
 * `last` is the last page, or one that a jump has left out: then what is appended is lost, and the
 * tracer's, until the queue has run empty. */
struct sgc_date_queue {
    struct sgc_date_page *first, *last;
    uintptr_t *at;
};

static inline bool sgc_date_page_holds(const struct sgc_date_page *page, const uintptr_t *next)
{
    sgc_assert(page != NULL);
    return next >= page->word && next <= page->word + sgc_date_words;
}

/* The first date of a queue that has a page, or the end of that. */
static inline uintptr_t *sgc_date_queue_at(const struct sgc_date_queue *queue)
{
    sgc_assert(queue->first != NULL);
    return sgc_date_page_holds(queue->first, queue->at) ? queue->at : queue->first->word;
}

/* Does `next` lie in a page, or nowhere? */
static inline bool sgc_date_list_ok(const struct sgc_date_list *list)
{
    return list->next == &sgc_dates_none || (list->first != NULL && list->next != NULL);
}

static inline bool sgc_date_list_empty(const struct sgc_date_list *list)
{
    sgc_assert(sgc_date_list_ok(list));
    return list->next == &sgc_dates_none || list->next == list->first->word;
}

/* The page that `next` lies in. */
struct sgc_date_page *sgc_date_list_last(struct sgc_date_list *list);

/* Makes room behind a full page, or for the first date; the pool has a page.  In a section. */
void sgc_date_list_extend(struct sgc_date_list *list, struct sgc_date_pool *pool);

/* Forgets the dates, and keeps a page: the others are *first to *last (NULL: there are none).  In a
 * section. */
void sgc_date_list_clear(struct sgc_date_list *list, struct sgc_date_page **first, struct sgc_date_page **last);

/* Appends the list's dates to the queue; it has no page then.  In a section. */
void sgc_date_queue_append(struct sgc_date_queue *queue, struct sgc_date_list *list);

/* Calls fn for each stretch of dates.  World stopped, or by the thread in a section. */
typedef void (*sgc_visit_dates_t)(void *arg, uintptr_t *from, uintptr_t *end);
void sgc_date_list_visit(const struct sgc_date_list *list, sgc_visit_dates_t fn, void *arg);
void sgc_date_queue_visit(const struct sgc_date_queue *queue, sgc_visit_dates_t fn, void *arg);

/* The queue is nobody's any more: its pages are the pool's.  By the pool's thread outside sections,
 * or (self NULL) where no other thread runs. */
void sgc_date_queue_give(const struct sgc_date_queue *queue, struct sgc_date_pool *pool, struct sgc_section *self);

/* Asks about each date, of so many words, whether it stays in the queue, and gives back the pages
 * that are not needed then.  World stopped. */
typedef bool (*sgc_date_stays_t)(void *arg, const uintptr_t *date);
void sgc_date_queue_filter(struct sgc_date_queue *queue, struct sgc_date_pool *pool, uint32_t words, sgc_date_stays_t stays,
                           void *arg);

/* Appends the dates of `from` to those of `to`; `from` is empty then.  In a section. */
void sgc_date_queue_join(struct sgc_date_queue *to, struct sgc_date_queue *from);

/* ---- the dates of one clock of a thread ---- */

struct sgc_date_buffer {
    struct sgc_date_list *list;         /* NULL: there is none yet */
    uint32_t lists, now;
};

static inline bool sgc_date_buffer_ok(const struct sgc_date_buffer *b)
{
    return b->list != NULL && b->lists != 0 && b->now < b->lists;
}

/* Without dates, in memory for so many lists. */
void sgc_date_buffer_init(struct sgc_date_buffer *b, struct sgc_date_list *lists, uint32_t count);

/* The dates that are over at the (later + 1)-th tick from now. */
__attribute__((always_inline))
static inline struct sgc_date_list *sgc_date_buffer_list(const struct sgc_date_buffer *b, uint32_t later)
{
    uint32_t at = b->now + later;

    sgc_assert(sgc_date_buffer_ok(b) && later < b->lists);
    return &b->list[at < b->lists ? at : at - b->lists];
}

/* A tick: the list whose dates are over now.  The clock goes on first, so that a jump in between
 * leaves dates that are over late.  In a section. */
__attribute__((always_inline))
static inline struct sgc_date_list *sgc_date_buffer_tick(struct sgc_date_buffer *b)
{
    struct sgc_date_list *over = &b->list[b->now];

    sgc_assert(sgc_date_buffer_ok(b));
    b->now = b->now + 1 < b->lists ? b->now + 1 : 0;
    sgc_compiler_barrier();
    return over;
}

/* Has it no date? */
bool sgc_date_buffer_empty(const struct sgc_date_buffer *b);

/* Calls fn for each stretch of dates.  World stopped, or by its thread. */
void sgc_date_buffer_visit(const struct sgc_date_buffer *b, sgc_visit_dates_t fn, void *arg);

/* Gives all pages to the pool: the dates are forgotten.  By its thread outside sections, or (self
 * NULL) where no other thread runs. */
void sgc_date_buffer_drop(struct sgc_date_buffer *b, struct sgc_date_pool *pool, struct sgc_section *self);

#endif
