/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/found_nodes.c on made-up machines: what is counted where when everything is where it was meant to be, when it is
 * not, and when the system does not say.  Each case has a heap of its own, in a child.
 */
#include "alloc/pages/found_nodes.h"

#include <errno.h>

#include "alloc/pages/homes.h"
#include "tests/lib/child.h"
#include "tests/lib/fake_nodes.h"
#include "tests/lib/heap.h"

static struct sgc_found_nodes f;

static void start(int nodes, enum sgc_numa numa)
{
    struct sgc_heap_config config = { .reserve = (size_t)1 << 30, .numa = numa };

    fake_nodes_begin(nodes);
    heap_start_with(&config);
    for (int node = 1; node < nodes; node++) {
        bool zero;

        fake_nodes.here = node;
        sgc_pool_take((uint32_t)node * SGC_ARENA_PAGES, &sgc_self->section, &zero);
    }
}

static size_t heap_pages(void)
{
    return sgc_pool.committed * (SGC_ARENA / sgc_heap.os_page);
}

static size_t pages_of_home(int node)
{
    size_t n = 0;

    for (uint32_t a = 0; a < sgc_pool.committed; a++)
        n += sgc_heap.arenas[a].home == node;
    return n * (SGC_ARENA / sgc_heap.os_page);
}

/* ---- ranges ---- */

static int third(const char *page)
{
    return (uintptr_t)page / sgc_os_page_size() % 3 == 0 ? -ENOENT : 1;
}

/* Two of three pages are there, all on node 1: more than are asked about at once, not from a page's beginning. */
static int parts(void)
{
    static char memory[3000 * 4096];
    char *from = memory + 300;
    size_t there = 0, os_page = sgc_os_page_size();

    start(2, SGC_NUMA_OFF);
    fake_nodes.found = third;
    for (uintptr_t page = sgc_round_down((uintptr_t)from, os_page); page < (uintptr_t)memory + sizeof memory; page += os_page)
        there += third((char *)page) == 1;
    if (!sgc_found_add(&f, from, sizeof memory - 300, 1) || f.found[0] != 0 || f.found[1] != there)
        return 1;
    if (f.meant[1] != there || f.right != there || !sgc_found_add(&f, from, os_page, 0) || !sgc_found_add(&f, from, 0, 0))
        return 2;
    sgc_found_sum_up(&f);
    return f.right == there && f.meant[0] + f.meant[1] == f.found[1] ? 0 : 3;
}

static int on_first(TEST_UNUSED const char *page)
{
    return 0;
}

/* Ten pages that were to be on four nodes in turn are all on one: three are right. */
static int in_turn(void)
{
    static const size_t share[] = { 3, 3, 2, 2 };

    start(4, SGC_NUMA_OFF);
    fake_nodes.found = on_first;
    if (!sgc_found_add(&f, (void *)sgc_heap.base, 10 * sgc_heap.os_page, SGC_MEANT_IN_TURN))
        return 1;
    sgc_found_sum_up(&f);
    for (int node = 0; node < 4; node++)
        if (f.meant[node] != share[node])
            return 2;
    return f.found[0] == 10 && sgc_found_total(f.found) == 10 && f.right == 3 ? 0 : 3;
}

/* ---- the heap and its tables ---- */

static const struct machine {
    int nodes;
    enum sgc_numa numa;
    const char *name;
} machines[] = {
    { 2, SGC_NUMA_BALANCED, "balanced" }, { 4, SGC_NUMA_BALANCED, "balanced" }, { 8, SGC_NUMA_BALANCED, "balanced" },
    { 2, SGC_NUMA_LOCAL, "local" }, { 4, SGC_NUMA_LOCAL, "local" }, { 8, SGC_NUMA_LOCAL, "local" },
    { 4, SGC_NUMA_INTERLEAVE_HEAP, "interleave-heap" },
};
static const struct machine *machine;

/* On a machine that does what it is told all is right; in turn, as even as it can be. */
static bool all_right(enum sgc_found_part part, size_t pages)
{
    size_t total;

    memset(&f, 0, sizeof f);
    if (!sgc_found_add_part(&f, part))
        return false;
    sgc_found_sum_up(&f);
    total = sgc_found_total(f.found);
    return (pages == 0 || total == pages) && sgc_found_total(f.meant) == total && f.right + (size_t)machine->nodes >= total;
}

static int as_told(void)
{
    size_t bits;

    start(machine->nodes, machine->numa);
    bits = heap_pages() / 64 + heap_pages() / 128;
    if (!all_right(SGC_FOUND_TABLES, 0) || sgc_found_total(f.found) < 4)
        return 1;
    if (!all_right(SGC_FOUND_BITS, bits) || (machine->numa == SGC_NUMA_LOCAL && f.right != bits))
        return 2;
    if (!all_right(SGC_FOUND_HEAP, heap_pages()))
        return 3;
    for (int node = 0; machine->numa != SGC_NUMA_INTERLEAVE_HEAP && node < machine->nodes; node++)
        if (f.found[node] != pages_of_home(node) || f.meant[node] != f.found[node] || f.found[node] == 0)
            return 4;
    return 0;
}

static int astray(void)
{
    start(4, SGC_NUMA_BALANCED);
    fake_nodes.found = on_first;
    if (!sgc_found_add_part(&f, SGC_FOUND_HEAP))
        return 1;
    sgc_found_sum_up(&f);
    for (int node = 0; node < 4; node++)
        if (f.meant[node] != pages_of_home(node) || f.found[node] != (node == 0 ? heap_pages() : 0))
            return 2;
    return f.right == pages_of_home(0) ? 0 : 3;
}

static int left_to_the_system(void)
{
    start(4, SGC_NUMA_OFF);
    fake_nodes.found = on_first;
    if (!sgc_found_add_part(&f, SGC_FOUND_HEAP) || !sgc_found_add_part(&f, SGC_FOUND_BITS) ||
        !sgc_found_add_part(&f, SGC_FOUND_TABLES))
        return 1;
    sgc_found_sum_up(&f);
    return sgc_found_total(f.meant) == 0 && f.right == 0 && f.found[0] > heap_pages() ? 0 : 2;
}

static int unsaid(void)
{
    start(2, SGC_NUMA_BALANCED);
    fake_nodes.refusal = -EPERM;
    errno = 0;
    return !sgc_found_add_part(&f, SGC_FOUND_HEAP) && errno == EPERM && !sgc_found_add_part(&f, SGC_FOUND_BITS) &&
           !sgc_found_add_part(&f, SGC_FOUND_TABLES) ? 0 : 1;
}

int main(void)
{
    child_ok(parts, "a range is looked at whole, in pieces, and only what is there counts");
    child_ok(in_turn, "pages on all nodes in turn are to be as many on each");
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        machine = &machines[i];
        child_ok(as_told, "%d nodes, %s: heap, bits and tables are found where they are meant to be", machine->nodes,
                 machine->name);
    }
    child_ok(astray, "what is on the wrong node is told apart from what is right");
    child_ok(left_to_the_system, "SGC_NUMA=off: nothing was meant, and all is found");
    child_ok(unsaid, "a system that does not say");
    return tap_done();
}
