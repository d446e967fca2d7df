/* SPDX-License-Identifier: MIT */
/* See perfmodel/sim/memory.h. */
#include "perfmodel/sim/memory.h"

#include <stdlib.h>

#include "perfmodel/sim/occupied.h"
#include "perfmodel/sim/prefetcher.h"
#include "platform/report.h"

enum { CHUNK_LOG = 20, NO_NODE = UINT16_MAX };

enum { NOBODY = 0, SEVERAL = UINT16_MAX };

/* Of a line: how often it was written; the only marker that has had it since, plus 1, or NOBODY, or
 * SEVERAL; has it been written by its owner? */
struct line {
    uint32_t version;
    uint16_t owner;
    bool written;
};

/* The lines of a megabyte, and where its OS pages are. */
struct chunk {
    struct line *line;
    uint16_t *home;
};

/* A cache's copy of a line; number 0: none, otherwise the line's plus 1. */
struct copy {
    uint64_t number, ready;
    uint32_t version, used;
};

struct cache {
    struct copy *copy;          /* set by set */
    uint64_t *flight;           /* when requests that were asked for are there */
    uint32_t flights, tick;
    struct sgc_sim_prefetcher prefetcher;
    struct sgc_sim_marker_figures figures;
};

static struct {
    struct sgc_sim_machine machine;
    struct sgc_sim_layout layout;
    struct sgc_sim_placement placement;
    bool contention;
    uint32_t markers;
    unsigned line_log, os_page_log;
    uint64_t sets;              /* a power of two */
    uint64_t *way[SGC_SIM_REQUESTS];            /* S_L, by the nodes of the marker and of the
                                                 * line */
    uint64_t occupied[SGC_SIM_REQUESTS], handover[2], stream;
    struct chunk *chunk;
    size_t chunks;
    struct cache *cache;
    struct sgc_sim_server server[SGC_SIM_NODES_MAX];
    struct sgc_sim_occupied times[SGC_SIM_NODES_MAX];   /* when they are busy */
} memory;

/* ---- beginning and ending ---- */

static uint64_t picoseconds(double ns)
{
    sgc_assert(ns >= 0);
    return (uint64_t)(ns * 1000 + 0.5);
}

static unsigned log_of(uint64_t power)
{
    sgc_assert(power != 0);
    return 63u - (unsigned)__builtin_clzll(power);
}

static double latency(const struct sgc_sim_machine *m, int request, uint32_t from, uint32_t to)
{
    if (m->distances != NULL)
        return sgc_machine_latency(m->distances, (enum sgc_miss_class)request, from, to);
    return from == to ? m->memory[request].local : m->memory[request].remote;
}

static bool set_times(const struct sgc_sim_machine *m)
{
    for (int r = 0; r < SGC_SIM_REQUESTS; r++) {
        memory.way[r] = calloc((size_t)m->nodes * m->nodes, sizeof *memory.way[r]);
        memory.occupied[r] = picoseconds(m->memory[r].occupied);
        for (uint32_t i = 0; memory.way[r] != NULL && i < m->nodes * m->nodes; i++)
            memory.way[r][i] = picoseconds((latency(m, r, i / m->nodes, i % m->nodes) - m->memory[r].occupied) / 2);
    }
    memory.stream = picoseconds(m->stream);
    memory.handover[0] = picoseconds(m->handover[0]);
    memory.handover[1] = picoseconds(m->handover[1]);
    return memory.way[SGC_SIM_REQUEST_READ] != NULL && memory.way[SGC_SIM_REQUEST_UPDATE] != NULL;
}

static bool make_cache(struct cache *cache)
{
    sgc_assert(memory.sets != 0 && memory.machine.ways != 0 && memory.machine.in_flight != 0);
    *cache = (struct cache){
        .copy = calloc(memory.sets * memory.machine.ways, sizeof *cache->copy),
        .flight = calloc(memory.machine.in_flight, sizeof *cache->flight),
    };
    return cache->copy != NULL && cache->flight != NULL;
}

bool sgc_sim_memory_begin(const struct sgc_sim_machine *machine, const struct sgc_sim_layout *layout,
                          const struct sgc_sim_placement *placement, uint32_t markers, bool contention)
{
    sgc_assert(sgc_sim_machine_check(machine) == NULL && markers != 0 && markers <= SGC_SIM_MARKERS_MAX);
    sgc_sim_memory_end();
    memory.machine = *machine;
    memory.layout = *layout;
    memory.placement = *placement;
    memory.contention = contention;
    memory.line_log = log_of(machine->line_bytes);
    memory.os_page_log = log_of(machine->os_page_bytes);
    memory.sets = UINT64_C(1) << log_of(machine->cache_bytes / machine->line_bytes / machine->ways);
    if (!set_times(machine))
        return false;
    memory.chunks = (layout->bytes >> CHUNK_LOG) + 1;
    memory.chunk = calloc(memory.chunks, sizeof *memory.chunk);
    memory.cache = calloc(markers, sizeof *memory.cache);
    for (uint32_t i = 0; memory.cache != NULL && i < markers; i++, memory.markers++)
        if (!make_cache(&memory.cache[i]))
            return false;
    return memory.chunk != NULL && memory.cache != NULL;
}

void sgc_sim_memory_end(void)
{
    for (size_t i = 0; i < memory.chunks && memory.chunk != NULL; i++) {
        free(memory.chunk[i].line);
        free(memory.chunk[i].home);
    }
    for (uint32_t i = 0; i < memory.markers; i++) {
        free(memory.cache[i].copy);
        free(memory.cache[i].flight);
    }
    for (int r = 0; r < SGC_SIM_REQUESTS; r++) {
        free(memory.way[r]);
        memory.way[r] = NULL;
    }
    free(memory.chunk);
    free(memory.cache);
    memory.chunk = NULL;
    memory.cache = NULL;
    memory.chunks = memory.markers = 0;
    for (int i = 0; i < SGC_SIM_NODES_MAX; i++) {
        memory.server[i] = (struct sgc_sim_server){ 0 };
        memory.times[i].count = 0;
    }
}

/* ---- lines and homes ---- */

/* There is no going on without memory for what is simulated. */
static void *need(size_t count, size_t bytes)
{
    void *result = calloc(count, bytes);

    if (result == NULL)
        sgc_fatal("no memory to simulate caches; simulate a smaller heap");
    return result;
}

static struct chunk *chunk_of(size_t offset)
{
    struct chunk *chunk = &memory.chunk[offset >> CHUNK_LOG];

    sgc_assert(offset < memory.layout.bytes);
    if (chunk->line != NULL)
        return chunk;
    chunk->line = need((size_t)1 << (CHUNK_LOG - memory.line_log), sizeof *chunk->line);
    chunk->home = need((size_t)1 << (CHUNK_LOG - memory.os_page_log), sizeof *chunk->home);
    for (size_t i = 0; i < (size_t)1 << (CHUNK_LOG - memory.os_page_log); i++)
        chunk->home[i] = NO_NODE;
    return chunk;
}

static struct line *line_at(size_t offset)
{
    return &chunk_of(offset)->line[(offset & ((1 << CHUNK_LOG) - 1)) >> memory.line_log];
}

bool sgc_sim_memory_has(size_t offset)
{
    return offset < memory.layout.bytes;
}

enum sgc_sim_region sgc_sim_region_of(size_t offset)
{
    const struct sgc_sim_layout *l = &memory.layout;

    if (offset < l->objects)
        return SGC_SIM_OBJECTS;
    if (offset >= l->bits && offset < l->bits_end)
        return SGC_SIM_BITS;
    return offset >= l->tables && offset < l->tables_end ? SGC_SIM_TABLES : SGC_SIM_OTHER;
}

uint32_t sgc_sim_node_of(uint32_t marker)
{
    sgc_assert(memory.machine.per_node != 0);
    return marker / memory.machine.per_node % memory.machine.nodes;
}

static uint32_t home_of_page(size_t page, size_t offset)
{
    sgc_assert(offset / memory.layout.page == page);
    switch (memory.placement.objects) {
    case SGC_SIM_ONE_NODE:
        return 0;
    case SGC_SIM_BY_PAGE:
        return memory.placement.home[page] % memory.machine.nodes;
    default:
        return (uint32_t)((offset >> memory.os_page_log) % memory.machine.nodes);
    }
}

static uint32_t home_of_table(size_t page, size_t offset)
{
    if (memory.placement.balance_bits)
        return (uint32_t)((offset >> memory.os_page_log) % memory.machine.nodes);
    return home_of_page(page, page * memory.layout.page);
}

/* Decided when an OS page is touched first, and then kept. */
static uint32_t first_home(uint32_t marker, size_t offset)
{
    const struct sgc_sim_layout *l = &memory.layout;

    switch (sgc_sim_region_of(offset)) {
    case SGC_SIM_OBJECTS:
        return home_of_page(offset / l->page, offset);
    case SGC_SIM_BITS:
        return home_of_table((offset - l->bits) / l->bits_per_page, offset);
    case SGC_SIM_TABLES:
        return home_of_table((offset - l->tables) / l->table_per_page, offset);
    default:
        return sgc_sim_node_of(marker);
    }
}

uint32_t sgc_sim_home_of(uint32_t marker, size_t offset)
{
    uint16_t *home;

    if (memory.machine.nodes == 1)
        return 0;
    if (memory.machine.in_turn)
        return (uint32_t)((offset >> memory.line_log) % memory.machine.nodes);
    home = &chunk_of(offset)->home[(offset & ((1 << CHUNK_LOG) - 1)) >> memory.os_page_log];
    if (*home == NO_NODE)
        *home = (uint16_t)first_home(marker, offset);
    return *home;
}

/* ---- caches ---- */

static struct copy *set_of(struct cache *cache, uint64_t line)
{
    return &cache->copy[(line & (memory.sets - 1)) * memory.machine.ways];
}

static struct copy *find(struct cache *cache, uint64_t line)
{
    struct copy *copy = set_of(cache, line), *end = copy + memory.machine.ways;

    for (; copy < end; copy++)
        if (copy->number == line + 1) {
            copy->used = ++cache->tick;
            return copy;
        }
    return NULL;
}

/* The place for a line: where an old copy of it is, or the copy that was used longest ago. */
static struct copy *place_for(struct cache *cache, uint64_t line)
{
    struct copy *oldest = set_of(cache, line), *end = oldest + memory.machine.ways;
    struct copy *same = find(cache, line);

    if (same != NULL)
        return same;
    for (struct copy *copy = oldest + 1; copy < end; copy++)
        if (copy->used < oldest->used)
            oldest = copy;
    oldest->used = ++cache->tick;
    return oldest;
}

bool sgc_sim_memory_hit(uint32_t marker, size_t offset, bool write, uint64_t now, uint64_t *ready)
{
    struct line *line = line_at(offset);
    const struct copy *copy = find(&memory.cache[marker], offset >> memory.line_log);

    sgc_assert(marker < memory.markers);
    if (copy == NULL || copy->version != line->version || (write && line->owner != marker + 1))
        return false;
    line->written |= write;
    *ready = copy->ready > now ? copy->ready : now;
    return true;
}

/* ---- memory nodes ---- */

static uint64_t way_to(uint32_t marker, uint32_t node, enum sgc_sim_request request)
{
    sgc_assert(node < memory.machine.nodes && request < SGC_SIM_REQUESTS);
    return memory.way[request][sgc_sim_node_of(marker) * memory.machine.nodes + node];
}

/* A request that is known at `now` arrives then.  When the node is through with it. */
static uint64_t serve(uint32_t marker, uint32_t node, enum sgc_sim_request request, uint64_t now, uint64_t arrival)
{
    struct sgc_sim_server *server = &memory.server[node];
    uint64_t start = arrival;

    sgc_assert(node < memory.machine.nodes && now <= arrival);
    if (memory.contention)
        start = sgc_sim_occupy(&memory.times[node], now, arrival, memory.occupied[request]);
    server->requests[request]++;
    server->busy += memory.occupied[request];
    server->waited += start - arrival;
    if (start - arrival > server->longest_wait)
        server->longest_wait = start - arrival;
    memory.cache[marker].figures.waited += start - arrival;
    return start + memory.occupied[request];
}

/* The time for which a line comes from the cache that has written it, where a machine does it so;
 * 0: it comes from its home. */
static uint64_t handed_over(uint32_t marker, const struct line *line)
{
    bool elsewhere = line->written && line->owner != marker + 1;

    sgc_assert(line->owner <= memory.markers || (line->owner == SEVERAL && !line->written));
    return elsewhere ? memory.handover[(line->owner - 1) / memory.machine.near != marker / memory.machine.near] : 0;
}

/* Has the prefetcher asked for the line already? */
static bool streams(uint32_t marker, size_t offset)
{
    return memory.stream != 0 &&
           sgc_sim_stream_of(&memory.cache[marker].prefetcher, offset >> memory.line_log) != SGC_SIM_STREAMS;
}

/* The marker has a copy from then on. */
static void keep(uint32_t marker, size_t offset, bool write, uint64_t done)
{
    struct line *line = line_at(offset);
    uint64_t number = offset >> memory.line_log;
    struct copy *copy = place_for(&memory.cache[marker], number);

    if (memory.stream != 0)
        sgc_sim_stream_goes_on(&memory.cache[marker].prefetcher, number);
    sgc_assert(marker < memory.markers);
    sgc_assert(copy->number == number + 1 || find(&memory.cache[marker], number) == NULL);
    if (write)
        line->version++;
    line->written = write || (line->written && line->owner == marker + 1);
    line->owner = write || line->owner == NOBODY || line->owner == marker + 1 ? (uint16_t)(marker + 1) : SEVERAL;
    *copy = (struct copy){ .number = number + 1, .ready = done, .version = line->version, .used = copy->used };
}

uint64_t sgc_sim_memory_way(uint32_t marker, size_t offset, enum sgc_sim_request request)
{
    if (handed_over(marker, line_at(offset)) != 0 || streams(marker, offset))
        return 0;
    return way_to(marker, sgc_sim_home_of(marker, offset), request);
}

/* When the marker has a line that it asks for at `now`, and whose request has `left` of its way to
 * the node still to go. */
static uint64_t answer(uint32_t marker, size_t offset, enum sgc_sim_request request, uint64_t now, uint64_t left)
{
    uint64_t handed = handed_over(marker, line_at(offset)), served;
    uint32_t node = sgc_sim_home_of(marker, offset);

    if (handed != 0)
        return now + handed;
    served = serve(marker, node, request, now, now + left);
    if (!streams(marker, offset))
        return served + way_to(marker, node, request);
    return served > now + memory.stream ? served : now + memory.stream;
}

uint64_t sgc_sim_memory_request(uint32_t marker, size_t offset, bool write, enum sgc_sim_request request, uint64_t now)
{
    uint64_t done = answer(marker, offset, request, now, 0);

    keep(marker, offset, write, done);
    memory.cache[marker].figures.misses[request]++;
    return done;
}

/* When one of those under way is there; the first, if none is by now.  Its place. */
static uint64_t *free_flight(struct cache *cache, uint64_t now)
{
    uint64_t *first = cache->flight;

    sgc_assert(memory.machine.in_flight > 1);
    for (uint32_t i = 0; i < memory.machine.in_flight && *first > now; i++)
        if (cache->flight[i] < *first)
            first = &cache->flight[i];
    return first;
}

uint64_t sgc_sim_memory_ask(uint32_t marker, size_t offset, bool write, uint64_t now)
{
    struct cache *cache = &memory.cache[marker];
    uint64_t *flight, ready, wait, way;

    sgc_assert(marker < memory.markers);
    if (memory.machine.in_flight <= 1 || sgc_sim_memory_hit(marker, offset, write, now, &ready))
        return now;
    flight = free_flight(cache, now);
    wait = *flight > now ? *flight - now : 0;
    way = sgc_sim_memory_way(marker, offset, SGC_SIM_REQUEST_READ);
    *flight = answer(marker, offset, SGC_SIM_REQUEST_READ, now + wait, way);
    keep(marker, offset, write, *flight);
    cache->figures.asked++;
    cache->figures.misses[SGC_SIM_REQUEST_READ]++;
    cache->figures.missing += wait;
    return now + wait;
}

/* ---- figures ---- */

struct sgc_sim_marker_figures *sgc_sim_figures_of(uint32_t marker)
{
    sgc_assert(marker < memory.markers);
    return &memory.cache[marker].figures;
}

const struct sgc_sim_server *sgc_sim_server_of(uint32_t node)
{
    sgc_assert(node < memory.machine.nodes);
    return &memory.server[node];
}
