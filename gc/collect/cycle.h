/* SPDX-License-Identifier: MIT */
/*
 * The phases of a cycle's pause as tables: a row is a function and the part of the pause
 * (gc/events/phases.def) that its time counts for.  Each stop begins with the same rows; those that
 * follow are the caller's, and differ by the sort of cycle.
 *
 *   what      written by                            read by     ordering
 *   state     any thread: IDLE to ASKED by CAS; the  everybody  acquire-release; a stale IDLE or
 *             lead: ARMING, and IDLE if it begins               RUNS costs one question too many.
 *             nothing; the thread that has the GC               A futex word: threads sleep on it
 *             lock: STANDS, RUNS, and IDLE                      until it changes
 *   step      the lead                               debuggers  none
 *   team      see mark/team/team_state.h
 *   the rest  the collecting thread, which has the   same       the GC lock
 *             GC lock and, of a concurrent cycle,
 *             the cycle (gc/collect/lead.h)
 *
 * The mutators' shadow of `state` is sgc_heap.marking, set from STANDS on; a marker's is its mode.
 */
#ifndef SGC_GC_COLLECT_CYCLE_H
#define SGC_GC_COLLECT_CYCLE_H

#include "gc/collect/start_state.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/threads/mutator.h"
#include "mark/team/team.h"

/* How far a concurrent cycle has come.  A cycle in one stop changes nothing of this: it may take
 * place in the first three. */
enum sgc_cycle_state {
    SGC_CYCLE_IDLE,             /* none is wanted */
    SGC_CYCLE_ASKED,            /* some thread wants one */
    SGC_CYCLE_ARMING,           /* the lead sweeps, has pages watched, waits for its first stop */
    SGC_CYCLE_STANDS,           /* it marks in one of its stops, or is about to make the first */
    SGC_CYCLE_RUNS,             /* it marks, and the program runs, or is about to be stopped */
};

struct sgc_phase_row;

struct sgc_cycle {
    sgc_a32_t state;                    /* enum sgc_cycle_state */
    const char *step;                   /* that the lead makes, by name; NULL: none */
    const struct sgc_phase_row *rows;   /* of the present stop, behind those that each has */
    struct sgc_team team;
    struct sgc_marker *first;           /* its marker 0, from the beginning of a mark on */
    struct sgc_team_totals totals;      /* of the last mark */
    struct sgc_cycle_record record;
    uint32_t markers;                   /* that this cycle is expected to need */
    struct sgc_mutator *self;           /* NULL: the thread is not registered */
    int (*stop)(void);                  /* asked whether to give up; NULL: never */
    uintptr_t from;                     /* its stack is scanned from here; 0: from where the pause
                                           begins */
    bool stopped;                       /* the world was, and all stacks are known */
    bool interrupted;                   /* it was not, for a signal that is to end the program */
    bool complete;                      /* the mark was not given up */
    uint32_t stops;                     /* of a concurrent cycle so far */
    uint64_t allowed_ns;                /* for its present stop; UINT64_MAX: as long as it takes */
    uint64_t deadline;                  /* when that is to end, unless all is marked by then */
    sgc_tid_t unknown;                  /* a thread whose stacks are unknown, so that nothing was
                                           marked; 0: none */
    size_t returned;                    /* bytes given back up to the last cycle */
};

/* Rows end with one without `run`: its `choose`, or without that its `next`, are those that follow;
 * NULL: none do. */
struct sgc_phase_row {
    enum sgc_phase phase;
    bool (*run)(struct sgc_cycle *c);           /* false: the pause is over before it began */
    bool (*wanted)(const struct sgc_cycle *c);  /* NULL: the row is run in each such cycle */
    const struct sgc_phase_row *next;
    const struct sgc_phase_row *(*choose)(const struct sgc_cycle *c);
};

/* There is one cycle at a time. */
extern struct sgc_cycle sgc_cycle;

#define SGC_PHASE_ROW(constant, function) { .phase = SGC_PHASE_##constant, .run = (function) }

/* Of a cycle in one stop, when caches are retired. */
extern const struct sgc_phase_row sgc_phases_stopped[];

/* When all is marked but flagged pages; and the last one, which lets the program go on. */
extern const struct sgc_phase_row sgc_phases_finish[], sgc_phases_resume[];

/* The functions of heap snapshots, which gc/snapshot fills in.  All but the first are called in the
 * stop of a cycle that has one. */
struct sgc_cycle_snapshots {
    bool (*in_one_stop)(uint64_t cycle);    /* has that cycle to be made in one stop?  Any thread */
    bool (*wanted)(uint64_t cycle);         /* caches are retired, nothing is marked */
    void (*begin)(uint64_t cycle);
    bool (*is_open)(void);                  /* one has begun */
    void (*put_heap)(void);                 /* as it is when the client has pushed its roots */
    void (*end)(bool complete);             /* the mark is complete, or given up */
};

/* A struct sgc_cycle_snapshots; 0: none.  Written once, release; read by any thread, acquire. */
extern sgc_aw_t sgc_cycle_snapshots;

/* A concurrent cycle more, or one less, does no harm. */
static inline bool sgc_next_in_one_stop(void)
{
    const struct sgc_cycle_snapshots *s =
        (const struct sgc_cycle_snapshots *)sgc_aw_load_acq(&sgc_cycle_snapshots);

    return s != NULL && s->in_one_stop(sgc_cycles_finished() + 1);
}

/* ---- the parts of a cycle: it is opened, stops the world once or more, and is closed ---- */

/* It begins.  World running. */
void sgc_cycle_open(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from);

/* Stops the world, with helpers for that many markers, retires all caches, and goes on with the
 * rows.  False if the world could not be stopped, for which there was a message. */
bool sgc_cycle_stop(struct sgc_mutator *self, uint32_t markers, const struct sgc_phase_row *rows);

/* Its last stop is over. */
void sgc_cycle_close(void);

/* ---- questions ---- */

/* Is a concurrent cycle wanted, or has it begun, and is not over? */
static inline bool sgc_concurrent_busy(void)
{
    return sgc_a32_load_acq(&sgc_cycle.state) != SGC_CYCLE_IDLE;
}

/* Has it begun to mark, and is not over? */
static inline bool sgc_concurrent_marks(void)
{
    return sgc_a32_load_acq(&sgc_cycle.state) >= SGC_CYCLE_STANDS;
}

/* Has the program disabled collections, or ended the collector? */
static inline bool sgc_cycle_disabled(void)
{
    return sgc_a32_load(&sgc_client_dont_gc) != 0 || sgc_init_ended();
}

#endif
