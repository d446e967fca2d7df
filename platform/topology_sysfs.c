/* SPDX-License-Identifier: MIT */
/*
 * Memory nodes and processors from the lists that the kernel shows in /sys.  Owns nothing; runs
 * on any thread.
 */
#include "platform/platform.h"

#include <limits.h>
#include <string.h>

#include "platform/proc_file_linux.h"

enum { SGC_TOPOLOGY_NODES = sizeof ((struct sgc_topology *)0)->os_index / sizeof(int) };

/* One "7" or "0-3" of a list; false at its end or at nonsense. */
static bool next_range(const char **at, uint64_t *first, uint64_t *last)
{
    if (!sgc_parse_number(at, 10, first))
        return false;
    *last = *first;
    if (**at == '-') {
        ++*at;
        if (!sgc_parse_number(at, 10, last))
            return false;
    }
    *at += **at == ',';
    return *last >= *first && *last < INT_MAX;
}

/* Counts a list such as "0-3,8" and stores its first `capacity` members. */
static int read_list(const char *root, const char *name, int *member, int capacity)
{
    char line[4096];
    const char *at = line;
    uint64_t first, last;
    int count = 0;
    if (!sgc_read_line_at(line, sizeof line, "%s/devices/system/%s", root, name))
        return 0;
    while (next_range(&at, &first, &last)) {
        for (uint64_t i = first; i <= last && count < capacity; i++)
            member[count++] = (int)i;
        if (count == capacity)
            break;
    }
    return count;
}

static int count_list(const char *root, const char *name)
{
    int member[4096];           /* more processors than any machine that runs this has */
    return read_list(root, name, member, 4096);
}

/* Nodes without memory cannot be bound to; an old kernel says only which are online. */
void sgc_topology_read_sysfs(struct sgc_topology *topology, const char *root)
{
    memset(topology, 0, sizeof *topology);
    topology->source = "sysfs";
    topology->cpus = count_list(root, "cpu/online");
    topology->nodes = read_list(root, "node/has_memory", topology->os_index, SGC_TOPOLOGY_NODES);
    if (topology->nodes == 0)
        topology->nodes = read_list(root, "node/online", topology->os_index, SGC_TOPOLOGY_NODES);
    if (topology->nodes == 0)
        topology->nodes = 1;    /* a kernel without NUMA: node 0 */
    if (topology->cpus == 0)
        topology->cpus = 1;
}
