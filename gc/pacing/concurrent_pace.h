/* SPDX-License-Identifier: MIT */
/*
 * How far the program helps a mark that runs beside it: so that marking ends before the memory set
 * aside for it does, a thread that allocates more than its part assists first, by marking or by
 * waiting; and when that memory is used up, it stalls.  Both are pauses, of one thread, and are
 * counted as such.
 *
 *   what            written by                                              read by           ordering
 *   the plan        the lead when the mark begins, with the GC lock; `room`  mutators, lead    relaxed: a stale one means an
 *                   is 0 while there is none: whoever ends the cycle; and                      assist too many or too few
 *                   it is moved by the thread that tries to, with the GC
 *                   lock
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

struct sgc_concurrent_pace_plan {
    size_t from;                /* so much the program has allocated since the last cycle, */
    size_t room;                /* and so much more it may until the cycle is over */
    size_t live;                /* as the last cycle found it */
    size_t expected;            /* to be marked, */
    uint64_t mark_ns;           /* which takes one marker so long */
    bool endo;                  /* the pace of gc/pacing/endo_rules.h */
};

/* A mark begins.  With the GC lock. */
void sgc_concurrent_pace_begin(const struct sgc_concurrent_pace_plan *plan);

/* It is over, or given up, or does not begin. */
void sgc_concurrent_pace_end(void);

/* From now on the room of the plan begins where the program had allocated so much since the last
 * cycle: 0, where the mark began; SGC_PACE_NEVER, nowhere, so that nobody helps or waits.  With the
 * GC lock. */
void sgc_concurrent_pace_room_from(size_t allocated);

/* So many bytes are marked; it is the n-th round that begins, from 1 on. */
void sgc_concurrent_pace_marked(size_t bytes);
void sgc_concurrent_pace_round(unsigned n);

/* The room there is now; 0: there is no mark beside the program. */
SGC_INNER sgc_aw_t sgc_concurrent_room;

/* Is there a mark beside the program?  Any thread. */
static inline bool sgc_concurrent_pace_on(void)
{
    return sgc_aw_load(&sgc_concurrent_room) != 0;
}

/* The program has allocated so much since the last cycle: OFF, there is no mark beside it; AHEAD,
 * that is no more than its part; BEHIND, it is more; OVERDUE, it is what there was room for;
 * HOPELESS, it is SGC_PACE_ROOMS times the plan's room more.  Any thread. */
enum sgc_pace_is { SGC_PACE_OFF, SGC_PACE_AHEAD, SGC_PACE_BEHIND, SGC_PACE_OVERDUE, SGC_PACE_HOPELESS };
enum sgc_pace_is sgc_concurrent_pace_is(size_t allocated);

/* A thread waits for a cycle to begin to mark, when the program has allocated so much.  Returns how
 * much that is since the first did.  Any thread. */
size_t sgc_concurrent_pace_late(size_t allocated);

/* For how long a thread helps that mark for so many bytes (gc/pacing/help_rules.h), of which the
 * program has allocated so many since the last cycle; UINT64_MAX: there is none.  Any thread. */
uint64_t sgc_concurrent_pace_worth_ns(size_t bytes, size_t allocated);

/* A thread has waited so long, or has helped, for what was worth so much.  Any thread. */
void sgc_concurrent_pace_waited(enum sgc_wait which, uint64_t ns, uint64_t worth_ns);

/* Moves the threads' waits since the last cycle into the record.  By the thread that ends a
 * cycle. */
void sgc_concurrent_pace_fill(struct sgc_cycle_record *record);

#endif
