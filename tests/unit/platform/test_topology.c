/* SPDX-License-Identifier: MIT */
/*
 * platform/topology_*.c: this machine, machines that hwloc makes up (each in a child, as hwloc reads
 * the environment), and made-up trees like /sys.
 */
#include "platform/platform.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"

static void test_machine(void)
{
    struct sgc_topology read, sysfs;
    unsetenv("HWLOC_SYNTHETIC");
    sgc_topology_read(&read);
    sgc_topology_read_sysfs(&sysfs, "/sys");
    tap_ok(strcmp(read.source, "hwloc") == 0 || strcmp(read.source, "sysfs") == 0, "read with %s", read.source);
    tap_ok(!read.synthetic, "a real machine");
    tap_ok(read.cpus == sysconf(_SC_NPROCESSORS_ONLN), "processors: %d", read.cpus);
    tap_ok(read.nodes >= 1 && read.nodes <= 64, "memory nodes: %d", read.nodes);
    tap_ok(read.nodes == sysfs.nodes && read.cpus == sysfs.cpus
           && memcmp(read.os_index, sysfs.os_index, sizeof read.os_index) == 0, "/sys says the same");
}

/* ---- hwloc ---------------------------------------------------------------------------------------------- */

static int four_nodes(void)
{
    struct sgc_topology topology;
    setenv("HWLOC_SYNTHETIC", "numa:4 core:2 pu:1", 1);
    sgc_topology_read(&topology);
    if (strcmp(topology.source, "hwloc") != 0)
        return 10;
    return topology.synthetic && topology.nodes == 4 && topology.cpus == 8
        && topology.os_index[0] == 0 && topology.os_index[3] == 3 ? 0 : 1;
}

static int eighty_nodes(void)
{
    struct sgc_topology topology;
    setenv("HWLOC_SYNTHETIC", "numa:80 pu:2", 1);
    sgc_topology_read(&topology);
    return topology.nodes == 64 && topology.cpus == 160 && topology.os_index[63] == 63 ? 0 : 1;
}

/* Node numbers that hwloc is told, not its own. */
static int odd_indexes(void)
{
    struct sgc_topology topology;
    setenv("HWLOC_SYNTHETIC", "numa:3(indexes=7,2,5) pu:1", 1);
    sgc_topology_read(&topology);
    int sum = topology.os_index[0] + topology.os_index[1] + topology.os_index[2];
    return topology.nodes == 3 && sum == 14 ? 0 : 1;
}

/* hwloc ignores a description it cannot parse; there must be a topology all the same. */
static int nonsense(void)
{
    struct sgc_topology topology;
    setenv("HWLOC_SYNTHETIC", "no such thing", 1);
    sgc_topology_read(&topology);
    return topology.nodes >= 1 && topology.cpus >= 1 ? 0 : 1;
}

static void test_synthetic(void)
{
    if (run_in_child(four_nodes) == 10) {
        tap_skip("built without hwloc");
        return;
    }
    child_ok(four_nodes, "hwloc: 4 nodes with 2 processors each");
    child_ok(eighty_nodes, "hwloc: 80 nodes, of which 64 are kept");
    child_ok(odd_indexes, "hwloc: nodes with other numbers");
    child_ok(nonsense, "hwloc: nonsense");
}

/* ---- /sys ------------------------------------------------------------------------------------------------- */

static void check_sysfs(int nodes, int last_index, int cpus, const char *what)
{
    struct sgc_topology topology;
    sgc_topology_read_sysfs(&topology, folder);
    tap_ok(topology.nodes == nodes && topology.cpus == cpus && topology.os_index[nodes - 1] == last_index
           && strcmp(topology.source, "sysfs") == 0 && !topology.synthetic,
           "/sys: %s (%d nodes, %d processors)", what, topology.nodes, topology.cpus);
}

static void test_sysfs(void)
{
    folder_make();
    check_sysfs(1, 0, 1, "empty");
    folder_put("devices/system/cpu/online", "0-3\n");
    folder_put("devices/system/node/online", "0-2\n");
    check_sysfs(3, 2, 4, "without has_memory");
    folder_put("devices/system/node/has_memory", "0,2\n");
    check_sysfs(2, 2, 4, "a node without memory");
    folder_put("devices/system/cpu/online", "0,2-5,9\n");
    check_sysfs(2, 2, 6, "processors that are off");
    folder_put("devices/system/node/has_memory", "1-200\n");
    check_sysfs(64, 64, 6, "more nodes than are kept");
    folder_put("devices/system/node/has_memory", "3-1\n");
    folder_put("devices/system/node/online", "-\n");
    folder_put("devices/system/cpu/online", "0-\n");
    check_sysfs(1, 0, 1, "nonsense");
    folder_put("devices/system/cpu/online", "0-4294967295\n");
    check_sysfs(1, 0, 1, "absurd numbers");
    folder_remove();
}

int main(void)
{
    test_machine();
    test_synthetic();
    test_sysfs();
    return tap_done();
}
