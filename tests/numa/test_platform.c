/* SPDX-License-Identifier: MIT */
/*
 * platform/nodes/placement.h on real nodes, against this test's own system calls: which nodes there are, where memory comes
 * from, where threads run, and what a filter of system calls refuses.
 */
#include "platform/nodes/placement.h"

#include "tests/lib/child.h"
#include "tests/lib/refuse.h"
#include "tests/numa/nodes.h"

enum { BYTES = 4 * NODES_MB, PAGES = BYTES / NODES_PAGE };

static struct sgc_topology topology, by_hwloc;

static void touch(void *memory)
{
    for (size_t i = 0; i < BYTES; i += NODES_PAGE)
        ((volatile char *)memory)[i] = 1;
}

/* ---- which nodes ----------------------------------------------------------------------------------- */

static void test_nodes(void)
{
    int number = 0, known = 0;

    sgc_topology_read_allowed(&topology, "/sys", NULL);
    sgc_topology_read(&by_hwloc);
    for (int i = 0; i < nodes.count; i++)
        if (nodes.node[i].kilobytes > 0)
            known += number < topology.nodes && topology.os_index[number++] == i;
    tap_ok(topology.nodes == nodes.with_memory && known == number, "%d nodes with memory, and their numbers", topology.nodes);
    tap_ok(by_hwloc.nodes == topology.nodes && memcmp(by_hwloc.os_index, topology.os_index, sizeof topology.os_index) == 0,
           "%s says the same", by_hwloc.source);
    sgc_placement_use(&topology);
    tap_ok(sgc_nodes() == nodes.with_memory, "all of them are used");
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* How many of the pages the library finds on its node `index`. */
static int found_on(char *memory, int index)
{
    static void *page[PAGES];
    static int node[PAGES];
    int found = 0;

    for (int i = 0; i < PAGES; i++)
        page[i] = memory + (size_t)i * NODES_PAGE;
    if (!sgc_memory_nodes(page, PAGES, node))
        return -1;
    for (int i = 0; i < PAGES; i++)
        found += node[i] == index;
    return found;
}

static void test_preferred(int index)
{
    char *memory = nodes_memory(BYTES);
    struct nodes_spread spread;
    int number = topology.os_index[index];

    tap_ok(found_on(memory, -1) == PAGES, "node %d: what nobody has touched is on no node", number);
    tap_ok(sgc_memory_prefer(memory, BYTES, index), "memory is to be of it");
    touch(memory);
    spread = nodes_of_range(memory, BYTES);
    if (nodes_roomy(number))
        tap_ok(spread.on[number] == PAGES, "and is");
    else
        tap_ok(spread.there == PAGES, "and has come, from wherever it could");
    tap_ok(found_on(memory, index) == spread.on[number], "the library finds it where it is");
}

static void test_interleaved(void)
{
    char *memory = nodes_memory(BYTES);
    struct nodes_spread spread;

    madvise(memory, BYTES, MADV_NOHUGEPAGE);
    tap_ok(sgc_memory_interleave(memory, BYTES), "memory is to be of all nodes in turn");
    touch(memory);
    spread = nodes_of_range(memory, BYTES);
    tap_ok(nodes_all_roomy() ? nodes_even(&spread, 10) : spread.there == PAGES, "and is");
}

/* ---- threads ----------------------------------------------------------------------------------------- */

static void ask_node(void *answer)
{
    *(int *)answer = sgc_node_here();
}

static void test_here(void)
{
    for (int i = 0; i < nodes.count; i++) {
        int here = -1, number;

        if (nodes.node[i].processor < 0)
            continue;
        nodes_run_on(i, ask_node, &here);
        number = here >= 0 && here < topology.nodes ? topology.os_index[here] : -1;
        tap_ok(number == nodes_nearest(i), "a thread on node %d has memory of node %d", i, number);
    }
}

struct bound {
    const struct nodes_one *to;
    int runs_on;                /* -1: it is not bound */
};

static void bind_and_look(void *arg)
{
    struct bound *bound = arg;
    struct sgc_number_set wanted, got;

    sgc_number_set_clear(&wanted);
    for (int i = 0; i < bound->to->processors; i++)
        sgc_number_set_add(&wanted, (uint64_t)(bound->to->processor + i));
    if (sgc_thread_bind(&wanted) && sgc_thread_processors(&got) && memcmp(&wanted, &got, sizeof got) == 0)
        bound->runs_on = sched_getcpu();
}

static void test_bound(void)
{
    for (int i = 0; i < nodes.count; i++) {
        struct bound bound = { &nodes.node[i], -1 };

        if (bound.to->processor < 0)
            continue;
        nodes_run_on(0, bind_and_look, &bound);
        tap_ok(bound.runs_on >= bound.to->processor && bound.runs_on < bound.to->processor + bound.to->processors,
               "a thread is bound to node %d and runs there (processor %d)", i, bound.runs_on);
    }
}

/* ---- refused ------------------------------------------------------------------------------------------- */

static int refused(void)
{
    char *memory = nodes_memory(BYTES);
    int node;
    void *page = memory;

    if (!refuse_calls(SYS_mbind, SYS_move_pages, SYS_sched_setaffinity))
        return CHILD_SKIPS;
    errno = 0;
    if (sgc_memory_prefer(memory, BYTES, 1) || errno != EPERM || sgc_memory_interleave(memory, BYTES))
        return 1;
    touch(memory);
    if (sgc_memory_nodes(&page, 1, &node) || sgc_thread_bind(sgc_process_processors()))
        return 2;
    return memory[BYTES - NODES_PAGE] == 1 ? 0 : 3;
}

int main(void)
{
    nodes_need_several();
    test_nodes();
    for (int i = 0; i < topology.nodes; i++)
        test_preferred(i);
    tap_each(test_interleaved, test_here, test_bound);
    child_ok(refused, "a filter of system calls: it is said that nothing is placed, and memory can be used");
    return tap_done();
}
