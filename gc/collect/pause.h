/* SPDX-License-Identifier: MIT */
/*
 * The parts of a cycle: it is opened, stops the world once or more, and is closed.  On the collecting thread, which has the GC
 * lock.
 */
#ifndef SGC_GC_COLLECT_PAUSE_H
#define SGC_GC_COLLECT_PAUSE_H

#include "gc/collect/phases.h"
#include "gc/events/events.h"
#include "gc/threads/mutator.h"

bool sgc_cycle_init(void);

/* It begins.  World running. */
void sgc_cycle_open(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from);

/* Stops the world, with helpers for that many markers, and runs pause() inside the loader's lock.  False if the world could
 * not be stopped: that has been said. */
bool sgc_cycle_stop(struct sgc_mutator *self, uint32_t markers, void (*pause)(struct sgc_cycle *c));

/* Runs the rows; false if one said that the pause is over before it began. */
bool sgc_cycle_run(struct sgc_cycle *c, const struct sgc_phase_row *row);

/* Its last stop is over. */
void sgc_cycle_close(void);

/* Sees to it that helpers for `want` markers exist, as far as the system has threads; what it refuses is said once and not
 * asked for again.  World running, outside sections, while nobody marks. */
void sgc_cycle_start_helpers(uint32_t want);

void sgc_cycle_after_fork(void);

#endif
