/* SPDX-License-Identifier: MIT */
/*
 * What collections have cost, learnt from the records of finished cycles.
 *
 *   what               written by                              read by                 ordering
 *   samples            the collecting thread, under the gate   same                    the gate
 *   medians, last_...  the collecting thread, under the gate   any thread on the slow  relaxed: each is an estimate
 *   of the last cycle                                          path of allocation, API by itself
 *   (root_bytes, kept,
 *   finalizable, ...)
 *   useless            same; also who frees what waited: 0     same                    relaxed: a lost update costs a
 *                                                                                      cycle, or a try at the limit
 */
#ifndef SGC_GC_PACING_COSTS_H
#define SGC_GC_PACING_COSTS_H

#include "gc/events/events.h"
#include "gc/pacing/pacing_rules.h"

void sgc_pacing_costs_start(void);

/* A cycle has ended.  World running, gate held. */
void sgc_pacing_costs_learn(const struct sgc_cycle_record *record);

void sgc_pacing_costs(struct sgc_pace_costs *costs);

/* Bytes of roots that the last cycle has scanned. */
size_t sgc_pacing_roots(void);

/* Bytes that it has marked in objects without pointers. */
size_t sgc_pacing_pointer_free(void);

/* Bytes that it has kept only for finalizers to run. */
size_t sgc_pacing_finalizable(void);

/* Of what was allocated before it, in 256ths: how much it has found alive.  If that was too little to say anything, what an
 * earlier cycle has. */
size_t sgc_pacing_kept(void);

/* What marking the roots and so many bytes would take one marker. */
double sgc_pacing_marking_ns(double bytes);

/* The heap may not grow: is a cycle worth trying?  False after several that freed next to nothing, until the program
 * has run as long as the last of them took; allocation then fails at once. */
bool sgc_pacing_limit_pays(void);

/* What the last cycle found dead has been freed only now. */
void sgc_pacing_limit_paid(void);

#endif
