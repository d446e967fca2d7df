/* SPDX-License-Identifier: MIT */
/*
 * Placement by the system calls of Linux, without libnuma.  See platform/nodes/placement.h for who
 * writes what.
 *
 * mbind takes masks of the system's numbers of nodes, move_pages and getcpu answer with such
 * numbers; two tables here lead from one kind of number to the other.
 */
#include "platform/nodes/placement.h"

#include <linux/mempolicy.h>
#include <string.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum {
    OS_NODES_MAX = 1024,                        /* Linux can be built for no more */
    BITS = 8 * sizeof(unsigned long),
};

struct nodes {
    int count;                                  /* 0: not said, which is as 1 */
    short os_number[SGC_NODES_MAX];
    unsigned char nearest[OS_NODES_MAX];        /* by the system's number: the node itself, or the
                                                   nearest with memory */
    unsigned char known[OS_NODES_MAX];          /* it is one of ours */
    unsigned long all[OS_NODES_MAX / BITS];
};

static struct nodes nodes;
SGC_STATE_LARGE(nodes);
static struct sgc_number_set at_start;
SGC_STATE_LARGE(at_start);
static struct sgc_topology machine;
SGC_STATE_LARGE(machine);

/* ---- the system calls ---- */

static long system_mbind(void *start, size_t bytes, int mode, const unsigned long *mask, size_t bits)
{
    return sgc_syscall6(SYS_mbind, (long)start, (long)bytes, mode, (long)mask, (long)bits, 0);
}

static long system_move_pages(size_t pages, void *const *page, int *status)
{
    return sgc_syscall6(SYS_move_pages, 0, (long)pages, (long)page, 0, (long)status, 0);
}

static long system_getcpu(unsigned *processor, unsigned *node)
{
    return sgc_syscall(SYS_getcpu, (long)processor, (long)node, 0, 0);
}

static long system_setaffinity(size_t bytes, const unsigned long *mask)
{
    return sgc_syscall(SYS_sched_setaffinity, 0, (long)bytes, (long)mask, 0);
}

static long system_getaffinity(size_t bytes, unsigned long *mask)
{
    return sgc_syscall(SYS_sched_getaffinity, 0, (long)bytes, (long)mask, 0);
}

SGC_STATE struct sgc_placement_hooks sgc_placement_hooks = {
    system_mbind, system_move_pages, system_getcpu, system_setaffinity, system_getaffinity,
};

/* Only a refusal touches errno. */
static bool done(long result)
{
    if (result < 0)
        errno = (int)-result;
    return result >= 0;
}

/* ---- the nodes ---- */

static void add_node(int number)
{
    if (number < 0 || number >= OS_NODES_MAX)
        return;
    sgc_assert(nodes.count < SGC_NODES_MAX && !nodes.known[number]);
    nodes.all[number / BITS] |= 1ul << number % BITS;
    nodes.known[number] = true;
    nodes.nearest[number] = (unsigned char)nodes.count;
    nodes.os_number[nodes.count++] = (short)number;
}

static void check_nodes(void)
{
    sgc_assert(nodes.count >= 0 && nodes.count <= SGC_NODES_MAX);
    for (int i = 0; i < nodes.count; i++) {
        sgc_assert(nodes.os_number[i] >= 0 && nodes.os_number[i] < OS_NODES_MAX);
        sgc_assert(nodes.known[nodes.os_number[i]]);
        sgc_assert(nodes.nearest[nodes.os_number[i]] == i);
    }
}

void sgc_placement_use(const struct sgc_topology *topology)
{
    sgc_assert(topology->others >= 0 && topology->others <= SGC_NODES_MAX);
    sgc_assert(topology->nodes >= 1 && topology->nodes <= SGC_NODES_MAX);
    if (topology->nodes == 1 && nodes.count <= 1)
        return;
    memset(&nodes, 0, sizeof nodes);
    if (topology->nodes == 1 || topology->synthetic)
        return;
    if (topology != &machine)
        machine = *topology;
    for (int i = 0; i < topology->nodes; i++)
        add_node(topology->os_index[i]);
    for (int i = 0; i < topology->others; i++) {
        sgc_assert(topology->other[i].os_index >= 0);
        sgc_assert(topology->other[i].nearest >= 0 && topology->other[i].nearest < topology->nodes);
        if (topology->other[i].os_index < OS_NODES_MAX)
            nodes.nearest[topology->other[i].os_index] = (unsigned char)topology->other[i].nearest;
    }
    check_nodes();
}

void sgc_placement_start(void)
{
    if (!sgc_topology_several("/sys"))
        return;
    sgc_topology_read_allowed(&machine, "/sys", "/proc/self/status");
    sgc_placement_use(&machine);
}

const struct sgc_topology *sgc_placement_topology(void)
{
    return nodes.count > 1 ? &machine : NULL;
}

int sgc_nodes(void)
{
    return nodes.count > 1 ? nodes.count : 1;
}

int sgc_node_number(int node)
{
    sgc_assert(node >= 0 && node < sgc_nodes());
    return nodes.os_number[node];
}

int sgc_node_here(void)
{
    unsigned node;

    sgc_assert(sgc_placement_hooks.getcpu != NULL);
    if (nodes.count <= 1 || sgc_placement_hooks.getcpu(NULL, &node) < 0 || node >= OS_NODES_MAX)
        return 0;
    return nodes.nearest[node];
}

/* ---- memory ---- */

/* The kernel reads one bit less than it is told of. */
static bool bind_memory(void *start, size_t bytes, int mode, const unsigned long *mask)
{
    sgc_assert(mask != NULL && sgc_placement_hooks.mbind != NULL);
    sgc_assert((uintptr_t)start % sgc_os_page_size() == 0 && bytes % sgc_os_page_size() == 0);
    return done(sgc_placement_hooks.mbind(start, bytes, mode, mask, OS_NODES_MAX + 1));
}

bool sgc_memory_prefer(void *start, size_t bytes, int node)
{
    unsigned long mask[OS_NODES_MAX / BITS] = { 0 };

    sgc_assert(node >= 0 && node < sgc_nodes());
    if (nodes.count <= 1)
        return true;
    mask[nodes.os_number[node] / BITS] |= 1ul << nodes.os_number[node] % BITS;
    return bind_memory(start, bytes, MPOL_PREFERRED, mask);
}

bool sgc_memory_interleave(void *start, size_t bytes)
{
    return nodes.count <= 1 || bind_memory(start, bytes, MPOL_INTERLEAVE, nodes.all);
}

static int node_of_status(int status)
{
    return status >= 0 && status < OS_NODES_MAX && nodes.known[status] ? nodes.nearest[status] : -1;
}

bool sgc_memory_nodes(void *const *page, size_t pages, int *node)
{
    sgc_assert(pages == 0 || (page != NULL && node != NULL));
    if (nodes.count <= 1) {
        memset(node, 0, pages * sizeof *node);
        return true;
    }
    sgc_assert(sgc_placement_hooks.move_pages != NULL);
    if (!done(sgc_placement_hooks.move_pages(pages, page, node)))
        return false;
    for (size_t i = 0; i < pages; i++)
        node[i] = node_of_status(node[i]);
    return true;
}

/* ---- threads ---- */

bool sgc_thread_bind(const struct sgc_number_set *set)
{
    sgc_assert(set != NULL && sgc_placement_hooks.setaffinity != NULL);
    return done(sgc_placement_hooks.setaffinity(sizeof set->bits, set->bits));
}

bool sgc_thread_processors(struct sgc_number_set *set)
{
    sgc_assert(set != NULL && sgc_placement_hooks.getaffinity != NULL);
    sgc_number_set_clear(set);
    return done(sgc_placement_hooks.getaffinity(sizeof set->bits, set->bits));
}

int sgc_processor_here(void)
{
    unsigned processor;

    if (sgc_placement_hooks.getcpu(&processor, NULL) < 0 || processor >= SGC_NUMBERS)
        return -1;
    return (int)processor;
}

bool sgc_placement_keep_mask(void)
{
    return sgc_thread_processors(&at_start);
}

const struct sgc_number_set *sgc_process_processors(void)
{
    return &at_start;
}
