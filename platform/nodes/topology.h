/* SPDX-License-Identifier: MIT */
/*
 * The memory nodes, processors and caches of the machine: from /sys, or from hwloc.
 *
 * A node is an index here, not the system's number.  Only nodes whose memory this process may use
 * have an index; the others are kept apart, and their processors count as those of the nearest node
 * with one.  Processors and nodes for which the tables have no room are left out: such processors
 * are unknown, and so is the memory of such nodes.
 */
#ifndef SGC_PLATFORM_NODES_TOPOLOGY_H
#define SGC_PLATFORM_NODES_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/nodes/number_set.h"

enum {
    SGC_NODES_MAX = 64,
    SGC_NO_NODE = 255,
    SGC_NO_CORE = 65535,
};

/* A node that is none for us. */
struct sgc_other_node {
    int os_index;
    int nearest;                /* an index, */
    unsigned distance;          /* and how far that is; 0: not said */
    bool has_memory;            /* that this process may not use; false: it has none */
};

struct sgc_topology {
    int nodes;                  /* with memory for us, at least 1; those of the tables if there are
                                   more */
    int cpus;                   /* processors that are online, at least 1 */
    int cores;                  /* 0: not asked for, or not said */
    int others;
    const char *source;         /* "hwloc" or "sysfs" */
    const char *ignored;        /* a variable that told hwloc what it could not read; NULL: none */
    bool synthetic;             /* hwloc was told of another machine, or of one that there is not:
                                   binding does nothing */
    int os_index[SGC_NODES_MAX];        /* the system's numbers, ascending */
    uint64_t bytes[SGC_NODES_MAX];      /* of memory; 0: not said */
    /* As the firmware says, 10 to itself; 0: not said. */
    unsigned char distance[SGC_NODES_MAX][SGC_NODES_MAX];
    struct sgc_other_node other[SGC_NODES_MAX];
    /* By the system's number of a processor: its node, or SGC_NO_NODE. */
    unsigned char node_of[SGC_NUMBERS];
    uint16_t core_of[SGC_NUMBERS];      /* the lowest processor of the same core, or SGC_NO_CORE;
                                           only with `cores` */
};

/* As hwloc tells it, where SGC is built with hwloc and that can be loaded; otherwise as /sys does.
 * With its cores.  hwloc calls malloc some hundred times, the loader, and stdio.  [outside] */
void sgc_topology_read(struct sgc_topology *topology);
bool sgc_topology_has_hwloc(void);

/* As /sys tells it, without cores.  `root`: "/sys", or a made-up tree in tests.  `status`: a file
 * like /proc/self/status, which says what nodes the process may use; NULL: all.  [any] */
void sgc_topology_read_allowed(struct sgc_topology *topology, const char *root, const char *status);

/* The cores, too: a file a processor.  [any] */
void sgc_topology_read_cores(struct sgc_topology *topology, const char *root);

/* Is there more than one node with memory?  Reads one file.  [any] */
bool sgc_topology_several(const char *root);

/* Bytes of the first processor's data (or unified) cache of that level; 0 if the system does not
 * say.  `root`: "/sys".  In caches_linux.c.  [any] */
size_t sgc_cache_bytes(const char *root, int level);

/* ---- for the files that read: topology.c ---- */

/* Begins: nothing is known. */
void sgc_topology_begin(struct sgc_topology *topology, const char *source);

/* The next node, by ascending number; its index, or SGC_NO_NODE if there is no room or no memory
 * for us. */
int sgc_topology_add_node(struct sgc_topology *topology, int os_index, bool has_memory, bool allowed);

/* That index, or of another node the nearest one; SGC_NO_NODE: of none that is known. */
int sgc_topology_find(const struct sgc_topology *topology, int os_index);

/* The processor is near the node; the first node that says so has it. */
void sgc_topology_add_cpu(struct sgc_topology *topology, int cpu, int node);

/* The core that begins with `first` has the processor. */
void sgc_topology_add_to_core(struct sgc_topology *topology, int cpu, int first);

/* The distance between two of the system's numbers, which both are known; also decides what is
 * nearest to others. */
void sgc_topology_add_distance(struct sgc_topology *topology, int from, int to, unsigned distance);

/* Ends: there is a node and a processor at least. */
void sgc_topology_end(struct sgc_topology *topology);

#endif
