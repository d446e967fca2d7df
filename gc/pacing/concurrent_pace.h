/* SPDX-License-Identifier: MIT */
/*
 * How far the program helps a mark that runs beside it: so that marking ends before the memory set
 * aside for it does, a thread that allocates more than its part assists first, by marking or by
 * waiting; and when that memory is used up, it stalls.  Both are pauses, of one thread, and are
 * counted as such.
 *
 *   what            written by                                              read by           ordering
 *   the plan        the lead when the mark begins, with the GC lock; `room`  mutators, lead    relaxed: a stale one means an
 *                   is 0 while there is none: whoever ends the cycle                           assist too many or too few
 *   marked, round   the lead, while it marks                                mutators          relaxed, likewise
 *   waits           mutators, by addition                                   who ends a cycle  relaxed, exchanged for 0: what is
 *                                                                                             missed counts for the next
 */
#ifndef SGC_GC_PACING_CONCURRENT_PACE_H
#define SGC_GC_PACING_CONCURRENT_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/events/events.h"

enum sgc_wait { SGC_ASSIST, SGC_STALL, SGC_WAITS };

/* A thread helps for so long at once, at most. */
static const uint64_t SGC_ASSIST_NS = 200000;

struct sgc_concurrent_pace_plan {
    size_t from;                /* so much the program has allocated since the last cycle, */
    size_t room;                /* and so much more it may until the cycle is over */
    size_t live;                /* as the last cycle found it */
    size_t expected;            /* to be marked */
    bool endo;                  /* the pace of gc/pacing/endo_rules.h */
};

/* A mark begins.  With the GC lock. */
void sgc_concurrent_pace_begin(const struct sgc_concurrent_pace_plan *plan);

/* It is over, or given up. */
void sgc_concurrent_pace_end(void);

/* So many bytes are marked; it is the n-th round that begins, from 1 on. */
void sgc_concurrent_pace_marked(size_t bytes);
void sgc_concurrent_pace_round(unsigned n);

/* Is there a mark beside the program?  Any thread. */
bool sgc_concurrent_pace_on(void);

/* The program has allocated so much since the last cycle: is that more than its part, or more than
 * there was room for?  Any thread. */
bool sgc_concurrent_pace_behind(size_t allocated);
bool sgc_concurrent_pace_overdue(size_t allocated);

/* A thread has waited so long, or has helped.  Any thread. */
void sgc_concurrent_pace_waited(enum sgc_wait which, uint64_t ns);

/* Moves the threads' waits since the last cycle into the record.  By the thread that ends a
 * cycle. */
void sgc_concurrent_pace_fill(struct sgc_cycle_record *record);

#endif
