/* SPDX-License-Identifier: MIT */
/*
 * The dates of one clock of a thread: a ring of lists, one for each tick at which a date may be over ([SCM-C] 3.3).
 *
 * The list at `now` is over at the next tick, the one `later` places behind it at the (later + 1)-th.  A buffer of n + 1 lists
 * has room for n.
 *
 *   both      its thread, in a section; world stopped: the collecting thread     same   program order; stopping the world
 */
#ifndef SGC_SHORTTERM_DATE_BUFFER_H
#define SGC_SHORTTERM_DATE_BUFFER_H

#include "shortterm/date_list.h"

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

/* Gives all pages to the pool: the dates are forgotten.  By its thread outside sections, or (self NULL) where no other thread
 * runs. */
void sgc_date_buffer_drop(struct sgc_date_buffer *b, struct sgc_date_pool *pool, struct sgc_section *self);

#endif
