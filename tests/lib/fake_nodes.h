/* SPDX-License-Identifier: MIT */
/*
 * A made-up machine with several memory nodes, in place of the system calls of
 * platform/nodes/placement.h: the test says on which node the calling thread runs, and what is
 * refused; what is bound is written down and looked up again.
 *
 * The system's number of node n is 3 n + 1.
 */
#ifndef TESTS_LIB_FAKE_NODES_H
#define TESTS_LIB_FAKE_NODES_H

#include <linux/mempolicy.h>
#include <string.h>

#include "platform/nodes/placement.h"
#include "tests/lib/tap.h"

#define FAKE_LONG ((size_t)1 << 32)

enum { FAKE_BINDINGS = 4096, FAKE_INTERLEAVED = -2, FAKE_UNBOUND = -1 };

static struct {
    int nodes;
    int here;                       /* of all threads, */
    int (*where)(void);             /* or of the calling one, if it is not NULL */
    long refusal;                   /* of mbind and move_pages: a negative error number */
    sgc_a32_t calls;
    size_t touched;                 /* bytes of what was bound that were there already; long ranges are not asked about */
    uint32_t bindings;
    struct fake_binding {
        char *start;
        size_t bytes;
        int node;                   /* FAKE_INTERLEAVED: all */
    } binding[FAKE_BINDINGS];
    int (*found)(const char *page);     /* the node that a page is on, or a negative error number; NULL: as it is bound */
} fake_nodes;

static inline int fake_os_number(int node)
{
    return 3 * node + 1;
}

static int fake_node_of_mask(const unsigned long *mask)
{
    for (int node = 0; node < fake_nodes.nodes; node++)
        if (mask[fake_os_number(node) / 64] >> fake_os_number(node) % 64 & 1)
            return node;
    tap_bail("bound to no node");
    return -1;
}

static long fake_mbind(void *start, size_t bytes, int mode, const unsigned long *mask, size_t bits)
{
    sgc_a32_add(&fake_nodes.calls, 1);
    if (fake_nodes.refusal != 0)
        return fake_nodes.refusal;
    if (fake_nodes.bindings == FAKE_BINDINGS || bits < 64 || (mode != MPOL_PREFERRED && mode != MPOL_INTERLEAVE))
        tap_bail("binding %p for %zu bytes, mode %d", start, bytes, mode);
    if (bytes < FAKE_LONG)
        fake_nodes.touched += sgc_mem_resident(start, bytes);
    fake_nodes.binding[fake_nodes.bindings++] =
        (struct fake_binding){ start, bytes, mode == MPOL_INTERLEAVE ? FAKE_INTERLEAVED : fake_node_of_mask(mask) };
    return 0;
}

/* Where the last call for it has bound the page: a node, FAKE_INTERLEAVED or FAKE_UNBOUND. */
static int fake_bound(const void *address)
{
    for (uint32_t i = fake_nodes.bindings; i-- > 0;) {
        const struct fake_binding *b = &fake_nodes.binding[i];

        if ((const char *)address >= b->start && (const char *)address < b->start + b->bytes)
            return b->node;
    }
    return FAKE_UNBOUND;
}

/* Interleaved pages are on the nodes in turn. */
static int fake_found(const char *page)
{
    int bound = fake_bound(page);

    if (fake_nodes.found != NULL)
        return fake_nodes.found(page);
    return bound == FAKE_INTERLEAVED ? (int)((uintptr_t)page / sgc_os_page_size() % (size_t)fake_nodes.nodes) : bound;
}

static long fake_move_pages(size_t pages, void *const *page, int *status)
{
    sgc_a32_add(&fake_nodes.calls, 1);
    for (size_t i = 0; i < pages; i++) {
        int node = fake_found(page[i]);

        status[i] = node >= 0 ? fake_os_number(node) : node;
    }
    return fake_nodes.refusal;
}

static long fake_getcpu(unsigned *processor, unsigned *node)
{
    sgc_a32_add(&fake_nodes.calls, 1);
    if (processor != NULL)
        *processor = 0;
    if (node != NULL)
        *node = (unsigned)fake_os_number(fake_nodes.where != NULL ? fake_nodes.where() : fake_nodes.here);
    return 0;
}

/* From now on there are so many nodes; the calling thread runs on the first.  Once, before the collector or the heap is
 * started. */
TEST_UNUSED static void fake_nodes_begin(int nodes)
{
    struct sgc_topology topology = { .nodes = nodes, .cpus = 1, .source = "test" };

    fake_nodes.nodes = nodes;
    for (int node = 0; node < nodes; node++)
        topology.os_index[node] = fake_os_number(node);
    sgc_placement_hooks.mbind = fake_mbind;
    sgc_placement_hooks.move_pages = fake_move_pages;
    sgc_placement_hooks.getcpu = fake_getcpu;
    sgc_placement_use(&topology);
}

#endif
