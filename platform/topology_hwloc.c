/* SPDX-License-Identifier: MIT */
/*
 * The topology, from hwloc.  Owns nothing: what hwloc allocates is freed before the function
 * returns.  Runs only outside sections, as hwloc calls malloc some hundred times.
 */
#include <hwloc.h>
#include <string.h>

#include "platform/topology_sysfs.h"

/* Processors and memory nodes are all we ask for; they are never filtered.  The whole machine, since
 * its size is the question, not what this process may use. */
static bool load(hwloc_topology_t *machine)
{
    if (hwloc_topology_init(machine) != 0)
        return false;
    if (hwloc_topology_set_all_types_filter(*machine, HWLOC_TYPE_FILTER_KEEP_NONE) == 0
        && hwloc_topology_set_flags(*machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0
        && hwloc_topology_load(*machine) == 0)
        return true;
    hwloc_topology_destroy(*machine);
    return false;
}

/* Only nodes this process may have memory on; hwloc leaves nodes without memory out. */
static int read_nodes(hwloc_topology_t machine, int *os_index, int capacity)
{
    hwloc_const_nodeset_t allowed = hwloc_topology_get_allowed_nodeset(machine);
    hwloc_obj_t node = NULL;
    int count = 0;
    while (count < capacity && (node = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, node)))
        if (hwloc_bitmap_isset(allowed, node->os_index))
            os_index[count++] = (int)node->os_index;
    return count;
}

void sgc_topology_read(struct sgc_topology *topology)
{
    hwloc_topology_t machine;
    if (!load(&machine)) {
        sgc_topology_read_sysfs(topology, "/sys");
        return;
    }
    memset(topology, 0, sizeof *topology);
    topology->source = "hwloc";
    topology->synthetic = !hwloc_topology_is_thissystem(machine);
    topology->cpus = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
    topology->nodes = read_nodes(machine, topology->os_index,
                                 sizeof topology->os_index / sizeof *topology->os_index);
    hwloc_topology_destroy(machine);
    if (topology->nodes < 1)
        topology->nodes = 1;
    if (topology->cpus < 1)
        topology->cpus = 1;
}
