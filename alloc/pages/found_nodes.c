/* SPDX-License-Identifier: MIT */
/* See alloc/pages/found_nodes.h. */
#include "alloc/pages/found_nodes.h"

#include "alloc/pages/homes.h"
#include "alloc/pages/page.h"

enum { PIECE = 512 };           /* OS pages asked about at once */

/* ---- any range ---- */

static void count_page(struct sgc_found_nodes *f, int node, int meant)
{
    sgc_assert(node < SGC_NODES_MAX && meant < SGC_NODES_MAX);
    if (node < 0)
        return;
    f->found[node]++;
    f->turn[node] += meant == SGC_MEANT_IN_TURN;
    f->right += meant == node;
    if (meant >= 0)
        f->meant[meant]++;
}

static bool add_piece(struct sgc_found_nodes *f, const char *start, size_t pages, int meant)
{
    void *page[PIECE] = { NULL };
    int node[PIECE];

    sgc_assert(pages != 0 && pages <= PIECE);
    for (size_t i = 0; i < pages; i++)
        page[i] = (void *)(uintptr_t)(start + i * sgc_os_page_size());
    if (!sgc_memory_nodes(page, pages, node))
        return false;
    for (size_t i = 0; i < pages; i++)
        count_page(f, node[i], meant);
    return true;
}

bool sgc_found_add(struct sgc_found_nodes *f, const void *start, size_t bytes, int meant)
{
    size_t os_page = sgc_os_page_size();
    const char *at = (const char *)sgc_round_down((uintptr_t)start, os_page);
    const char *end = (const char *)sgc_round_up((uintptr_t)start + bytes, os_page);

    while (at < end) {
        size_t left = (size_t)(end - at) / os_page, pages = left < PIECE ? left : PIECE;

        if (!add_piece(f, at, pages, meant))
            return false;
        at += pages * os_page;
    }
    return true;
}

void sgc_found_sum_up(struct sgc_found_nodes *f)
{
    size_t nodes = (size_t)sgc_nodes(), turn = sgc_found_total(f->turn);

    for (size_t node = 0; node < nodes; node++) {
        size_t share = turn / nodes + (node < turn % nodes);

        f->meant[node] += share;
        f->right += f->turn[node] < share ? f->turn[node] : share;
        f->turn[node] = 0;
    }
    sgc_assert(f->right <= sgc_found_total(f->found));
}

/* ---- the heap and its tables ---- */

static int meant_for_tables(void)
{
    return sgc_heap.config.numa == SGC_NUMA_OFF || sgc_nodes() == 1 ? SGC_MEANT_ANYWHERE : SGC_MEANT_IN_TURN;
}

static int meant_for_arena(uint32_t arena)
{
    return sgc_heap.homes > 1 ? sgc_arena_node(arena) : meant_for_tables();
}

static int meant_for_bits(uint32_t arena)
{
    return sgc_heap.config.numa == SGC_NUMA_LOCAL ? meant_for_arena(arena) : meant_for_tables();
}

static uint32_t arenas_now(void)
{
    return (uint32_t)(sgc_aw_load_acq(&sgc_heap.limit) / SGC_ARENA);
}

/* A table with that many bytes for an arena. */
static bool add_slices(struct sgc_found_nodes *f, const void *table, size_t entry, int (*meant)(uint32_t arena))
{
    uint32_t arenas = arenas_now();

    sgc_assert(entry % sgc_os_page_size() == 0);
    for (uint32_t a = 0; a < arenas; a++)
        if (!sgc_found_add(f, (const char *)table + a * entry, entry, meant(a)))
            return false;
    return true;
}

static bool add_bits(struct sgc_found_nodes *f)
{
    return add_slices(f, sgc_heap.bits, 2 * SGC_ARENA_BITMAP, meant_for_bits) &&
           add_slices(f, sgc_heap.remote_bits, SGC_ARENA_BITMAP, meant_for_bits);
}

static bool add_tables(struct sgc_found_nodes *f)
{
    size_t arenas = arenas_now();
    int meant = meant_for_tables();

    return sgc_found_add(f, sgc_heap.pages, arenas * SGC_ARENA_PAGES * sizeof *sgc_heap.pages, meant) &&
           sgc_found_add(f, sgc_heap.records, arenas * SGC_ARENA_PAGES * sizeof *sgc_heap.records, meant) &&
           sgc_found_add(f, sgc_heap.arenas, arenas * sizeof *sgc_heap.arenas, meant) &&
           sgc_found_add(f, sgc_heap.span_bits, arenas * 2 * sizeof *sgc_heap.span_bits, meant);
}

bool sgc_found_add_part(struct sgc_found_nodes *f, enum sgc_found_part part)
{
    switch (part) {
    case SGC_FOUND_HEAP:
        return add_slices(f, (const void *)sgc_heap.base, SGC_ARENA, meant_for_arena);
    case SGC_FOUND_BITS:
        return add_bits(f);
    default:
        sgc_assert(part == SGC_FOUND_TABLES);
        return add_tables(f);
    }
}
