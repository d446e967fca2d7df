/* SPDX-License-Identifier: MIT */
/*
 * How the public functions of short-term memory begin: the layer is started at its first use, the
 * calling thread's record is made or found, and so is the object that the program means.  Also what
 * one of these files offers all others.
 */
#ifndef SGC_SHORTTERM_START_H
#define SGC_SHORTTERM_START_H

#include "alloc/object.h"
#include "gc/threads/upper.h"
#include "shortterm/dates.h"

/* The functions of short-term memory that the collector calls, when gc/threads/upper.h says so
 * (shortterm/layer.c). */
extern const struct sgc_upper sgc_shortterm_layer, sgc_shortterm_verifying;

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

/* The object whose first address that is, or, of one with guards, the address that the program has
 * of it.  Otherwise EINVAL or ESTALE, as the public header says; with EINVAL, and an address in the
 * heap, *o is the object that it lies in.  On any mutator, outside sections. */
int sgc_named_object(uintptr_t address, struct sgc_object *o);

/* As SGC_refresh or SGC_refresh_global, for another function of ours that the program has called.
 * `caller`: in the program, where it wanted the date; verify keeps that.  (shortterm/refresh.c) */
int sgc_refresh_for(void *object, unsigned extension, bool global, uintptr_t caller);

#endif
