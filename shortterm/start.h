/* SPDX-License-Identifier: MIT */
/* The first use of short-term memory, by the process and by each thread. */
#ifndef SGC_SHORTTERM_START_H
#define SGC_SHORTTERM_START_H

#include "gc/threads/upper.h"
#include "shortterm/dates.h"

/* The functions of short-term memory that the collector calls, when gc/threads/upper.h says so (shortterm/layer.c). */
extern const struct sgc_upper sgc_shortterm_layer, sgc_shortterm_verifying;

/* Starts the layer, if nobody has.  On a mutator, outside sections. */
void sgc_shortterm_start(struct sgc_mutator *self);

/* The thread's record, which is made if need be; NULL if there is no memory.  On the thread, outside sections. */
struct sgc_dates *sgc_dates_get(struct sgc_mutator *self);

/* The calling thread's record, made if need be, if the thread may change its dates now; otherwise
 * NULL, and an error number. */
struct sgc_dates *sgc_dates_slowly(int *error);

/* The calling thread's record, if the thread has one and may surely change its dates now; otherwise
 * NULL.  A thread without a common way (`room`) is blocked, or verifies; one that has the world
 * stopped has a guard. */
__attribute__((always_inline))
static inline struct sgc_dates *sgc_dates_quickly(void)
{
    const struct sgc_mutator *self = sgc_mutator_self();
    struct sgc_dates *d = self != NULL ? sgc_dates_of(self) : NULL;

    return d != NULL && d->room != 0 && self->cache.section.guards == 0 ? d : NULL;
}

static inline struct sgc_dates *sgc_dates_now(int *error)
{
    struct sgc_dates *d = sgc_dates_quickly();

    return __builtin_expect(d != NULL, 1) ? d : sgc_dates_slowly(error);
}

#endif
