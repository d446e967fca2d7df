/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/homes.c on made-up machines of one to eight nodes: which ranges are bound where under each SGC_NUMA, before
 * anybody touches them, in how many pieces; refusals; and that one node costs no call.  Each case has a heap of its own, in a
 * child.
 *
 * Also: alloc/pages/homes.c.
 */
#include "alloc/pages/homes.h"

#include <errno.h>

#include "tests/lib/child.h"
#include "tests/lib/fake_nodes.h"
#include "tests/lib/heap.h"
#include "tests/lib/proc.h"

static struct sgc_section *self;

static void start(int nodes, enum sgc_numa numa, size_t reserve)
{
    struct sgc_heap_config config = { .reserve = reserve, .numa = numa, .huge_pages = SGC_HUGE_AUTO, .spare_pages = 128 };

    fake_nodes_begin(nodes);
    fake_nodes.here = nodes - 1;
    heap_start_with(&config);
    self = &sgc_self->section;
}

/* The heap grows for a thread on that node. */
static uint32_t grow_on(int node, uint32_t pages)
{
    bool zero;

    fake_nodes.here = node;
    return sgc_pool_take(pages, self, &zero);
}

/* Each node in turn needs an arena. */
static void grow_on_each(int nodes)
{
    for (int i = 0; i < 3 * nodes; i++)
        grow_on(i % nodes, SGC_ARENA_PAGES);
}

/* ---- what is bound where ---- */

/* The first and the last byte of the entries that a table has for an arena. */
static bool entry_bound(const void *table, size_t entry, uint32_t arena, int where)
{
    const char *first = (const char *)table + arena * entry;

    return fake_bound(first) == where && fake_bound(first + entry - 1) == where;
}

static bool bits_bound(uint32_t arena, int where)
{
    size_t words = SGC_ARENA_PAGES * SGC_PAGE_WORDS * sizeof(sgc_aw_t);

    return entry_bound(sgc_heap.bits, SGC_BITMAPS * words, arena, where) &&
           entry_bound(sgc_heap.remote_bits, words, arena, where);
}

static bool records_bound(uint32_t arena, int where)
{
    return entry_bound(sgc_heap.pages, SGC_ARENA_PAGES * sizeof *sgc_heap.pages, arena, where) &&
           entry_bound(sgc_heap.records, SGC_ARENA_PAGES * sizeof *sgc_heap.records, arena, where) &&
           entry_bound(sgc_heap.arenas, sizeof *sgc_heap.arenas, arena, where) &&
           entry_bound(sgc_heap.span_bits, 2 * sizeof *sgc_heap.span_bits, arena, where);
}

/* Tables outside the heap's addresses: of free page lists, live pages, caches and spare spans. */
static uint32_t owners_tables(void)
{
    const char *start = (const char *)sgc_heap.base;
    const char *end = (const char *)(sgc_heap.span_bits + 2 * sgc_heap.reserved / SGC_ARENA);
    uint32_t n = 0;

    for (uint32_t i = 0; i < fake_nodes.bindings; i++)
        if (fake_nodes.binding[i].start < start || fake_nodes.binding[i].start >= end)
            n += fake_nodes.binding[i].node == FAKE_INTERLEAVED;
    return n;
}

static const struct layout {
    int nodes;
    enum sgc_numa numa;
    const char *name;
    bool homes, bits_at_home, heap_in_turn;
} layouts[] = {
    { 2, SGC_NUMA_BALANCED, "balanced", true, false, false },
    { 4, SGC_NUMA_BALANCED, "balanced", true, false, false },
    { 8, SGC_NUMA_BALANCED, "balanced", true, false, false },
    { 2, SGC_NUMA_LOCAL, "local", true, true, false },
    { 4, SGC_NUMA_LOCAL, "local", true, true, false },
    { 8, SGC_NUMA_LOCAL, "local", true, true, false },
    { 2, SGC_NUMA_INTERLEAVE_HEAP, "interleave-heap", false, false, true },
    { 8, SGC_NUMA_INTERLEAVE_HEAP, "interleave-heap", false, false, true },
};

static const struct layout *layout;

static int laid_out(void)
{
    start(layout->nodes, layout->numa, (size_t)1 << 30);
    grow_on_each(layout->nodes);
    if (sgc_heap.homes != (layout->homes ? (uint32_t)layout->nodes : 1) || sgc_pool.committed < 3 * (uint32_t)layout->nodes)
        return 1;
    for (uint32_t a = 0; a < sgc_pool.committed; a++) {
        int home = layout->homes ? sgc_heap.arenas[a].home : FAKE_INTERLEAVED;

        if (sgc_arena_node(a) != (layout->homes ? home : -1) ||
            !entry_bound((const void *)sgc_heap.base, SGC_ARENA, a, home))
            return 2;
        if (!bits_bound(a, layout->bits_at_home ? home : FAKE_INTERLEAVED) || !records_bound(a, FAKE_INTERLEAVED))
            return 3;
    }
    if (owners_tables() != 6 || fake_nodes.touched != 0 || sgc_homes_refused() != 0)
        return 4;
    sgc_heap_check();
    return 0;
}

/* Arena 0 is the starting thread's, the others are of who needed them. */
static int homes_of_threads(void)
{
    uint32_t page;

    start(4, SGC_NUMA_BALANCED, (size_t)1 << 30);
    if (sgc_heap.arenas[0].home != 3)
        return 1;
    for (int node = 0; node < 4; node++) {
        page = grow_on(node, 3 * SGC_ARENA_PAGES);
        if (sgc_heap.arenas[(page + 3 * SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES].home != node)
            return 2;
    }
    return 0;
}

static int expanded(void)
{
    struct sgc_taken taken[64];

    start(4, SGC_NUMA_LOCAL, (size_t)1 << 30);
    if (!sgc_pool_expand(20 * SGC_ARENA_PAGES, self) || sgc_pool.committed != 1)
        return 1;
    for (int node = 0; node < 4; node++) {
        fake_nodes.here = node;
        if (sgc_pool_take_singles(1, 64, taken, self) != 64)
            return 2;
        for (int i = 0; i < 64; i++)
            if (sgc_arena_of_page(taken[i].page)->home != node || fake_bound((void *)sgc_page_start(taken[i].page)) != node)
                return 3;
    }
    return sgc_aw_load(&sgc_pool.far) == 0 && sgc_aw_load(&sgc_pool.taken[SGC_SOURCE_FRESH]) == 256 ? 0 : 4;
}

/* Nodes in turn, until there are 4 GB: each change of home may be a mapping more, but not what is on all nodes. */
static int few_mappings(void)
{
    uint32_t changes = 0;

    start(4, SGC_NUMA_BALANCED, (size_t)8 << 30);
    while (sgc_pool.committed < 1024)
        if (grow_on((int)(sgc_pool.committed % 3), SGC_ARENA_PAGES) == SGC_NO_PAGE)
            return 1;
    for (uint32_t i = 0; i < fake_nodes.bindings; i++)
        changes += fake_nodes.binding[i].node != FAKE_INTERLEAVED;
    fprintf(stderr, "# %u bindings\n", changes);
    return changes < 80 ? 0 : 2;
}

static int no_huge_tables(void)
{
    start(2, SGC_NUMA_LOCAL, (size_t)1 << 30);
    if (proc_flag(sgc_heap.bits, " ") != 1)
        return CHILD_SKIPS;
    return proc_flag(sgc_heap.bits, " nh") == 1 && proc_flag(sgc_heap.remote_bits, " nh") == 1 &&
           proc_flag(sgc_heap.pages, " nh") == 1 && proc_flag(sgc_heap.records, " nh") == 1 ? 0 : 1;
}

/* ---- nothing to do ---- */

static int off(void)
{
    start(4, SGC_NUMA_OFF, (size_t)1 << 30);
    grow_on_each(4);
    return sgc_a32_load(&fake_nodes.calls) == 0 && sgc_heap.homes == 1 && sgc_arena_node(0) == -1 ? 0 : 1;
}

static int one_node(void)
{
    start(1, SGC_NUMA_BALANCED, (size_t)1 << 30);
    for (int i = 0; i < 10; i++)
        grow_on(0, SGC_ARENA_PAGES);
    return sgc_a32_load(&fake_nodes.calls) == 0 && sgc_heap.homes == 1 && sgc_arena_node(0) == -1 ? 0 : 1;
}

/* ---- refusals ---- */

/* The homes are meant all the same: by them the threads of a node touch the same arenas. */
static int refused(void)
{
    struct sgc_taken taken[8];

    fake_nodes.refusal = -EPERM;
    errno = 4711;
    start(2, SGC_NUMA_LOCAL, (size_t)1 << 30);
    for (int i = 0; i < 40; i++) {
        fake_nodes.here = i % 2;
        if (sgc_pool_take_singles(1 + (uint32_t)i % 2, 8, taken, self) != 8)
            return 1;
        for (int k = 0; k < 8; k++)
            if (sgc_arena_of_page(taken[k].page)->home != i % 2)
                return 2;
    }
    sgc_pool_check();
    return fake_nodes.bindings == 0 && sgc_homes_refused() == EPERM && errno == 4711 ? 0 : 3;
}

/* As when the process has too many mappings. */
static int refused_later(void)
{
    start(2, SGC_NUMA_BALANCED, (size_t)1 << 30);
    fake_nodes.refusal = -ENOMEM;
    grow_on_each(2);
    sgc_pool_check();
    return sgc_pool.committed > 2 ? 0 : 1;
}

int main(void)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        layout = &layouts[i];
        child_ok(laid_out, "%d nodes, %s: heap, bits and tables are bound as they are to be, untouched", layout->nodes,
                 layout->name);
    }
    child_ok(homes_of_threads, "an arena has its home where the thread runs that needed it");
    child_ok(expanded, "an arena that the program has asked for, too, and not before");
    child_ok(few_mappings, "a heap of 4 GB is bound in few pieces");
    child_ok(no_huge_tables, "no table is of huge pages");
    child_ok(off, "SGC_NUMA=off: no call");
    child_ok(one_node, "one node: no call");
    child_ok(refused, "refused: first touch, by threads of the home, and no trace in errno");
    child_ok(refused_later, "refused later: the heap grows all the same");
    return tap_done();
}
