/* SPDX-License-Identifier: MIT */
/*
 * platform/nodes/topology_*.c: this machine; machines that hwloc is told of, by a line or by a file
 * (each in a child, as hwloc reads the environment); made-up trees like /sys; and what does not fit
 * into the tables.
 */
#include "platform/nodes/topology.h"
#include "platform/platform.h"
#include "platform/report.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"

/* What a test says of a topology: of each node its number and its processors, and of the others what is nearest.
 * "0:0-3 2:4-5 (1->0)". */
static void add_node(const struct sgc_topology *t, int node, char *text, size_t size)
{
    int first = -1;

    for (int cpu = 0; cpu <= SGC_NUMBERS; cpu++) {
        bool in = cpu < SGC_NUMBERS && t->node_of[cpu] == node;

        if (in && first < 0)
            first = cpu;
        if (!in && first >= 0) {
            sgc_format(text + strlen(text), size - strlen(text), "%d", first);
            if (cpu - 1 > first)
                sgc_format(text + strlen(text), size - strlen(text), "-%d", cpu - 1);
            sgc_format(text + strlen(text), size - strlen(text), ",");
            first = -1;
        }
    }
}

static const char *show(const struct sgc_topology *t)
{
    static char text[4096];

    text[0] = '\0';
    for (int i = 0; i < t->nodes; i++) {
        sgc_format(text + strlen(text), sizeof text - strlen(text), "%s%d:", i > 0 ? " " : "", t->os_index[i]);
        add_node(t, i, text, sizeof text);
    }
    for (int i = 0; i < t->others; i++)
        sgc_format(text + strlen(text), sizeof text - strlen(text), " (%d->%d%s)", t->other[i].os_index, t->other[i].nearest,
                   t->other[i].has_memory ? " forbidden" : "");
    return text;
}

static bool is(const struct sgc_topology *t, const char *wanted)
{
    if (strcmp(show(t), wanted) == 0)
        return true;
    printf("# %s\n", show(t));
    return false;
}

static void test_machine(void)
{
    static struct sgc_topology read, sysfs;
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_XMLFILE");
    sgc_topology_read(&read);
    sgc_topology_read_allowed(&sysfs, "/sys", "/proc/self/status");
    sgc_topology_read_cores(&sysfs, "/sys");
    tap_ok(strcmp(read.source, sgc_topology_has_hwloc() ? "hwloc" : "sysfs") == 0, "read with %s", read.source);
    tap_ok(!read.synthetic && read.ignored == NULL, "a real machine");
    tap_ok(read.cpus == sysconf(_SC_NPROCESSORS_ONLN), "processors: %d", read.cpus);
    tap_ok(read.nodes >= 1 && read.nodes <= 64, "memory nodes: %d", read.nodes);
    tap_ok(read.cores >= 1 && read.cores <= read.cpus, "cores: %d", read.cores);
    read.source = sysfs.source = NULL;
    tap_ok(memcmp(&read, &sysfs, sizeof read) == 0, "/sys says the same: %s", show(&sysfs));
    int with_memory = sysfs.nodes;
    for (int i = 0; i < sysfs.others; i++)
        with_memory += sysfs.other[i].has_memory;
    tap_ok(sgc_topology_several("/sys") == (with_memory > 1), "whether there are several nodes");
}

/* ---- hwloc ---------------------------------------------------------------------------------------------- */

static struct sgc_topology told;

static void tell(const char *variable, const char *value)
{
    setenv(variable, value, 1);
    sgc_topology_read(&told);
}

static int no_hwloc(void)
{
    tell("HWLOC_SYNTHETIC", "numa:2 pu:1");
    return strcmp(told.source, "hwloc") != 0 ? 10 : 0;
}

static int four_nodes(void)
{
    tell("HWLOC_SYNTHETIC", "pack:2 numa:2(memory=2GB) core:2 pu:2");
    return told.synthetic && told.cpus == 16 && told.cores == 8 && told.core_of[0] == 0 && told.core_of[7] == 6 &&
           told.bytes[3] == 2000000000 && told.distance[1][1] == 10 && told.distance[0][1] == 0 &&
           is(&told, "0:0-3, 1:4-7, 2:8-11, 3:12-15,") ? 0 : 1;
}

/* 80 nodes of 120 processors each: 64 nodes and 8192 processors are kept. */
static int too_much(void)
{
    tell("HWLOC_SYNTHETIC", "numa:80 pu:120");
    return told.nodes == 64 && told.cpus == 8192 && told.os_index[63] == 63 && told.others == 16 && told.node_of[8191] != 64 &&
           told.node_of[7679] == 63 ? 0 : 1;
}

/* Node numbers that hwloc is told, not its own. */
static int odd_indexes(void)
{
    tell("HWLOC_SYNTHETIC", "numa:3(indexes=7,2,5) pu:1");
    return is(&told, "2:1, 5:2, 7:0,") ? 0 : 1;
}

/* Nodes inside nodes: a processor is of the one with the fewest. */
static int nested(void)
{
    tell("HWLOC_SYNTHETIC", "[numa(memory=1GB)] pack:2 [numa(memory=1GB)] core:2 pu:1");
    return told.nodes == 3 && told.cpus == 4 && told.node_of[0] == told.node_of[1] && told.node_of[2] == told.node_of[3] &&
           told.node_of[0] != told.node_of[2] ? 0 : 1;
}

/* One that says nothing of memory has memory everywhere. */
static int no_word_of_memory(void)
{
    tell("HWLOC_SYNTHETIC", "pack:2 [numa] core:1 pu:1");
    return is(&told, "0:0, 1:1,") && told.bytes[0] == 0 ? 0 : 1;
}

/* hwloc ignores a description it cannot parse; there must be a topology all the same. */
static int nonsense(void)
{
    tell("HWLOC_SYNTHETIC", "no such thing");
    return told.ignored != NULL && strcmp(told.ignored, "HWLOC_SYNTHETIC") == 0 && !told.synthetic && told.nodes >= 1 &&
           told.cpus >= 1 ? 0 : 1;
}

/* ---- files ---- */

#define XML_BEGIN "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n" \
    "<topology version=\"2.0\">\n" \
    "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x0000001f\" complete_cpuset=\"0x0000001f\" " \
    "allowed_cpuset=\"0x0000001f\" nodeset=\"0x0000000b\" complete_nodeset=\"0x0000000b\" allowed_nodeset=\"0x0000000b\" " \
    "gp_index=\"1\">"
#define XML_PU(n, mask, nodes) "<object type=\"PU\" os_index=\"" #n "\" cpuset=\"" mask "\" complete_cpuset=\"" mask \
    "\" nodeset=\"" nodes "\" complete_nodeset=\"" nodes "\" gp_index=\"10" #n "\"/>"
#define XML_NODE(n, mask, nodes, memory) "<object type=\"NUMANode\" os_index=\"" #n "\" cpuset=\"" mask \
    "\" complete_cpuset=\"" mask "\" nodeset=\"" nodes "\" complete_nodeset=\"" nodes \
    "\" gp_index=\"20" #n "\" local_memory=\"" #memory "\"/>"
#define XML_PACKAGE(n, mask, nodes) "<object type=\"Package\" os_index=\"" #n "\" cpuset=\"" mask "\" complete_cpuset=\"" mask \
    "\" nodeset=\"" nodes "\" complete_nodeset=\"" nodes "\" gp_index=\"30" #n "\">"

/* Three packages, unlike: 1 processor with 100 MB, 3 with 10 GB, 1 without memory; the last is nearer to node 1. */
static const char uneven[] = XML_BEGIN
    XML_PACKAGE(0, "0x00000001", "0x00000001") XML_NODE(0, "0x00000001", "0x00000001", 104857600)
    XML_PU(0, "0x00000001", "0x00000001") "</object>"
    XML_PACKAGE(1, "0x0000000e", "0x00000002") XML_NODE(1, "0x0000000e", "0x00000002", 10737418240)
    XML_PU(1, "0x00000002", "0x00000002") XML_PU(2, "0x00000004", "0x00000002")
    XML_PU(3, "0x00000008", "0x00000002") "</object>"
    XML_PACKAGE(2, "0x00000010", "0x00000008") XML_NODE(3, "0x00000010", "0x00000008", 0)
    XML_PU(4, "0x00000010", "0x00000008") "</object>"
    "</object>"
    "<distances2 type=\"NUMANode\" nbobjs=\"3\" kind=\"5\" name=\"NUMALatency\" indexing=\"os\">"
    "<indexes length=\"6\">0 1 3 </indexes><u64values length=\"27\">10 21 31 21 10 16 31 16 10 </u64values></distances2>"
    "</topology>\n";

static int from_file(void)
{
    tell("HWLOC_XMLFILE", folder_path("uneven.xml"));
    return told.synthetic && told.ignored == NULL && told.bytes[0] == 100 << 20 && told.bytes[1] == UINT64_C(10) << 30 &&
           told.distance[0][1] == 21 && told.distance[1][0] == 21 && told.distance[1][1] == 10 &&
           is(&told, "0:0, 1:1-4, (3->1)") ? 0 : 1;
}

static int bad_file(const char *name)
{
    tell("HWLOC_XMLFILE", name);
    return told.ignored != NULL && strcmp(told.ignored, "HWLOC_XMLFILE") == 0 && !told.synthetic && told.nodes >= 1 &&
           told.cpus == sysconf(_SC_NPROCESSORS_ONLN) ? 0 : 1;
}

static void test_hwloc(void)
{
    if (run_in_child(no_hwloc) == 10) {
        tap_skip("built without hwloc, or there is none");
        return;
    }
    folder_make();
    folder_put("uneven.xml", uneven);
    folder_put("cut.xml", "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\"");
    child_ok(four_nodes, "hwloc: 2 packages with 2 nodes each");
    child_ok(too_much, "hwloc: more nodes and processors than are kept");
    child_ok(odd_indexes, "hwloc: nodes with other numbers");
    child_ok(nested, "hwloc: a node for all and one for each half");
    child_ok(no_word_of_memory, "hwloc: no word of memory");
    child_ok(nonsense, "hwloc: nonsense");
    child_ok(from_file, "hwloc: a file, with unlike nodes and one without memory");
    child_ok_of(bad_file(folder_path("none.xml")), "hwloc: no file");
    child_ok_of(bad_file(folder_path("cut.xml")), "hwloc: a file that is cut");
    folder_remove();
}

/* ---- /sys ------------------------------------------------------------------------------------------------- */

static struct sgc_topology tree;

static void check_sysfs(const char *wanted, int cpus, const char *what)
{
    sgc_topology_read_allowed(&tree, folder, NULL);
    tap_ok(is(&tree, wanted) && tree.cpus == cpus && strcmp(tree.source, "sysfs") == 0 && !tree.synthetic,
           "/sys: %s (%d nodes, %d processors)", what, tree.nodes, tree.cpus);
    tap_ok(sgc_topology_several(folder) == (tree.nodes > 1), "/sys: %s: several nodes", what);
}

static void put_node(int node, const char *cpus, const char *distance, const char *memory)
{
    char name[64], text[64];

    snprintf(name, sizeof name, "devices/system/node/node%d/cpulist", node);
    folder_put(name, cpus);
    snprintf(name, sizeof name, "devices/system/node/node%d/distance", node);
    folder_put(name, distance);
    snprintf(name, sizeof name, "devices/system/node/node%d/meminfo", node);
    snprintf(text, sizeof text, "Node %d MemTotal:       %s\nNode %d MemFree:  1 kB\n", node, memory, node);
    folder_put(name, text);
}

static void test_lists(void)
{
    folder_make();
    check_sysfs("0:", 1, "empty");
    folder_put("devices/system/cpu/online", "0-3\n");
    folder_put("devices/system/node/online", "0-2\n");
    check_sysfs("0:0-3, 1: 2:", 4, "without has_memory");
    folder_put("devices/system/node/has_memory", "0,2\n");
    check_sysfs("0:0-3, 2: (1->0)", 4, "a node without memory");
    folder_put("devices/system/cpu/online", "0,2-5,9\n");
    check_sysfs("0:0,2-5,9, 2: (1->0)", 6, "processors that are off");
    folder_put("devices/system/node/has_memory", "3-1\n");
    folder_put("devices/system/node/online", "-\n");
    folder_put("devices/system/cpu/online", "0-\n");
    check_sysfs("0:", 1, "nonsense");
    folder_put("devices/system/cpu/online", "0-4294967295\n");
    check_sysfs("0:", 1, "absurd numbers");
    folder_put("devices/system/cpu/online", "0-10000\n");
    check_sysfs("0:0-8191,", 8192, "more processors than are kept");
    folder_remove();
}

/* Node 2 is off, node 3 has no memory and node 4 no processors. */
static void test_nodes(void)
{
    folder_make();
    folder_put("devices/system/cpu/online", "0-5,8\n");
    folder_put("devices/system/node/online", "0-1,3-4\n");
    folder_put("devices/system/node/has_memory", "0-2,4\n");
    put_node(0, "0-1\n", "10 21 31 40\n", "12150560 kB");
    put_node(1, "2-3,6\n", "21 10 12 40\n", "121505600 kB");
    put_node(2, "7\n", "10\n", "1 kB");
    put_node(3, "4-5\n", "31 12 10 40\n", "0 kB");
    put_node(4, "\n", "40 40 40 10\n", "nonsense kB");
    check_sysfs("0:0-1,8, 1:2-5, 4: (3->1)", 7, "nodes off, without memory, without processors");
    tap_ok(tree.bytes[0] == UINT64_C(12150560) << 10 && tree.bytes[1] == UINT64_C(121505600) << 10 && tree.bytes[2] == 0,
           "/sys: the memory of each");
    tap_ok(tree.distance[0][0] == 10 && tree.distance[0][1] == 21 && tree.distance[0][2] == 40 && tree.distance[1][0] == 21 &&
           tree.distance[2][1] == 40 && tree.distance[2][2] == 10, "/sys: the distances of those with memory");
    folder_put("status", "Mems_allowed:\t00000003\nMems_allowed_list:\t1,4\n");
    sgc_topology_read_allowed(&tree, folder, folder_path("status"));
    tap_ok(is(&tree, "1:0-5,8, 4: (0->0 forbidden) (3->0)"), "/sys: nodes that the process may not use");
    folder_put("status", "Mems_allowed_list:\t0\n");
    sgc_topology_read_allowed(&tree, folder, folder_path("status"));
    tap_ok(is(&tree, "0:0-5,8, (1->0 forbidden) (3->0) (4->0 forbidden)"), "/sys: only one that it may use");
    sgc_topology_read_allowed(&tree, folder, folder_path("no status"));
    tap_ok(is(&tree, "0:0-1,8, 1:2-5, 4: (3->1)"), "/sys: it may use all if nobody says so");
    put_node(3, "4-5\n", "nonsense\n", "0 kB");
    check_sysfs("0:0-1,4-5,8, 1:2-3, 4: (3->0)", 7, "no distances");
    folder_remove();
}

static void test_many_nodes(void)
{
    folder_make();
    folder_put("devices/system/cpu/online", "0\n");
    folder_put("devices/system/node/online", "1-200\n");
    folder_put("devices/system/node/has_memory", "1-200\n");
    put_node(200, "0\n", "10\n", "1 kB");
    sgc_topology_read_allowed(&tree, folder, NULL);
    tap_ok(tree.nodes == 64 && tree.os_index[63] == 64 && tree.others == 64 && tree.cpus == 1 && tree.node_of[0] == 0,
           "/sys: more nodes than are kept");
    folder_remove();
}

static void test_cores(void)
{
    folder_make();
    folder_put("devices/system/cpu/online", "0-5\n");
    folder_put("devices/system/cpu/cpu0/topology/core_cpus_list", "0,4\n");
    folder_put("devices/system/cpu/cpu1/topology/thread_siblings_list", "1,5\n");
    folder_put("devices/system/cpu/cpu2/topology/core_cpus_list", "0,4\n");
    folder_put("devices/system/cpu/cpu3/topology/core_cpus_list", "3,7\n");
    sgc_topology_read_allowed(&tree, folder, NULL);
    tap_ok(tree.cores == 0 && tree.core_of[0] == SGC_NO_CORE, "/sys: no cores until they are asked for");
    sgc_topology_read_cores(&tree, folder);
    tap_ok(tree.cores == 4 && tree.core_of[0] == 0 && tree.core_of[4] == 0 && tree.core_of[1] == 1 && tree.core_of[5] == 1,
           "/sys: cores of two processors, by either name");
    tap_ok(tree.core_of[2] == 2 && tree.core_of[3] == 3 && tree.core_of[7] == SGC_NO_CORE,
           "/sys: one that says nonsense of itself, one whose other half is off");
    folder_remove();
}

int main(void)
{
    return tap_all(test_machine, test_hwloc, test_lists, test_nodes, test_many_nodes, test_cores);
}
