/* SPDX-License-Identifier: MIT */
/*
 * The phases of a cycle's pause as a table: gc/events/phases.def with a function for each row.  The cycle runs the rows one
 * after the other; another way to collect is another table.
 *
 * struct sgc_cycle is the collecting thread's, which has the GC lock; the team has its own rules (mark/team.h).
 */
#ifndef SGC_GC_COLLECT_PHASES_H
#define SGC_GC_COLLECT_PHASES_H

#include "gc/events/events.h"
#include "gc/threads/mutator.h"
#include "mark/team.h"

struct sgc_cycle {
    struct sgc_team team;
    struct sgc_team_totals totals;      /* of the last mark */
    struct sgc_cycle_record record;
    uint32_t markers;                   /* that this cycle is expected to need */
    struct sgc_mutator *self;           /* NULL: the thread is not registered */
    int (*stop)(void);                  /* asked whether to give up; NULL: never */
    uintptr_t from;                     /* its stack is scanned from here; 0: from where the pause begins */
    bool stopped;                       /* the world was, and all stacks are known */
    bool complete;                      /* the mark was not given up */
    bool concurrent;                    /* it has more than one stop, or is to have */
    uint32_t stops;                     /* of a concurrent cycle so far */
    uint64_t deadline;                  /* when its present stop is to end, unless all is marked by then */
    sgc_tid_t unknown;                  /* a thread whose stacks are unknown, so that nothing was marked; 0: none */
    size_t returned;                    /* bytes given back up to the last cycle */
};

struct sgc_phase_row {
    enum sgc_phase phase;               /* sgc_phase_name tells its name */
    bool (*run)(struct sgc_cycle *c);   /* false: the pause is over before it began */
};

/* Rows end with one without a function.  Of a cycle in one pause, with all threads stopped: */
extern const struct sgc_phase_row sgc_phases_stopped[];

/* Of a concurrent cycle's stops: what begins each, and what follows if all is marked; and if not. */
extern const struct sgc_phase_row sgc_phases_attempt[], sgc_phases_commit[], sgc_phases_go_on[];

/* Each cycle whose number is a multiple of this is made in one stop, also where cycles are concurrent; 0: none in particular.
 * Relaxed: the thread that starts the collector, then the collecting one; a concurrent cycle more does no harm. */
extern sgc_a32_t sgc_stop_each;

static inline bool sgc_next_in_one_stop(void)
{
    uint32_t each = sgc_a32_load(&sgc_stop_each);

    return each != 0 && (sgc_cycles_finished() + 1) % each == 0;
}

/* There is one cycle at a time. */
extern struct sgc_cycle sgc_cycle;

#endif
