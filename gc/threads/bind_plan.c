/* SPDX-License-Identifier: MIT */
/* See gc/threads/bind_plan.h.  On any thread. */
#include "gc/threads/bind_plan.h"

/* Those that the topology does not know are of no use. */
static int next_allowed(const struct sgc_bind_plan *plan, int from)
{
    int cpu = sgc_number_set_next(plan->allowed, from);

    while (cpu >= 0 && plan->topology->node_of[cpu] == SGC_NO_NODE)
        cpu = sgc_number_set_next(plan->allowed, cpu + 1);
    return cpu;
}

/* Does a place begin with that processor?  `seen`: the cores that have begun. */
static bool begins_place(const struct sgc_bind_plan *plan, int cpu, struct sgc_number_set *seen)
{
    uint32_t core = sgc_bind_core_of(plan, cpu);

    sgc_assert(cpu >= 0 && cpu < SGC_NUMBERS);
    if (plan->mode == SGC_BIND_NODE)
        return true;
    if (sgc_number_set_has(seen, core))
        return false;
    sgc_number_set_add(seen, core);
    return true;
}

/* The places of each node, and of all. */
static uint32_t count_places(const struct sgc_bind_plan *plan, uint32_t count[SGC_NODES_MAX])
{
    struct sgc_number_set seen = { { 0 } };
    uint32_t all = 0;

    sgc_assert(sgc_bind_plan_ok(plan));
    for (int cpu = next_allowed(plan, 0); cpu >= 0; cpu = next_allowed(plan, cpu + 1))
        if (begins_place(plan, cpu, &seen)) {
            count[plan->topology->node_of[cpu]]++;
            all++;
        }
    return all;
}

uint32_t sgc_bind_places(const struct sgc_bind_plan *plan)
{
    uint32_t count[SGC_NODES_MAX] = { 0 };

    return count_places(plan, count);
}

/* The processor with which the place of that rank on the node begins. */
static int processor_at(const struct sgc_bind_plan *plan, int node, uint32_t rank)
{
    struct sgc_number_set seen = { { 0 } };

    sgc_assert(node >= 0 && node < plan->topology->nodes);
    for (int cpu = next_allowed(plan, 0); cpu >= 0; cpu = next_allowed(plan, cpu + 1))
        if (begins_place(plan, cpu, &seen) && plan->topology->node_of[cpu] == node && rank-- == 0)
            return cpu;
    return -1;
}

/* The turn-th place of a deal: the first of each node, the second of each that has one, and so
 * on. */
static int deal(const struct sgc_bind_plan *plan, const uint32_t count[SGC_NODES_MAX], uint32_t turn)
{
    for (uint32_t rank = 0; rank < SGC_NUMBERS; rank++)
        for (int node = 0; node < plan->topology->nodes; node++)
            if (count[node] > rank && turn-- == 0)
                return processor_at(plan, node, rank);
    return -1;
}

struct sgc_bind_place sgc_bind_place(const struct sgc_bind_plan *plan, uint32_t helper)
{
    uint32_t count[SGC_NODES_MAX] = { 0 }, places = count_places(plan, count);
    int cpu;

    sgc_assert(places != 0);
    cpu = deal(plan, count, helper % places);
    sgc_assert(cpu >= 0);
    if (plan->mode == SGC_BIND_NODE)
        return (struct sgc_bind_place){ plan->topology->node_of[cpu], SGC_NO_CORE, false };
    return (struct sgc_bind_place){ plan->topology->node_of[cpu], sgc_bind_core_of(plan, cpu), helper > places };
}

void sgc_bind_processors(const struct sgc_bind_plan *plan, const struct sgc_bind_place *place, struct sgc_number_set *set)
{
    sgc_assert(sgc_bind_plan_ok(plan) && place->node < plan->topology->nodes);
    sgc_number_set_clear(set);
    for (int cpu = next_allowed(plan, 0); cpu >= 0; cpu = next_allowed(plan, cpu + 1)) {
        bool on_core = place->core == SGC_NO_CORE || sgc_bind_core_of(plan, cpu) == place->core;

        if (on_core && plan->topology->node_of[cpu] == place->node)
            sgc_number_set_add(set, (uint64_t)cpu);
    }
}
