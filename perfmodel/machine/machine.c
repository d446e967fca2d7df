/* SPDX-License-Identifier: MIT */
/* Nodes of processors, and distances, as they follow from a machine file. */
#include "perfmodel/machine/machine.h"

const struct sgc_machine_cache *sgc_machine_last(const struct sgc_machine *m)
{
    sgc_assert(m->caches >= 1 && m->caches <= SGC_MACHINE_CACHES);
    return &m->cache[m->caches - 1];
}

uint32_t sgc_machine_node_of(const struct sgc_machine *m, uint32_t processor)
{
    uint32_t a_node = (uint32_t)(m->processors / m->nodes);

    sgc_assert(a_node >= 1 && m->nodes >= 1);
    return processor / a_node % (uint32_t)m->nodes;
}

/* Corners of the hypercube are numbered so that neighbours differ in one digit. */
static uint32_t count_hops(const struct sgc_machine *m, uint32_t from, uint32_t to)
{
    uint32_t a_router = (uint32_t)m->nodes_a_router;

    sgc_assert(a_router >= 1);
    if (m->network == SGC_NETWORK_FLAT)
        return 0;
    return (uint32_t)__builtin_popcount(from / a_router ^ to / a_router);
}

double sgc_machine_latency(const struct sgc_machine *m, enum sgc_miss_class class, uint32_t from, uint32_t to)
{
    sgc_assert(from < m->nodes && to < m->nodes && class < SGC_MISS_CLASSES);
    if (from == to)
        return m->latency_ns[class][SGC_NEAR];
    return m->latency_ns[class][SGC_FAR] + m->hop_ns * count_hops(m, from, to);
}

double sgc_machine_mean_latency(const struct sgc_machine *m, enum sgc_miss_class class, uint32_t processors, uint32_t to)
{
    double sum = 0;

    sgc_assert(processors > 0);
    for (uint32_t p = 0; p < processors; p++)
        sum += sgc_machine_latency(m, class, sgc_machine_node_of(m, p), to);
    return sum / processors;
}
