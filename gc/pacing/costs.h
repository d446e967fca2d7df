/* SPDX-License-Identifier: MIT */
/*
 * The costs of collections, learnt from the records of finished cycles; and how many markers a mark
 * is worth.
 *
 *   what              written by                              read by                 ordering
 *   last samples,     the collecting thread, under the GC lock  same                    the GC lock
 *   values, figures   the collecting thread, under the GC lock  any thread on the slow  relaxed: each is an estimate
 *   of the last cycle                                         path of allocation, API by itself
 *   useless           same; the thread that frees objects     same                    relaxed: a lost update costs a
 *                     that waited: 0                                                  cycle, or a try at the limit
 */
#ifndef SGC_GC_PACING_COSTS_H
#define SGC_GC_PACING_COSTS_H

#include "gc/events/events.h"
#include "gc/pacing/pacing_rules.h"

void sgc_pacing_costs_start(void);

/* A cycle has ended.  World running, GC lock held. */
void sgc_pacing_costs_learn(const struct sgc_cycle_record *record);

/* A cycle begins beside the program, which has allocated so much since the last one.  World
 * running, GC lock held. */
void sgc_pacing_costs_learn_mutator(size_t allocated);

/* Stores the learnt costs, and the bytes of roots, finalizable and pointer-free objects that the
 * last cycle found. */
void sgc_pacing_costs(struct sgc_pace_costs *costs, struct sgc_pace_heap *heap);

/* The bytes that a mark is expected to mark: `live`, and the share that survives of the bytes
 * `allocated` since the last cycle. */
size_t sgc_pacing_to_mark(size_t live, size_t allocated);

/* The bytes that it may have to mark: the larger of the last two such shares; all, if nothing has
 * been learnt. */
size_t sgc_pacing_may_mark(size_t live, size_t allocated);

/* The nanoseconds that one marker is expected to need for the roots and so many bytes. */
uint64_t sgc_pacing_marking_ns(size_t bytes);

/* The number of markers, as SGC_MARKER_CHOICE says, of at most so many: for so many bytes, which
 * one marker would take so long for.  Any thread; a few microseconds at most, and with `model` on
 * several memory nodes some nanoseconds for each arena beside. */
int sgc_marker_choice(uint64_t marking_ns, size_t bytes, int max);

/* The heap may not grow: is a cycle worth trying?  False after several that freed next to nothing,
 * until the program has run for a part of the time that the last of them took; allocation then
 * fails at once. */
bool sgc_pacing_limit_pays(void);

/* Objects that the last cycle found dead have been freed only now: no cycle at the limit counts as
 * useless. */
void sgc_pacing_limit_paid(void);

#endif
