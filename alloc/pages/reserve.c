/* SPDX-License-Identifier: MIT */
/*
 * The heap's addresses and their memory.  sgc_heap_reserve runs once, before any other thread uses
 * the heap; the rest on whichever thread grows the heap, without a lock.
 */
#include "alloc/pages/heap.h"

#include <string.h>

#include "alloc/pages/page.h"

SGC_STATE struct sgc_heap sgc_heap;
SGC_STATE sgc_aw_t *sgc_alloc_words;

static const size_t SMALLEST_RESERVE = (size_t)4 * SGC_ARENA;
static const size_t DEFAULT_RESERVE_MIN = (size_t)64 << 30;
static const size_t DEFAULT_RESERVE_MAX = (size_t)1 << 40;

/* The tables behind the pages, in order: where the heap has a table's address, how many bytes the
 * table has for an arena, and how its mapping is named.  Each grows apart from the next, so a name
 * makes no more mappings of them. */
static const struct table {
    size_t place, arena_bytes;
    const char *name;
} tables[SGC_TABLES] = {
    { offsetof(struct sgc_heap, bits), SGC_BITMAPS * SGC_ARENA_BITMAP, "sgc marks" },
    { offsetof(struct sgc_heap, remote_bits), SGC_ARENA_BITMAP, "sgc tables" },
    { offsetof(struct sgc_heap, pages), SGC_ARENA_PAGES * sizeof(struct sgc_page), "sgc tables" },
    { offsetof(struct sgc_heap, records), SGC_ARENA_PAGES * sizeof(struct sgc_page_record), "sgc tables" },
    { offsetof(struct sgc_heap, arenas), sizeof(struct sgc_arena), "sgc tables" },
    { offsetof(struct sgc_heap, span_bits), 2 * sizeof(sgc_aw_t), "sgc tables" },
};

static size_t table_bytes(int i, size_t heap)
{
    sgc_assert(i < SGC_TABLES && sgc_heap.os_page != 0);
    return sgc_round_up(heap / SGC_ARENA * tables[i].arena_bytes, sgc_heap.os_page);
}

static size_t tables_bytes(size_t heap)
{
    size_t sum = 0;

    for (int i = 0; i < SGC_TABLES; i++)
        sum += table_bytes(i, heap);
    return sum;
}

/* Eight times the memory of the machine leaves room for holes, and what the system grants at most
 * needs no holes: pages are never unmapped. */
static size_t wanted_reserve(const struct sgc_heap_config *config)
{
    size_t physical = sgc_limit_physical_memory(), granted = sgc_limit_mapped();
    size_t want = physical < DEFAULT_RESERVE_MAX / 8 ? physical * 8 : DEFAULT_RESERVE_MAX;

    if (want < DEFAULT_RESERVE_MIN)
        want = DEFAULT_RESERVE_MIN;
    if (want > granted)
        want = granted;
    if (config->reserve != 0)
        want = config->reserve;
    return sgc_round_up(want > SMALLEST_RESERVE ? want : SMALLEST_RESERVE, SGC_ARENA);
}

static void lay_out(const struct sgc_stretch *whole, size_t heap)
{
    size_t at = heap;

    sgc_assert((uintptr_t)whole->start % SGC_ARENA == 0 && heap % SGC_ARENA == 0);
    sgc_heap.base = (uintptr_t)whole->start;
    sgc_heap.reserved = heap;
    sgc_heap.memory = sgc_stretch_part(whole, 0, heap);
    sgc_heap.memory.name = sgc_heap.config.names ? "sgc heap" : NULL;
    for (int i = 0; i < SGC_TABLES; i++) {
        struct sgc_stretch *memory = &sgc_heap.table_memory[i];

        *memory = sgc_stretch_part(whole, at, table_bytes(i, heap));
        memory->name = sgc_heap.config.names ? tables[i].name : NULL;
        memcpy((char *)&sgc_heap + tables[i].place, &memory->start, sizeof memory->start);
        at += memory->bytes;
    }
    sgc_alloc_words = sgc_heap.bits;
}

/* Halves the wish until the system agrees: locked memory, strict overcommit and sanitizers each
 * refuse at a size of their own. */
static bool reserve(size_t heap)
{
    struct sgc_stretch whole;

    sgc_assert(heap >= SMALLEST_RESERVE && heap % SGC_ARENA == 0);
    for (;; heap = heap / 2 > SMALLEST_RESERVE ? sgc_round_up(heap / 2, SGC_ARENA) : SMALLEST_RESERVE) {
        if (sgc_stretch_open(&whole, heap + tables_bytes(heap), SGC_ARENA)) {
            lay_out(&whole, heap);
            return true;
        }
        if (heap <= SMALLEST_RESERVE)
            return false;
    }
}

bool sgc_heap_reserve(const struct sgc_heap_config *config)
{
    sgc_heap.os_page = sgc_os_page_size();
    sgc_heap.config = *config;
    sgc_heap.epoch = 1;
    if (reserve(wanted_reserve(config)))
        return true;
    sgc_error("the system refuses to reserve %zu bytes of address space for the heap; "
              "raise the limit (ulimit -v) or lower SGC_RESERVE", SMALLEST_RESERVE);
    return false;
}

static bool commit_tables(uint32_t end)
{
    size_t arenas = (end + SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES;
    bool done = true;

    sgc_assert(arenas != 0 && arenas <= sgc_heap.reserved / SGC_ARENA);
    for (int i = 0; done && i < SGC_TABLES; i++)
        done = sgc_stretch_grow(&sgc_heap.table_memory[i], arenas * tables[i].arena_bytes);
    return done;
}

/* The tables first: pages without tables would take the last memory under a limit, and serve
 * nobody. */
bool sgc_heap_commit(uint32_t end)
{
    return commit_tables(end) && sgc_stretch_grow(&sgc_heap.memory, (size_t)end << SGC_PAGE_LOG);
}

bool sgc_heap_pass(uint32_t end)
{
    sgc_assert(end % SGC_ARENA_PAGES == 0);
    if (!sgc_heap.memory.taken || !commit_tables(end))
        return false;
    sgc_stretch_pass(&sgc_heap.memory, (size_t)end << SGC_PAGE_LOG);
    return true;
}

void *sgc_heap_table_part(int table, uint32_t first, uint32_t end, size_t *bytes)
{
    size_t lo = sgc_round_up(first * tables[table].arena_bytes, sgc_heap.os_page);
    size_t hi = sgc_round_up(end * tables[table].arena_bytes, sgc_heap.os_page);

    sgc_assert(first <= end && hi <= sgc_heap.table_memory[table].bytes);
    *bytes = hi - lo;
    return sgc_heap.table_memory[table].start + lo;
}
