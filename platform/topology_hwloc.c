/* SPDX-License-Identifier: MIT */
/*
 * The topology, from hwloc.  Owns nothing: what hwloc allocates is freed before the function
 * returns.  Runs only outside sections, as hwloc and the loader call malloc some hundred times.
 *
 * hwloc is loaded here, not with the program: it and the two libraries that it needs would make up a fifth of the time
 * of a program that starts, allocates little and ends.
 */
#include <dlfcn.h>
#include <hwloc.h>
#include <string.h>

#include "platform/platform.h"

/* All versions 2 of hwloc have this name. */
#define SGC_HWLOC_NAME "libhwloc.so.15"

#define SGC_HWLOC_FUNCTIONS(apply)      \
    apply(bitmap_isset)                 \
    apply(get_nbobjs_by_depth)          \
    apply(get_obj_by_depth)             \
    apply(get_type_depth)               \
    apply(topology_destroy)             \
    apply(topology_get_allowed_nodeset) \
    apply(topology_init)                \
    apply(topology_is_thissystem)       \
    apply(topology_load)                \
    apply(topology_set_all_types_filter)\
    apply(topology_set_flags)

struct hwloc {
#define SGC_HWLOC_MEMBER(name) __typeof__(hwloc_##name) *name;
    SGC_HWLOC_FUNCTIONS(SGC_HWLOC_MEMBER)
};

/* It stays loaded: threads that it may have started, and its atexit functions, would outlive it. */
static bool load_library(struct hwloc *h)
{
    void *library = dlopen(SGC_HWLOC_NAME, RTLD_LAZY | RTLD_LOCAL);
    bool all = library != NULL;
#define SGC_HWLOC_FIND(name) all = all && (h->name = (__typeof__(h->name))dlsym(library, "hwloc_" #name)) != NULL;
    SGC_HWLOC_FUNCTIONS(SGC_HWLOC_FIND)
    return all;
}

/* Processors and memory nodes are all we ask for; they are never filtered.  The whole machine, since
 * its size is the question, not what this process may use. */
static bool load(const struct hwloc *h, hwloc_topology_t *machine)
{
    if (h->topology_init(machine) != 0)
        return false;
    if (h->topology_set_all_types_filter(*machine, HWLOC_TYPE_FILTER_KEEP_NONE) == 0
        && h->topology_set_flags(*machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0
        && h->topology_load(*machine) == 0)
        return true;
    h->topology_destroy(*machine);
    return false;
}

/* Only nodes this process may have memory on; hwloc leaves nodes without memory out. */
static int read_nodes(const struct hwloc *h, hwloc_topology_t machine, int *os_index, int capacity)
{
    hwloc_const_nodeset_t allowed = h->topology_get_allowed_nodeset(machine);
    hwloc_obj_t node;
    int count = 0;
    for (unsigned i = 0; count < capacity; i++) {
        node = h->get_obj_by_depth(machine, HWLOC_TYPE_DEPTH_NUMANODE, i);
        if (node == NULL)
            break;
        if (h->bitmap_isset(allowed, node->os_index))
            os_index[count++] = (int)node->os_index;
    }
    return count;
}

void sgc_topology_read(struct sgc_topology *topology)
{
    struct hwloc h;
    hwloc_topology_t machine;
    if (!load_library(&h) || !load(&h, &machine)) {
        sgc_topology_read_sysfs(topology, "/sys");
        return;
    }
    memset(topology, 0, sizeof *topology);
    topology->source = "hwloc";
    topology->synthetic = !h.topology_is_thissystem(machine);
    topology->cpus = (int)h.get_nbobjs_by_depth(machine, h.get_type_depth(machine, HWLOC_OBJ_PU));
    topology->nodes = read_nodes(&h, machine, topology->os_index,
                                 sizeof topology->os_index / sizeof *topology->os_index);
    h.topology_destroy(machine);
    if (topology->nodes < 1)
        topology->nodes = 1;
    if (topology->cpus < 1)
        topology->cpus = 1;
}
