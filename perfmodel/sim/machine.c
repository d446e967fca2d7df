/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/machine.h. */
#include "perfmodel/sim/machine.h"

#include <stddef.h>

#include "platform/report.h"

/* Costs of markers that have nothing to do, in ns: assumed, since machine files do not say them.
 * They decide little. */
enum { PAUSE = 40, YIELD = 500, SLEEP = 1000, WAKE = 1000, WOKEN = 5000 };

enum { LARGEST_PAGE = 1 << 20 };

static bool is_power(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static const char *check_memory(const struct sgc_sim_memory *memory)
{
    if (!(memory->occupied >= 0))
        return "a memory node is occupied for less than no time";
    if (!(memory->local >= memory->occupied))
        return "a request takes less time than it occupies the memory node";
    return memory->remote >= memory->local ? NULL : "a remote request takes less time than a local one";
}

const char *sgc_sim_machine_check(const struct sgc_sim_machine *m)
{
    const char *problem = NULL;

    if (m->nodes == 0 || m->nodes > SGC_SIM_NODES_MAX || m->per_node == 0 || m->near == 0)
        return "it has no memory nodes, or more than 256, or no processors on them";
    if (!is_power(m->line_bytes) || m->line_bytes < 16 || !is_power(m->os_page_bytes) || m->os_page_bytes < m->line_bytes ||
        m->os_page_bytes > LARGEST_PAGE)
        return "its lines or pages have an impossible size";
    if (m->ways == 0 || m->in_flight == 0 || m->cache_bytes < (uint64_t)m->line_bytes * m->ways)
        return "its caches have no room for a set of lines";
    for (int r = 0; r < SGC_SIM_REQUESTS && problem == NULL; r++)
        problem = check_memory(&m->memory[r]);
    return problem;
}

/* A piece of work is written and read in two halves.  The cost of an object (object_ns) is part of
 * marking it, which happens once. */
static struct sgc_sim_costs costs_of(const struct sgc_machine_costs *c)
{
    return (struct sgc_sim_costs){
        .word = c->word_ns, .edge = c->edge_ns, .mark = c->mark_ns + c->object_ns, .mark_shared = c->mark_rmw_ns + c->object_ns,
        .read = c->pop_ns / 2, .write = c->push_ns / 2, .update = c->lock_ns / 2, .pause = PAUSE, .yield = YIELD,
        .sleep = SLEEP, .wake = WAKE, .woken = WOKEN,
    };
}

static struct sgc_sim_memory memory_of(const struct sgc_machine *file, enum sgc_miss_class class)
{
    sgc_assert(class < SGC_MISS_CLASSES);
    return (struct sgc_sim_memory){
        file->latency_ns[class][SGC_NEAR], file->latency_ns[class][SGC_FAR], file->occupancy_ns[class],
    };
}

void sgc_sim_machine_of(const struct sgc_machine *file, bool by_owner, struct sgc_sim_machine *machine)
{
    const struct sgc_machine_cache *cache = sgc_machine_last(file);

    sgc_assert(file->nodes >= 1 && file->processors >= file->nodes && cache->shared_by >= 1);
    *machine = (struct sgc_sim_machine){
        .nodes = (uint32_t)file->nodes, .per_node = (uint32_t)(file->processors / file->nodes),
        .in_turn = file->placement == SGC_PLACED_INTERLEAVED, .line_bytes = (uint32_t)cache->line_bytes,
        .os_page_bytes = file->tlb.page_bytes < LARGEST_PAGE ? (uint32_t)file->tlb.page_bytes : LARGEST_PAGE,
        .cache_bytes = (uint64_t)(cache->bytes / cache->shared_by), .ways = (uint32_t)cache->ways,
        .in_flight = (uint32_t)file->misses_in_flight, .near = (uint32_t)cache->shared_by,
        .memory = { memory_of(file, SGC_MISS_READ), memory_of(file, SGC_MISS_RMW) },
        .distances = file->network == SGC_NETWORK_FLAT ? NULL : file, .costs = costs_of(&file->cost),
    };
    if (file->stream_mb_s > 0)
        machine->stream = cache->line_bytes * 1000 / file->stream_mb_s;
    for (int far = 0; far < 2 && by_owner; far++)
        machine->handover[far] = file->handover_ns[far];
}
