/* SPDX-License-Identifier: MIT */
/*
 * What collections have cost, learnt from the records of finished cycles.
 *
 *   what              written by                              read by                 ordering
 *   last samples,     the collecting thread, under the GC lock  same                    the GC lock
 *   values, figures   the collecting thread, under the GC lock  any thread on the slow  relaxed: each is an estimate
 *   of the last cycle                                         path of allocation, API by itself
 *   useless           same; the thread that frees what        same                    relaxed: a lost update costs a
 *                     waited: 0                                                       cycle, or a try at the limit
 */
#ifndef SGC_GC_PACING_COSTS_H
#define SGC_GC_PACING_COSTS_H

#include "gc/events/events.h"
#include "gc/pacing/pacing_rules.h"

void sgc_pacing_costs_start(void);

/* A cycle has ended.  World running, GC lock held. */
void sgc_pacing_costs_learn(const struct sgc_cycle_record *record);

/* A cycle begins beside the program, which has allocated so much since the last one.  World running, GC lock held. */
void sgc_pacing_costs_learn_mutator(size_t allocated);

/* What is known, and what the last cycle has found: roots, finalizable and pointer-free bytes. */
void sgc_pacing_costs(struct sgc_pace_costs *costs, struct sgc_pace_heap *heap);

/* The bytes to be marked, of so much that lives, and what survives of so much that was allocated since. */
size_t sgc_pacing_to_mark(size_t live, size_t allocated);

/* What one marker would take to mark the roots, so much that lives, and what survives of so much that was allocated since. */
uint64_t sgc_pacing_marking_ns(size_t live, size_t allocated);

/* The heap may not grow: is a cycle worth trying?  False after several that freed next to nothing, until the program
 * has run for a part of the time that the last of them took; allocation then fails at once. */
bool sgc_pacing_limit_pays(void);

/* What the last cycle found dead has been freed only now. */
void sgc_pacing_limit_paid(void);

#endif
