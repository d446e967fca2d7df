/* SPDX-License-Identifier: MIT */
/*
 * The settings of short-term memory; and the record of a thread in it: its clocks with their dates,
 * and its dates that are over.
 *
 *   wanted           SGC_shortterm_init, before the start,  the start   the lock
 *   settings         under the lock of short-term memory
 *   the settings     the thread that starts the layer,      everybody   release of sgc_upper_now /
 *                    under that lock                                    acquire
 *
 *   `upper` of the   the thread itself                      the thread; world   release
 *   mutator                                                 stopped: the
 *                                                           collecting thread
 *   room             the thread, outside sections           the thread
 *   expiring         the thread, outside sections           same; world stopped:   stopping the world
 *                                                           the collecting
 *                                                           thread
 *   the others       the thread, in sections; world         same                program order;
 *                    stopped: the collecting thread                             stopping the world
 */
#ifndef SGC_SHORTTERM_DATES_H
#define SGC_SHORTTERM_DATES_H

#include "gc/threads/mutator.h"
#include "gc/threads/upper.h"
#include "shortterm/dates/date_list.h"
#include "shortterm/dates/time_rules.h"
#include "sgc_shortterm.h"

/* ---- the settings: the start takes them over (shortterm/start.c) ---- */

struct sgc_shortterm {
    uint32_t mode;                      /* SGC_SHORTTERM_PIN ... */
    uint32_t extension;                 /* the largest */
    bool eager;                         /* ticks alone take dates off; with verify nothing does */
    bool counts;                        /* an object's dates are counted */
    uint32_t step;                      /* lazy: dates that an operation takes off */
    uint32_t check;                     /* verify: ticks of a thread between checks; 0: none */
    uint32_t words;                     /* of a date: the object, and with verify the caller */
};
SGC_INNER struct sgc_shortterm sgc_shortterm;

enum { SGC_EXTENSION_MAX = 65535, SGC_STEP_MAX = 1 << 20 };

static inline bool sgc_verifies(void)
{
    return sgc_shortterm.mode == SGC_SHORTTERM_VERIFY;
}

static inline bool sgc_shortterm_ok(void)
{
    return sgc_shortterm.mode <= SGC_SHORTTERM_VERIFY && sgc_shortterm.extension <= SGC_EXTENSION_MAX;
}

/* ---- records ---- */

/* A clock beside the thread's own one.  Its regions' lists are made when the first region is
 * refreshed by it, and so are those of the own clock and of global time. */
struct SGC_clock {
    struct sgc_dates *dates;
    struct SGC_clock *next, *prev;      /* of the same thread */
    struct sgc_date_buffer objects, regions;
    size_t bytes;
};

struct sgc_dates {
    uint32_t room;                      /* extensions below go the common way; 0: none does */
    uint32_t phase;                     /* of global time, while it takes part */
    bool in_time;                       /* it takes part, */
    bool out_for_now;                   /* or would, but that it blocks */
    bool blocked;                       /* within GC_do_blocking: nothing of this may be touched */
    bool leaving;                       /* it ends: no date of it counts as an owner's any more */
    bool expiring;                      /* hybrid: it takes dates off, or has left that by a jump */
    struct sgc_date_buffer local, global;
    struct sgc_date_buffer local_regions, global_regions;
    struct SGC_clock *clocks;
    struct sgc_date_queue expired;      /* not taken off yet */
    const struct sgc_date_page *expire_to;  /* the last page that a call of sgc_expire takes dates
                                             * from; NULL: it is done */
    struct sgc_date_pool pool;
    uint64_t ticks, global_ticks;       /* that counted */
    uint64_t ticks_seen;                /* verify: by the last collection, */
    uint32_t still;                     /* and so many before it */
    uint32_t unchecked;                 /* verify: ticks since the last check */
    uint32_t pages;                     /* verify: of dates of objects, begun since the last
                                         * collection, which writes it, too */
    uint32_t due;                       /* verify: so many of the first in `expired` the last
                                         * collection has left to it */
    uint64_t freed, freed_bytes;
    struct sgc_mutator *owner;
    uintptr_t calling;                  /* where it stood when it called what is to be done before
                                         * an object goes; 0: not now */
    uintptr_t serial;                   /* no other thread's, ever */
    size_t bytes;                       /* of this record */
};

/* Of threads that are gone.  Each adds to it as it goes: relaxed, figures. */
struct sgc_dates_gone {
    sgc_aw_t ticks, global_ticks, freed, freed_bytes;
};
extern struct sgc_dates_gone sgc_dates_gone;

/* The record of the mutator, NULL if it has none. */
static inline struct sgc_dates *sgc_dates_of(const struct sgc_mutator *m)
{
    return (struct sgc_dates *)sgc_aw_load_acq(&m->upper);
}

static inline bool sgc_dates_ok(const struct sgc_dates *d)
{
    return sgc_date_buffer_ok(&d->local) && d->local.lists == sgc_shortterm.extension + 1 && d->owner != NULL &&
           (!d->in_time || sgc_date_buffer_ok(&d->global)) && !(d->in_time && d->out_for_now);
}

/* Makes the record of the thread, which has none; NULL if there is no memory.  On the thread,
 * outside sections. */
struct sgc_dates *sgc_dates_make(struct sgc_mutator *self);

/* The common way is open to the thread again.  Dates of two words do not go it. */
static inline void sgc_dates_open(struct sgc_dates *d)
{
    sgc_assert(!d->blocked && sgc_shortterm_ok());
    d->room = sgc_verifies() ? 0 : sgc_shortterm.extension + 1;
}

/* Makes `count` lists for the buffer, if it has none.  False if there is no memory.  On the thread,
 * outside sections. */
bool sgc_dates_make_lists(struct sgc_dates *d, struct sgc_date_buffer *buffer, uint32_t count);

/* Forgets the thread's dates of global time, of objects and of regions, and gives their lists back.
 * On the thread outside sections, on the one that buries it, or (self NULL) where no other thread
 * runs. */
void sgc_dates_forget_global(struct sgc_dates *d, struct sgc_section *self);

/* Releases a clock of the thread, and forgets its dates.  On the thread outside sections, on the
 * one that buries it, or (self NULL) where no other thread runs. */
void sgc_dates_drop_clock(struct sgc_dates *d, struct SGC_clock *clock, struct sgc_section *self);

/* Calls fn for each stretch of dates of objects, over or not: those that are counted where dates
 * are counted.  World stopped. */
void sgc_dates_visit_objects(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg);

/* Calls fn for each stretch of dates that are not over, also of regions.  World stopped. */
void sgc_dates_visit_later(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg);

/* Calls fn for each stretch of dates, over or not, also of regions.  World stopped. */
void sgc_dates_visit(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg);

/* Forgets all dates, and releases the record.  On the thread outside sections, on the one that
 * buries it, or (self NULL) where no other thread runs. */
void sgc_dates_drop(struct sgc_dates *d, struct sgc_section *self);

#endif
