/* SPDX-License-Identifier: MIT */
/*
 * The stops of a concurrent cycle.  Each is an attempt to finish it: roots are scanned, and what is
 * marked on written pages is scanned again, and if all is marked before the deadline, the cycle is
 * committed in the same stop.  Otherwise the program goes on, and what was marked stays marked.
 *
 * By the thread that has the GC lock and the cycle (gc/collect/lead.h), world running, outside
 * sections, on a thread whose stack is scanned from `from`, 0: from here.
 */
#ifndef SGC_GC_COLLECT_STOPS_H
#define SGC_GC_COLLECT_STOPS_H

#include "gc/events/events.h"
#include "gc/pacing/pause_rules.h"
#include "gc/threads/mutator.h"

/* The first: it opens the cycle, begins the mark, and leaves it to the lead.  False: the world
 * could not be stopped, nothing has begun. */
bool sgc_stops_first(struct sgc_mutator *self, uintptr_t from);

/* Another, after so many attempts: it takes as long as the target says, or, if these were enough,
 * as long as it needs, and then all markers help.  True if the cycle is finished. */
bool sgc_stops_attempt(struct sgc_mutator *self, uintptr_t from, uint32_t attempts);

/* The last, which takes as long as it needs.  False: the world could not be stopped; or asks()
 * (NULL: never) has said before all was marked that there is to be another. */
bool sgc_stops_finish(struct sgc_mutator *self, int (*asks)(void), uintptr_t from);

/* The costs of a stop as learnt so far, the target for its length, and the number of attempts that
 * keep to it.  Any thread. */
struct sgc_pause_costs sgc_stops_costs(void);

/* How long a stop may take, in nanoseconds: what the program has set (GC_set_time_limit), else the
 * user's GC_PAUSE_TIME_TARGET. */
uint64_t sgc_pause_target_ns(void);

/* Attempts that keep to the target, before one takes as long as it needs.  Any thread, relaxed. */
extern sgc_a32_t sgc_attempts_max;

/* Nanoseconds besides the milliseconds of GC_time_limit.  Any thread, relaxed. */
extern sgc_aw_t sgc_time_limit_ns;

#endif
