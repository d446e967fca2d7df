/* SPDX-License-Identifier: MIT */
/*
 * What a thread has of short-term memory: its clocks with their dates, and what is over.
 *
 *   `upper` of the mutator   the thread itself                     the thread; world stopped: the collecting thread; release
 *   room                     the thread, outside sections          the thread
 *   the others               the thread, in sections; world        same   program order; stopping the world
 *                            stopped: the collecting thread
 */
#ifndef SGC_SHORTTERM_DATES_H
#define SGC_SHORTTERM_DATES_H

#include "gc/threads/mutator.h"
#include "gc/threads/upper.h"
#include "shortterm/date_buffer.h"
#include "shortterm/settings.h"
#include "shortterm/time_rules.h"

struct sgc_dates {
    uint32_t room;                      /* extensions below go the common way: the largest + 1; 0: none does */
    uint32_t phase;                     /* of global time, while it takes part */
    bool in_time;                       /* it takes part, */
    bool out_for_now;                   /* or would, but that it blocks */
    bool blocked;                       /* within GC_do_blocking: nothing of this may be touched */
    struct sgc_date_buffer local, global;
    struct sgc_date_queue expired;      /* not taken off yet */
    struct sgc_date_pool pool;
    uint64_t ticks, global_ticks;       /* that counted */
    uint64_t freed, freed_bytes;
    struct sgc_mutator *owner;
    size_t bytes, global_bytes;         /* of this record, and of the global lists */
};

/* The calling thread's, NULL if it has none. */
static inline struct sgc_dates *sgc_dates_of(const struct sgc_mutator *m)
{
    return (struct sgc_dates *)sgc_aw_load_acq(&m->upper);
}

static inline bool sgc_dates_ok(const struct sgc_dates *d)
{
    return sgc_date_buffer_ok(&d->local) && d->local.lists == sgc_shortterm.extension + 1 && d->owner != NULL &&
           (!d->in_time || sgc_date_buffer_ok(&d->global)) && !(d->in_time && d->out_for_now);
}

/* The thread's, which has none; NULL if there is no memory.  On the thread, outside sections. */
struct sgc_dates *sgc_dates_make(struct sgc_mutator *self);

/* The common way is open to the thread again. */
void sgc_dates_open(struct sgc_dates *d);

/* Its lists of global dates.  False if there is no memory.  Likewise. */
bool sgc_dates_make_global(struct sgc_dates *d);

/* Calls fn for each stretch of dates, over or not.  World stopped. */
void sgc_dates_visit(const struct sgc_dates *d, sgc_visit_dates_t fn, void *arg);

/* All dates are forgotten, and the record goes.  On the thread outside sections, or (self NULL) where no other thread runs. */
void sgc_dates_drop(struct sgc_dates *d, struct sgc_section *self);

#endif
