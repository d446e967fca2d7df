/* SPDX-License-Identifier: MIT */
/*
 * Reserving the heap.  sgc_heap_reserve runs once, before any other thread uses the heap;
 * sgc_heap_commit_arenas on whichever thread grows the heap, without a lock.
 */
#include "alloc/pages/heap.h"

#include "alloc/pages/page.h"

SGC_STATE struct sgc_heap sgc_heap;
SGC_STATE sgc_aw_t *sgc_alloc_words;

static const size_t SMALLEST_RESERVE = (size_t)4 * SGC_ARENA;
static const size_t DEFAULT_RESERVE_MIN = (size_t)64 << 30;
static const size_t DEFAULT_RESERVE_MAX = (size_t)1 << 40;

/* Bytes of each table for a heap of `bytes`. */
static size_t bits_bytes(size_t bytes)
{
    return bytes / SGC_GRANULE / 8 * 2;
}

static size_t remote_bytes(size_t bytes)
{
    return bytes / SGC_GRANULE / 8;
}

static size_t pages_bytes(size_t bytes)
{
    return bytes / SGC_PAGE * sizeof(struct sgc_page);
}

static size_t records_bytes(size_t bytes)
{
    return bytes / SGC_PAGE * sizeof(struct sgc_page_record);
}

static size_t arenas_bytes(size_t bytes)
{
    return bytes / SGC_ARENA * sizeof(struct sgc_arena);
}

static size_t span_bits_bytes(size_t bytes)
{
    return bytes / SGC_ARENA * 2 * sizeof(sgc_aw_t);
}

static size_t table_size(size_t bytes)
{
    sgc_assert(sgc_heap.os_page != 0);
    return sgc_round_up(bytes, sgc_heap.os_page);
}

static size_t tables_bytes(size_t heap)
{
    return table_size(bits_bytes(heap)) + table_size(remote_bytes(heap)) +
           table_size(pages_bytes(heap)) + table_size(records_bytes(heap)) +
           table_size(arenas_bytes(heap)) + table_size(span_bits_bytes(heap));
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
    char *p = start;

    sgc_assert((uintptr_t)start % SGC_ARENA == 0 && heap % SGC_ARENA == 0);
    sgc_heap.base = (uintptr_t)p;
    sgc_heap.reserved = heap;
    p += heap;
    sgc_heap.bits = sgc_alloc_words = (sgc_aw_t *)(void *)p;
    p += table_size(bits_bytes(heap));
    sgc_heap.remote_bits = (sgc_aw_t *)(void *)p;
    p += table_size(remote_bytes(heap));
    sgc_heap.pages = (struct sgc_page *)(void *)p;
    p += table_size(pages_bytes(heap));
    sgc_heap.records = (struct sgc_page_record *)(void *)p;
    p += table_size(records_bytes(heap));
    sgc_heap.arenas = (struct sgc_arena *)(void *)p;
    p += table_size(arenas_bytes(heap));
    sgc_heap.span_bits = (sgc_aw_t *)(void *)p;
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

/* Commits the OS pages of a table that hold entries [first, first+count) of `size` bytes. */
static bool commit_slice(void *table, size_t first, size_t count, size_t size)
{
    uintptr_t lo = (uintptr_t)table + first * size;
    uintptr_t hi = lo + count * size;

    sgc_assert(count != 0 && lo >= sgc_heap.base);
    lo = sgc_round_down(lo, sgc_heap.os_page);
    hi = sgc_round_up(hi, sgc_heap.os_page);
    return sgc_mem_commit((void *)lo, hi - lo);
}

bool sgc_heap_commit_arenas(uint32_t first, uint32_t count)
{
    size_t page = (size_t)first * SGC_ARENA_PAGES;
    size_t pages = (size_t)count * SGC_ARENA_PAGES;
    size_t word = page * SGC_PAGE_WORDS;
    size_t words = pages * SGC_PAGE_WORDS;

    sgc_assert(count != 0 && first + (size_t)count <= sgc_heap.reserved / SGC_ARENA);
    return sgc_mem_commit((void *)sgc_page_start((uint32_t)page), (size_t)count * SGC_ARENA) &&
           commit_slice(sgc_heap.arenas, first, count, sizeof(struct sgc_arena)) &&
           commit_slice(sgc_heap.span_bits, 2 * first, 2 * (size_t)count, sizeof(sgc_aw_t)) &&
           commit_slice(sgc_heap.bits, 2 * word, 2 * words, sizeof(sgc_aw_t)) &&
           commit_slice(sgc_heap.remote_bits, word, words, sizeof(sgc_aw_t)) &&
           commit_slice(sgc_heap.pages, page, pages, sizeof(struct sgc_page)) &&
           commit_slice(sgc_heap.records, page, pages, sizeof(struct sgc_page_record));
}
