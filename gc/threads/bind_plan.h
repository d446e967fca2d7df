/* SPDX-License-Identifier: MIT */
/*
 * Where helper threads are to run, as functions of the topology and of the processors that the
 * process may use, so that sgc-topo says what the collector does.  They touch nothing else.
 *
 * Helpers have numbers from 1.  They are dealt to the nodes in turn, and a node whose processors
 * are all used up is passed over, until all processors have their helper; then the deal begins
 * anew.  SGC_BIND=core deals cores instead of processors.  The first place is dealt last, and to
 * number 0, which is the service thread: the collecting thread needs a processor, too.
 */
#ifndef SGC_GC_THREADS_BIND_PLAN_H
#define SGC_GC_THREADS_BIND_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gc/config/options.h"
#include "platform/nodes/topology.h"
#include "platform/report.h"

struct sgc_bind_plan {
    enum sgc_bind mode;                     /* SGC_BIND_NODE or SGC_BIND_CORE */
    const struct sgc_topology *topology;    /* with cores for SGC_BIND_CORE */
    const struct sgc_number_set *allowed;   /* what the process may use */
};

struct sgc_bind_place {
    int node;                   /* an index */
    uint32_t core;              /* SGC_NO_CORE: anywhere on the node */
    bool beyond;                /* a helper with a lower number has that core, too */
};

/* Is it a plan that somebody can be bound by? */
static inline bool sgc_bind_plan_ok(const struct sgc_bind_plan *plan)
{
    return (plan->mode == SGC_BIND_NODE || plan->mode == SGC_BIND_CORE) && plan->topology->nodes >= 1 &&
           plan->topology->nodes <= SGC_NODES_MAX && plan->allowed != NULL;
}

/* The mode that was asked for; for auto, node on a machine with several nodes, and off
 * otherwise. */
static inline enum sgc_bind sgc_bind_mode(enum sgc_bind asked, int nodes)
{
    if (asked == SGC_BIND_AUTO)
        return nodes > 1 ? SGC_BIND_NODE : SGC_BIND_OFF;
    return asked;
}

/* The places there are: allowed processors, or cores that have one. */
uint32_t sgc_bind_places(const struct sgc_bind_plan *plan);

/* The place of a helper; there must be places. */
struct sgc_bind_place sgc_bind_place(const struct sgc_bind_plan *plan, uint32_t helper);

/* The processors of a place. */
void sgc_bind_processors(const struct sgc_bind_plan *plan, const struct sgc_bind_place *place, struct sgc_number_set *set);

/* The core that has the processor, as a place names it. */
static inline uint32_t sgc_bind_core_of(const struct sgc_bind_plan *plan, int processor)
{
    uint32_t core = processor >= 0 && processor < SGC_NUMBERS ? plan->topology->core_of[processor] : SGC_NO_CORE;

    sgc_assert(sgc_bind_plan_ok(plan));
    return core != SGC_NO_CORE || processor < 0 ? core : (uint32_t)processor;
}

#endif
