/* SPDX-License-Identifier: MIT */
/* On which memory node objects and their mark bits would be. */
#include "perfmodel/model/homes.h"

#define SGC_MARK_BITS UINT64_C(0x7000000000000000) /* no heap lies there */

static bool is_interleaved(const struct sgc_homes *h)
{
    return h->machine->placement == SGC_PLACED_INTERLEAVED;
}

static uint32_t in_turn(const struct sgc_homes *h, uint64_t address, double unit)
{
    sgc_assert(unit >= 1);
    return (uint32_t)(address / (uint64_t)unit % (uint64_t)h->machine->nodes);
}

static uint32_t node_of_arena(const struct sgc_homes *h, uint64_t offset)
{
    int node = h->graph->node[offset >> h->graph->geometry.arena_log];

    sgc_assert(offset >> h->graph->geometry.arena_log < h->graph->arenas);
    return node < 0 ? 0 : (uint32_t)node % (uint32_t)h->machine->nodes;
}

/* Threads are numbered from 1; a page of a made-up graph is nobody's. */
static uint32_t node_of_page(const struct sgc_homes *h, uint32_t page)
{
    uint32_t thread = h->graph->page[page].home;

    sgc_assert(page < h->graph->pages);
    return sgc_machine_node_of(h->machine, thread > 0 ? thread - 1 : 0);
}

uint32_t sgc_home_of_byte(const struct sgc_homes *h, uint32_t object, uint64_t byte)
{
    uint64_t offset;

    sgc_assert(object < h->graph->objects);
    offset = h->graph->object[object].offset + byte;
    if (is_interleaved(h))
        return in_turn(h, offset, sgc_machine_last(h->machine)->line_bytes);
    if (h->graph->nodes > 1 && h->graph->node != NULL)
        return node_of_arena(h, offset);
    return node_of_page(h, sgc_graph_page_of(h->graph, object));
}

static uint64_t bit_offset(const struct sgc_homes *h, uint32_t object)
{
    return h->graph->object[object].offset >> h->graph->geometry.granule_log >> 3;
}

uint64_t sgc_mark_bit_address(const struct sgc_homes *h, uint32_t object)
{
    sgc_assert(object < h->graph->objects);
    return SGC_MARK_BITS + bit_offset(h, object);
}

uint32_t sgc_home_of_mark_bit(const struct sgc_homes *h, uint32_t object)
{
    if (is_interleaved(h))
        return in_turn(h, bit_offset(h, object), sgc_machine_last(h->machine)->line_bytes);
    if (h->balanced)
        return in_turn(h, bit_offset(h, object), h->machine->tlb.page_bytes);
    return sgc_home_of_byte(h, object, 0);
}
