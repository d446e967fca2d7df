/* SPDX-License-Identifier: MIT */
/*
 * The topology where SGC is built without hwloc.  Owns nothing; runs on any thread.
 */
#include "platform/platform.h"

void sgc_topology_read(struct sgc_topology *topology)
{
    sgc_topology_read_sysfs(topology, "/sys");
}
