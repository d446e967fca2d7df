/* SPDX-License-Identifier: MIT */
/*
 * The topology, from hwloc.  Owns nothing: what hwloc allocates is freed before the function
 * returns.  Runs only outside sections, as hwloc and the loader call malloc some hundred times.
 *
 * hwloc is loaded here, not with the program: it and the two libraries that it needs would make up
 * a fifth of the time of a program that starts, allocates little and ends.
 */
#include <dlfcn.h>
#include <hwloc.h>
#include <stdlib.h>

#include "platform/nodes/topology.h"
#include "platform/report.h"

/* All versions 2 of hwloc have this name. */
#define SGC_HWLOC_NAME "libhwloc.so.15"

#define SGC_HWLOC_FUNCTIONS(apply)      \
    apply(bitmap_first)                 \
    apply(bitmap_isset)                 \
    apply(bitmap_next)                  \
    apply(bitmap_weight)                \
    apply(distances_get_by_type)        \
    apply(distances_release)            \
    apply(get_obj_by_depth)             \
    apply(get_type_depth)               \
    apply(topology_destroy)             \
    apply(topology_get_allowed_nodeset) \
    apply(topology_init)                \
    apply(topology_is_thissystem)       \
    apply(topology_load)                \
    apply(topology_set_flags)           \
    apply(topology_set_synthetic)       \
    apply(topology_set_xml)

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

/* ---- loading ---- */

typedef int tell_fn(hwloc_topology_t machine, const char *what);

/* hwloc reads this variable itself, and says nothing if it cannot: it is told once more, and
 * answers.  The name of the variable if it cannot use it. */
static const char *tell(hwloc_topology_t machine, tell_fn *set, const char *variable)
{
    const char *what = getenv(variable);

    sgc_assert(machine != NULL && set != NULL);
    return what != NULL && what[0] != '\0' && set(machine, what) != 0 ? variable : NULL;
}

static const char *tell_all(const struct hwloc *h, hwloc_topology_t machine)
{
    const char *ignored = tell(machine, h->topology_set_synthetic, "HWLOC_SYNTHETIC");

    return ignored != NULL ? ignored : tell(machine, h->topology_set_xml, "HWLOC_XMLFILE");
}

/* The whole machine, since its size is the question, not what this process may use.  All types of
 * objects that hwloc keeps by itself: without the others a node's set of processors is that of the
 * whole machine. */
static bool load(const struct hwloc *h, hwloc_topology_t *machine, const char **ignored)
{
    const char *xml = getenv("HWLOC_XMLFILE");

    sgc_assert(*ignored == NULL);
    if (h->topology_init(machine) != 0)
        return false;
    *ignored = tell_all(h, *machine);
    if (h->topology_set_flags(*machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 && h->topology_load(*machine) == 0)
        return true;
    h->topology_destroy(*machine);
    if (*ignored == NULL && xml != NULL && xml[0] != '\0')
        *ignored = "HWLOC_XMLFILE";
    return false;
}

/* ---- nodes ---- */

static hwloc_obj_t node_at(const struct hwloc *h, hwloc_topology_t machine, unsigned i)
{
    return h->get_obj_by_depth(machine, HWLOC_TYPE_DEPTH_NUMANODE, i);
}

/* The node with the lowest number that is not below `from`; NULL: there is none.  hwloc has another
 * order. */
static hwloc_obj_t next_node(const struct hwloc *h, hwloc_topology_t machine, unsigned from)
{
    hwloc_obj_t lowest = NULL, node;

    for (unsigned i = 0; (node = node_at(h, machine, i)) != NULL; i++) {
        sgc_assert(node->type == HWLOC_OBJ_NUMANODE);
        if (node->os_index >= from && (lowest == NULL || node->os_index < lowest->os_index))
            lowest = node;
    }
    return lowest;
}

/* A topology that was made up may say nothing of memory; what says something says 0 of nodes that
 * have none. */
static bool says_memory(const struct hwloc *h, hwloc_topology_t machine)
{
    hwloc_obj_t node;

    for (unsigned i = 0; (node = node_at(h, machine, i)) != NULL; i++)
        if (node->attr->numanode.local_memory != 0)
            return true;
    return false;
}

static void add_nodes(const struct hwloc *h, hwloc_topology_t machine, struct sgc_topology *t)
{
    hwloc_const_nodeset_t allowed = h->topology_get_allowed_nodeset(machine);
    bool says = says_memory(h, machine);
    hwloc_obj_t node;

    sgc_assert(allowed != NULL && t->nodes == 0 && t->others == 0);
    for (unsigned from = 0; (node = next_node(h, machine, from)) != NULL; from = node->os_index + 1) {
        uint64_t bytes = node->attr->numanode.local_memory;
        int index = sgc_topology_add_node(t, (int)node->os_index, bytes != 0 || !says,
                                          h->bitmap_isset(allowed, node->os_index) != 0);

        sgc_assert(index == SGC_NO_NODE || index == t->nodes - 1);
        if (index != SGC_NO_NODE)
            t->bytes[index] = bytes;
    }
}

static void add_matrix(struct sgc_topology *t, const struct hwloc_distances_s *d)
{
    sgc_assert(d->nbobjs == 0 || (d->objs != NULL && d->values != NULL));
    for (unsigned i = 0; i < d->nbobjs; i++)
        for (unsigned j = 0; j < d->nbobjs; j++)
            if (d->objs[i] != NULL && d->objs[j] != NULL && d->values[i * d->nbobjs + j] < 256)
                sgc_topology_add_distance(t, (int)d->objs[i]->os_index, (int)d->objs[j]->os_index,
                                          (unsigned)d->values[i * d->nbobjs + j]);
}

static void add_distances(const struct hwloc *h, hwloc_topology_t machine, struct sgc_topology *t)
{
    struct hwloc_distances_s *d = NULL;
    unsigned one = 1;

    if (h->distances_get_by_type(machine, HWLOC_OBJ_NUMANODE, &one, &d, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        one == 0 || d == NULL)
        return;
    add_matrix(t, d);
    h->distances_release(machine, d);
}

/* ---- processors ---- */

static void add_cpus(const struct hwloc *h, hwloc_obj_t node, struct sgc_topology *t)
{
    int index = sgc_topology_find(t, (int)node->os_index);

    if (index == SGC_NO_NODE || node->cpuset == NULL)
        return;
    sgc_assert(index >= 0 && index < SGC_NODES_MAX);
    for (int i = h->bitmap_first(node->cpuset); i >= 0 && i < SGC_NUMBERS; i = h->bitmap_next(node->cpuset, i))
        sgc_topology_add_cpu(t, i, index);
}

/* The nodes whose processors are exactly so many.  Several nodes may say that they are near a
 * processor, if some are memory for a group of others: the one with the fewest processors has
 * it. */
static void add_cpus_of(const struct hwloc *h, hwloc_topology_t machine, struct sgc_topology *t, int weight)
{
    hwloc_obj_t node;

    sgc_assert(weight > 0);
    for (unsigned from = 0; (node = next_node(h, machine, from)) != NULL; from = node->os_index + 1)
        if (node->cpuset != NULL && h->bitmap_weight(node->cpuset) == weight)
            add_cpus(h, node, t);
}

static int next_weight(const struct hwloc *h, hwloc_topology_t machine, int above)
{
    int lowest = -1;
    hwloc_obj_t node;

    sgc_assert(above >= 0);
    for (unsigned i = 0; (node = node_at(h, machine, i)) != NULL; i++) {
        int weight = node->cpuset != NULL ? h->bitmap_weight(node->cpuset) : 0;

        if (weight > above && (lowest < 0 || weight < lowest))
            lowest = weight;
    }
    return lowest;
}

static hwloc_obj_t core_of(hwloc_obj_t object)
{
    while (object != NULL && object->type != HWLOC_OBJ_CORE)
        object = object->parent;
    return object;
}

static void add_cores(const struct hwloc *h, hwloc_topology_t machine, struct sgc_topology *t)
{
    int depth = h->get_type_depth(machine, HWLOC_OBJ_PU);
    hwloc_obj_t pu;

    sgc_assert(depth >= 0);         /* hwloc never leaves processors out */
    for (unsigned i = 0; (pu = h->get_obj_by_depth(machine, depth, i)) != NULL; i++) {
        hwloc_obj_t core = core_of(pu);

        sgc_topology_add_cpu(t, (int)pu->os_index, 0);          /* if no node claims it */
        sgc_topology_add_to_core(t, (int)pu->os_index,
                                 core != NULL ? h->bitmap_first(core->cpuset) : (int)pu->os_index);
    }
}

static void read_machine(const struct hwloc *h, hwloc_topology_t machine, struct sgc_topology *t)
{
    sgc_topology_begin(t, "hwloc");
    t->synthetic = !h->topology_is_thissystem(machine);
    add_nodes(h, machine, t);
    add_distances(h, machine, t);
    for (int weight = 0; (weight = next_weight(h, machine, weight)) > 0;)
        add_cpus_of(h, machine, t, weight);
    add_cores(h, machine, t);
    sgc_topology_end(t);
}

bool sgc_topology_has_hwloc(void)
{
    return true;
}

void sgc_topology_read(struct sgc_topology *t)
{
    struct hwloc h;
    hwloc_topology_t machine;
    const char *ignored = NULL;

    if (load_library(&h) && load(&h, &machine, &ignored)) {
        read_machine(&h, machine, t);
        h.topology_destroy(machine);
    } else {
        sgc_topology_read_allowed(t, "/sys", "/proc/self/status");
        sgc_topology_read_cores(t, "/sys");
    }
    t->ignored = ignored;
}
