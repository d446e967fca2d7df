/* SPDX-License-Identifier: MIT */
/*
 * The topology where SGC is built without hwloc.  Owns nothing; runs on any thread.
 */
#include "platform/nodes/topology.h"

bool sgc_topology_has_hwloc(void)
{
    return false;
}

void sgc_topology_read(struct sgc_topology *topology)
{
    sgc_topology_read_allowed(topology, "/sys", "/proc/self/status");
    sgc_topology_read_cores(topology, "/sys");
}
