/* SPDX-License-Identifier: MIT */
/*
 * How much the program has allocated and freed, since the last cycle and before.  Each thread counts in its cache, and
 * adds that up here now and then.
 *
 *   allocated, freed  any mutator, relaxed adds of what its cache claimed, or    anybody: relaxed
 *                     freed; the collecting thread takes off what its cycle saw
 *   at_stop           the collecting thread, world stopped                       same
 *   before            the collecting thread, under the GC lock                   anybody: relaxed
 */
#ifndef SGC_GC_PACING_COUNTS_H
#define SGC_GC_PACING_COUNTS_H

#include "gc/threads/mutator.h"

/* Since the last cycle, without what threads have not added yet. */
size_t sgc_counts_allocated(void);
size_t sgc_counts_freed(void);

/* With that. */
size_t sgc_counts_allocated_since(void);
size_t sgc_counts_freed_since(void);

/* Of what was allocated since then threads had so much claimed and not handed out when each last counted. */
size_t sgc_counts_unused_since(void);

/* All of it, up to the last cycle; until now. */
size_t sgc_counts_allocated_before(void);
size_t sgc_counts_freed_total(void);

/* Adds what a cache has counted.  World stopped, or by its own thread in a section. */
void sgc_counts_take(struct sgc_cache *cache);

/* Adds what all threads have counted of spans; true if there was any. */
bool sgc_counts_take_spans(void);

/* Adds all.  World stopped: this is what the cycle sees. */
void sgc_counts_take_all(void);

/* So much of what was allocated, then, no thread had handed out yet.  World stopped. */
void sgc_counts_unused(size_t bytes);

/* What was allocated since the last cycle when the world stopped last, freed, and claimed only.  On the collecting thread. */
size_t sgc_counts_at_stop(void);
size_t sgc_counts_freed_at_stop(void);
size_t sgc_counts_unused_at_stop(void);

/* The cycle has ended: what it saw is no longer counted.  GC lock. */
void sgc_counts_cycle_done(void);

#endif
