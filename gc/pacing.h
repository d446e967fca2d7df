/* SPDX-License-Identifier: MIT */
/*
 * When to collect: after as many bytes were allocated as the last cycle left alive, divided by a third of the
 * free space divisor, and at least a few megabytes.
 *
 *   allocated, freed  any mutator, relaxed adds of what its cache claimed     pacing, statistics: relaxed
 *   budget            the collecting thread, at the end of a cycle; API       mutators: relaxed
 *   totals            the collecting thread, under the gate                   anybody: relaxed
 */
#ifndef SGC_GC_PACING_H
#define SGC_GC_PACING_H

#include "gc/mutator.h"

void sgc_pacing_init(void);

/* Takes over what the thread's cache has claimed and freed since the last time; true when it is
 * time to collect.  On the slow path of allocation; outside sections. */
bool sgc_pacing_poll(struct sgc_mutator *self);

/* A cycle has found `live` bytes.  Returns the bytes allocated since the one before. */
size_t sgc_pacing_cycle_done(size_t live);

/* A cycle was given up: the next is tried after twice the budget. */
void sgc_pacing_given_up(void);

/* All caches' counts taken over.  World stopped. */
void sgc_pacing_take_all(void);

void sgc_pacing_reconsider(void);       /* a setting has changed */
void sgc_pacing_set_minimum(size_t bytes);      /* at least so much between two cycles */
size_t sgc_pacing_minimum(void);
void sgc_pacing_allow(size_t bytes);            /* the client expanded the heap: use that first */

size_t sgc_pacing_allocated_since(void);        /* the last cycle */
size_t sgc_pacing_freed_since(void);
size_t sgc_pacing_allocated_before(void);       /* all of it, up to the last cycle */
size_t sgc_pacing_live(void);                   /* as the last cycle found it */
size_t sgc_pacing_freed_total(void);

#endif
