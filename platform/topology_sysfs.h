/* SPDX-License-Identifier: MIT */
/*
 * The machine's topology as /sys tells it: without hwloc, and where hwloc fails.
 */
#ifndef SGC_PLATFORM_TOPOLOGY_SYSFS_H
#define SGC_PLATFORM_TOPOLOGY_SYSFS_H

#include "platform/platform.h"

/* `root` is "/sys", or a made-up tree in tests.  [any] */
void sgc_topology_read_sysfs(struct sgc_topology *topology, const char *root);

#endif
