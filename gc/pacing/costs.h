/* SPDX-License-Identifier: MIT */
/*
 * What collections have cost, learnt from the records of finished cycles (a listener, gc/events/events.h).
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

#include "gc/pacing/pacing_rules.h"

void sgc_pacing_costs_start(void);

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

#endif
