/* SPDX-License-Identifier: MIT */
/* Building a topology, for the readers of /sys and of hwloc.  Owns nothing; runs on any thread. */
#include "platform/nodes/topology.h"

#include <limits.h>
#include <string.h>

#include "platform/report.h"

/* ---- checks ---- */

static void check_nodes(const struct sgc_topology *t)
{
    sgc_assert(t->nodes >= 1 && t->nodes <= SGC_NODES_MAX);
    sgc_assert(t->others >= 0 && t->others <= SGC_NODES_MAX);
    for (int i = 1; i < t->nodes; i++) {
        sgc_assert(t->os_index[i - 1] < t->os_index[i]);
        sgc_assert(t->distance[i][i] != 0);
    }
    for (int i = 0; i < t->others; i++) {
        sgc_assert(t->other[i].nearest >= 0 && t->other[i].nearest < t->nodes);
        sgc_assert(t->other[i].distance <= UCHAR_MAX);
    }
}

static void check_cpus(const struct sgc_topology *t)
{
    int cpus = 0;

    for (int i = 0; i < SGC_NUMBERS; i++) {
        cpus += t->node_of[i] != SGC_NO_NODE;
        sgc_assert(t->node_of[i] == SGC_NO_NODE || t->node_of[i] < t->nodes);
        sgc_assert(t->core_of[i] == SGC_NO_CORE || t->core_of[i] < SGC_NUMBERS);
    }
    sgc_assert(t->cpus == (cpus > 0 ? cpus : 1));
    sgc_assert(t->cores >= 0 && t->cores <= SGC_NUMBERS);
}

/* ---- building ---- */

void sgc_topology_begin(struct sgc_topology *t, const char *source)
{
    sgc_assert(source != NULL);
    memset(t, 0, sizeof *t);
    t->source = source;
    memset(t->node_of, SGC_NO_NODE, sizeof t->node_of);
    memset(t->core_of, 0xff, sizeof t->core_of);
}

int sgc_topology_add_node(struct sgc_topology *t, int os_index, bool has_memory, bool allowed)
{
    sgc_assert(t->nodes == 0 || t->os_index[t->nodes - 1] < os_index);
    if (has_memory && allowed && t->nodes < SGC_NODES_MAX) {
        t->distance[t->nodes][t->nodes] = 10;
        t->os_index[t->nodes] = os_index;
        return t->nodes++;
    }
    sgc_assert(t->nodes <= SGC_NODES_MAX && t->others <= SGC_NODES_MAX);
    if (t->others < SGC_NODES_MAX)
        t->other[t->others++] = (struct sgc_other_node){ .os_index = os_index, .has_memory = has_memory };
    return SGC_NO_NODE;
}

static int index_of(const struct sgc_topology *t, int os_index)
{
    for (int i = 0; i < t->nodes; i++)
        if (t->os_index[i] == os_index)
            return i;
    return SGC_NO_NODE;
}

static int other_of(const struct sgc_topology *t, int os_index)
{
    for (int i = 0; i < t->others; i++)
        if (t->other[i].os_index == os_index)
            return i;
    return -1;
}

int sgc_topology_find(const struct sgc_topology *t, int os_index)
{
    int node = index_of(t, os_index), other = other_of(t, os_index);

    if (node == SGC_NO_NODE && other >= 0)
        return t->other[other].nearest;
    return node;
}

void sgc_topology_add_cpu(struct sgc_topology *t, int cpu, int node)
{
    sgc_assert(node >= 0);
    if (cpu < 0 || cpu >= SGC_NUMBERS || node >= SGC_NODES_MAX || t->node_of[cpu] != SGC_NO_NODE)
        return;
    t->node_of[cpu] = (unsigned char)node;
    t->cpus++;
}

void sgc_topology_add_to_core(struct sgc_topology *t, int cpu, int first)
{
    if (cpu < 0 || cpu >= SGC_NUMBERS || first < 0 || first >= SGC_NUMBERS || t->core_of[cpu] != SGC_NO_CORE)
        return;
    sgc_assert(first <= cpu);
    t->core_of[cpu] = (uint16_t)first;
    t->cores += cpu == first;
}

static void add_distance_of_other(struct sgc_other_node *other, int node, unsigned distance)
{
    sgc_assert(node >= 0 && node < SGC_NODES_MAX && distance != 0 && distance <= UCHAR_MAX);
    if (other->distance != 0 && other->distance <= distance)
        return;
    other->distance = distance;
    other->nearest = node;
}

void sgc_topology_add_distance(struct sgc_topology *t, int from, int to, unsigned distance)
{
    int node = index_of(t, from), target = index_of(t, to), other = other_of(t, from);

    if (target == SGC_NO_NODE || distance == 0 || distance > UCHAR_MAX)
        return;
    if (node != SGC_NO_NODE)
        t->distance[node][target] = (unsigned char)distance;
    else if (other >= 0)
        add_distance_of_other(&t->other[other], target, distance);
}

void sgc_topology_end(struct sgc_topology *t)
{
    if (t->nodes == 0)
        t->nodes = 1;               /* a kernel without NUMA: node 0 */
    if (t->cpus == 0)
        t->cpus = 1;
    check_nodes(t);
    check_cpus(t);
}
