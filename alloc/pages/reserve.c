/* SPDX-License-Identifier: MIT */
/*
 * Reserving the heap.  sgc_heap_reserve runs once, before any other thread uses the heap;
 * sgc_heap_commit_arenas on whichever thread grows the heap, without a lock.
 */
#include "alloc/pages/heap.h"

#include <string.h>

#include "alloc/pages/page.h"

SGC_STATE struct sgc_heap sgc_heap;
SGC_STATE sgc_aw_t *sgc_alloc_words;

static const size_t SMALLEST_RESERVE = (size_t)4 * SGC_ARENA;
static const size_t DEFAULT_RESERVE_MIN = (size_t)64 << 30;
static const size_t DEFAULT_RESERVE_MAX = (size_t)1 << 40;

/* The tables behind the pages, in order: where the heap has a table's address, and how many bytes the table has for an
 * arena. */
static const struct table {
    size_t place, arena_bytes;
} tables[] = {
    { offsetof(struct sgc_heap, bits), 2 * SGC_ARENA_BITMAP },
    { offsetof(struct sgc_heap, remote_bits), SGC_ARENA_BITMAP },
    { offsetof(struct sgc_heap, pages), SGC_ARENA_PAGES * sizeof(struct sgc_page) },
    { offsetof(struct sgc_heap, records), SGC_ARENA_PAGES * sizeof(struct sgc_page_record) },
    { offsetof(struct sgc_heap, arenas), sizeof(struct sgc_arena) },
    { offsetof(struct sgc_heap, span_bits), 2 * sizeof(sgc_aw_t) },
};

enum { TABLES = sizeof tables / sizeof *tables };

static size_t table_bytes(size_t i, size_t heap)
{
    sgc_assert(i < TABLES && sgc_heap.os_page != 0);
    return sgc_round_up(heap / SGC_ARENA * tables[i].arena_bytes, sgc_heap.os_page);
}

static size_t tables_bytes(size_t heap)
{
    size_t sum = 0;

    for (size_t i = 0; i < TABLES; i++)
        sum += table_bytes(i, heap);
    return sum;
}

/* Eight times the memory of the machine leaves room for holes; a limit set by the user needs no
 * more than itself plus the holes between spans. */
static size_t wanted_reserve(const struct sgc_heap_config *config)
{
    size_t physical = sgc_limit_physical_memory();
    size_t want = physical < DEFAULT_RESERVE_MAX / 8 ? physical * 8 : DEFAULT_RESERVE_MAX;
    size_t left = sgc_limit_address_space();

    if (want < DEFAULT_RESERVE_MIN)
        want = DEFAULT_RESERVE_MIN;
    if (config->reserve != 0)
        want = config->reserve;
    if (left != SIZE_MAX && want > left / 4)
        want = left / 4;
    if (want < SMALLEST_RESERVE)
        want = SMALLEST_RESERVE;
    return sgc_round_up(want, SGC_ARENA);
}

static void lay_out(void *start, size_t heap)
{
    char *p = (char *)start + heap;

    sgc_assert((uintptr_t)start % SGC_ARENA == 0 && heap % SGC_ARENA == 0);
    sgc_heap.base = (uintptr_t)start;
    sgc_heap.reserved = heap;
    for (size_t i = 0; i < TABLES; i++) {
        memcpy((char *)&sgc_heap + tables[i].place, &p, sizeof p);
        p += table_bytes(i, heap);
    }
    sgc_alloc_words = sgc_heap.bits;
}

/* Halves the wish until the system agrees: locked memory, strict overcommit and sanitizers each
 * refuse at a size of their own. */
static bool reserve(size_t heap)
{
    sgc_assert(heap >= SMALLEST_RESERVE && heap % SGC_ARENA == 0);
    for (;; heap = heap / 2 > SMALLEST_RESERVE ? sgc_round_up(heap / 2, SGC_ARENA) : SMALLEST_RESERVE) {
        size_t bytes = heap + tables_bytes(heap);
        void *start = sgc_mem_reserve(bytes, SGC_ARENA);

        if (start != NULL) {
            sgc_heap.reservation = start;
            sgc_heap.reservation_bytes = bytes;
            lay_out(start, heap);
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

/* Commits the OS pages of a table that hold what it has of arenas [first, first+count). */
static bool commit_table(const struct table *table, size_t first, size_t count)
{
    uintptr_t start, lo, hi;

    sgc_assert(count != 0);
    memcpy(&start, (char *)&sgc_heap + table->place, sizeof start);
    lo = sgc_round_down(start + first * table->arena_bytes, sgc_heap.os_page);
    hi = sgc_round_up(start + (first + count) * table->arena_bytes, sgc_heap.os_page);
    return sgc_mem_commit((void *)lo, hi - lo);
}

bool sgc_heap_commit_arenas(uint32_t first, uint32_t count)
{
    bool done = sgc_mem_commit((void *)sgc_page_start(first * SGC_ARENA_PAGES), (size_t)count * SGC_ARENA);

    sgc_assert(count != 0 && first + (size_t)count <= sgc_heap.reserved / SGC_ARENA);
    for (size_t i = 0; done && i < TABLES; i++)
        done = commit_table(&tables[i], first, count);
    return done;
}
