/* SPDX-License-Identifier: MIT */
/*
 * The budget, and what it is made of: gc/pacing/pacing.c works it out, gc/pacing/due.c sees whether
 * it is used up.
 *
 *   what              written by                             read by, and ordering
 *   bytes, first,     the collecting thread, at the end      mutators: relaxed; a stale one costs a
 *   worth, step,      of a cycle, or when it is given up;    poll, or an early cycle
 *   recheck_at        API; mutators: `recheck_at`; `bytes`
 *                     once a cycle, by CAS
 *   used_up,          mutators: the first that finds the     the same: `used_up` publishes
 *   freed_then        budget used up; at the end of a        `freed_then`, release and acquire
 *                     cycle: 0
 *   helpers           mutators, by addition; at the end of   relaxed: what comes in between counts for
 *                     a cycle: 0                             the next
 *   sgc_unpublished   with the budget                        mutators: relaxed; a stale one costs polls
 *   early             the collecting thread, at the end      anybody: relaxed
 *                     of a cycle
 *   own               the same; a mutator that is about      anybody: relaxed, the last one holds
 *                     to collect
 *   early_now         the collecting thread, world           same
 *                     stopped, or at the end of a cycle
 *   trigger           with the budget                        mutators: relaxed, as the budget
 *   pause_ns          any thread that chooses the mode, or   the collecting thread: relaxed
 *                     the target
 *   granted           any thread that expands the heap, or   anybody: relaxed
 *                     collects for the client
 *   memory,           the starting thread                    thread creation
 *   processors
 */
#ifndef SGC_GC_PACING_BUDGET_H
#define SGC_GC_PACING_BUDGET_H

#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/pacing_rules.h"

struct sgc_budget {
    _Alignas(128)
    sgc_aw_t bytes;                     /* collect when so much was allocated since the last
                                         * cycle */
    sgc_aw_t first;                     /* the same, before memory that is free and touched was
                                         * added to it */
    sgc_aw_t step;                      /* as it was set when the last cycle ended: one that is
                                         * given up is tried again after so much more */
    sgc_aw_t worth;                     /* so much is added at most */
    sgc_aw_t recheck_at;                /* before it reaches that, other threads' frees make up for
                                         * it */
    sgc_aw_t trigger;                   /* ask for a concurrent cycle when `allocated` reaches that;
                                         * "never": they do not pay */
    sgc_aw_t pause_ns;                  /* for which cycles may stop the program, and one more; 0:
                                         * whatever it takes */
    sgc_aw_t used_up, freed_then;       /* allocated when the budget was first used up, 0: not yet;
                                         * and freed */
    sgc_a32_t helpers;                  /* threads that have helped a cycle since the last one */
    sgc_aw_t early, own;                /* see struct sgc_pace_heap; */
    sgc_aw_t early_now;                 /* of the cycle that has begun */
    sgc_aw_t minimum;
    sgc_aw_t granted;                   /* the client has been promised a heap of so many bytes; 0:
                                         * none */
    sgc_aw_t non_gc_before;             /* GC_non_gc_bytes when the last cycle ended */
    size_t memory;                      /* that a heap may use on this machine, and the processors
                                         * there are; fixed at the start */
    uint32_t processors;
};
SGC_INNER struct sgc_budget sgc_budget;

/* O(1): what must hold whenever a function that uses it begins, once pacing has started. */
static inline bool sgc_budget_ok(void)
{
    return sgc_budget.memory != 0 && sgc_aw_load(&sgc_budget.bytes) <= SGC_PACE_NEVER &&
           sgc_aw_load(&sgc_budget.worth) <= SGC_PACE_NEVER;
}

/* [Endo]'s heap has a fixed size; here that is what lives and the budget. */
static inline bool sgc_budget_endo(void)
{
    return sgc_options.pacing == SGC_PACING_ENDO;
}

/* The heap's size that the client or the cgroup allows, but no more than the machine can bear. */
size_t sgc_budget_limit(void);

/* The allocated bytes that call for a collection: without the growth of GC_non_gc_bytes, which no
 * collection can free, but at least an eighth, whatever the client says. */
static inline size_t sgc_budget_counted(size_t allocated)
{
    size_t now = sgc_aw_load(&sgc_client_non_gc_bytes);
    size_t before = sgc_aw_load(&sgc_budget.non_gc_before);
    size_t growth = now > before ? now - before : 0;
    size_t min = allocated / 8;

    sgc_assert(allocated < SGC_PACE_NEVER);
    return growth < allocated - min ? allocated - growth : min;
}

/* The allocated bytes that call for a collection, less the freed ones. */
static inline size_t sgc_budget_net_allocated(void)
{
    return sgc_pace_less(sgc_budget_counted(sgc_counts_allocated()), sgc_counts_freed());
}

/* Would a mark after so many bytes stop the program for longer than a cycle may? */
bool sgc_budget_stops_long(size_t since);

#endif
