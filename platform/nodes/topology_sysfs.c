/* SPDX-License-Identifier: MIT */
/*
 * Memory nodes and processors from what the kernel shows in /sys.  Owns nothing; runs on any
 * thread.
 */
#include "platform/nodes/topology.h"

#include <string.h>

#include "platform/file_linux.h"

/* A list of numbers below /sys/devices/system; false if it is missing. */
static bool read_list(const char *root, const char *name, struct sgc_number_set *set)
{
    char line[4096];

    sgc_assert(root != NULL && name[0] != '/');
    sgc_number_set_clear(set);
    if (!sgc_read_line_at(line, sizeof line, "%s/devices/system/%s", root, name))
        return false;
    sgc_number_set_parse(set, line);
    return true;
}

static bool read_list_of_node(const char *root, int node, const char *name, struct sgc_number_set *set)
{
    char path[64];

    sgc_assert(node >= 0 && node < SGC_NUMBERS);
    sgc_format(path, sizeof path, "node/node%d/%s", node, name);
    return read_list(root, path, set);
}

/* The rest of the first line that has the word in it, in `line`; NULL if there is none. */
static const char *find_word(const char *path, const char *word, char *line, size_t size)
{
    struct sgc_reader reader;
    const char *found = NULL;

    sgc_assert(word[0] != '\0' && size > 1);
    if (!sgc_reader_open(&reader, path))
        return NULL;
    while (found == NULL && sgc_reader_line(&reader, line, size))
        found = strstr(line, word);
    sgc_reader_close(&reader);
    return found != NULL ? found + strlen(word) : NULL;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* "Node 0 MemTotal:       12150560 kB" */
static uint64_t memory_of(const char *root, int node)
{
    char path[256], line[128];
    const char *at;
    uint64_t kb = 0;

    sgc_assert(node >= 0);
    if (sgc_format(path, sizeof path, "%s/devices/system/node/node%d/meminfo", root, node) >= sizeof path)
        return 0;
    at = find_word(path, "MemTotal:", line, sizeof line);
    if (at != NULL)
        at = skip_blanks(at);
    return at != NULL && sgc_parse_number(&at, 10, &kb) && kb < UINT64_C(1) << 53 ? kb << 10 : 0;
}

/* ---- nodes ---- */

/* Those that may be used; all if the file does not say. */
static void read_allowed(const char *status, struct sgc_number_set *allowed)
{
    char line[4096];
    const char *list = status == NULL ? NULL : find_word(status, "Mems_allowed_list:", line, sizeof line);

    if (list != NULL)
        sgc_number_set_parse(allowed, skip_blanks(list));
    if (list == NULL || sgc_number_set_count(allowed) == 0)
        memset(allowed, 0xff, sizeof *allowed);
    sgc_assert(sgc_number_set_count(allowed) > 0);
}

/* Nodes without memory cannot be bound to; an old kernel says only which are online. */
static void read_with_memory(const char *root, struct sgc_number_set *set)
{
    if (!read_list(root, "node/has_memory", set) || sgc_number_set_count(set) == 0)
        read_list(root, "node/online", set);
}

static void add_nodes(struct sgc_topology *t, const char *root, const char *status, struct sgc_number_set *online)
{
    struct sgc_number_set with_memory, allowed;

    read_with_memory(root, &with_memory);
    read_allowed(status, &allowed);
    if (!read_list(root, "node/online", online) || sgc_number_set_count(online) == 0)
        *online = with_memory;
    for (int i = 0; (i = sgc_number_set_next(online, i)) >= 0; i++) {
        int node = sgc_topology_add_node(t, i, sgc_number_set_has(&with_memory, (uint64_t)i),
                                         sgc_number_set_has(&allowed, (uint64_t)i));

        sgc_assert(node == SGC_NO_NODE || node == t->nodes - 1);
        if (node != SGC_NO_NODE)
            t->bytes[node] = memory_of(root, i);
    }
}

/* "10 21 31": to the nodes that are online, in order. */
static void add_distances(struct sgc_topology *t, const char *root, const struct sgc_number_set *online, int from)
{
    char line[4096];
    const char *at = line;
    uint64_t distance;

    sgc_assert(sgc_number_set_has(online, (uint64_t)from));
    if (!sgc_read_line_at(line, sizeof line, "%s/devices/system/node/node%d/distance", root, from))
        return;
    for (int to = sgc_number_set_next(online, 0); to >= 0 && sgc_parse_number(&at, 10, &distance);
         to = sgc_number_set_next(online, to + 1)) {
        sgc_topology_add_distance(t, from, to, distance < 256 ? (unsigned)distance : 0);
        at = skip_blanks(at);
    }
}

/* ---- processors ---- */

static void add_cpus(struct sgc_topology *t, const struct sgc_number_set *cpus, const struct sgc_number_set *online, int node)
{
    sgc_assert(node >= 0 && node < SGC_NODES_MAX);
    for (int i = 0; (i = sgc_number_set_next(cpus, i)) >= 0; i++)
        if (sgc_number_set_has(online, (uint64_t)i))
            sgc_topology_add_cpu(t, i, node);
}

static void add_nodes_cpus(struct sgc_topology *t, const char *root, const struct sgc_number_set *nodes,
                           const struct sgc_number_set *online)
{
    struct sgc_number_set cpus;

    for (int i = 0; (i = sgc_number_set_next(nodes, i)) >= 0; i++)
        if (sgc_topology_find(t, i) != SGC_NO_NODE && read_list_of_node(root, i, "cpulist", &cpus))
            add_cpus(t, &cpus, online, sgc_topology_find(t, i));
}

void sgc_topology_read_allowed(struct sgc_topology *t, const char *root, const char *status)
{
    struct sgc_number_set nodes, online;

    sgc_assert(t != NULL && root != NULL);
    sgc_topology_begin(t, "sysfs");
    add_nodes(t, root, status, &nodes);
    for (int i = 0; (i = sgc_number_set_next(&nodes, i)) >= 0; i++)
        add_distances(t, root, &nodes, i);
    read_list(root, "cpu/online", &online);
    add_nodes_cpus(t, root, &nodes, &online);
    add_cpus(t, &online, &online, 0);           /* those that no node claims */
    sgc_topology_end(t);
}

bool sgc_topology_several(const char *root)
{
    struct sgc_number_set set;

    read_with_memory(root, &set);
    return sgc_number_set_count(&set) > 1;
}

/* An old kernel has another name for it; one that says nothing has cores of one processor. */
static void read_core(const char *root, int cpu, struct sgc_number_set *core)
{
    char path[64];

    sgc_assert(cpu >= 0 && cpu < SGC_NUMBERS);
    sgc_format(path, sizeof path, "cpu/cpu%d/topology/core_cpus_list", cpu);
    if (read_list(root, path, core) && sgc_number_set_has(core, (uint64_t)cpu))
        return;
    sgc_format(path, sizeof path, "cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (read_list(root, path, core) && sgc_number_set_has(core, (uint64_t)cpu))
        return;
    sgc_number_set_clear(core);
    sgc_number_set_add(core, (uint64_t)cpu);
}

void sgc_topology_read_cores(struct sgc_topology *t, const char *root)
{
    struct sgc_number_set core;

    for (int cpu = 0; cpu < SGC_NUMBERS; cpu++) {
        if (t->node_of[cpu] == SGC_NO_NODE || t->core_of[cpu] != SGC_NO_CORE)
            continue;
        read_core(root, cpu, &core);
        sgc_assert(sgc_number_set_has(&core, (uint64_t)cpu));
        for (int i = cpu; (i = sgc_number_set_next(&core, i)) >= 0; i++)
            if (t->node_of[i] != SGC_NO_NODE)
                sgc_topology_add_to_core(t, i, cpu);
    }
}
