/* SPDX-License-Identifier: MIT */
/* See alloc/pages/homes.h. */
#include "alloc/pages/homes.h"

#include <errno.h>

#include "alloc/pages/page.h"

/* An errno, by the first of the threads that make the heap and its tables grow: compare and exchange, relaxed, as it is all
 * there is; read when the heap is made. */
SGC_STATE static sgc_a32_t refused;

static bool has_effect(void)
{
    return sgc_heap.config.numa != SGC_NUMA_OFF && sgc_nodes() > 1;
}

static void spread(void *start, size_t bytes)
{
    int saved = errno;

    sgc_assert((uintptr_t)start % sgc_heap.os_page == 0 && bytes % sgc_heap.os_page == 0);
    if (!sgc_memory_interleave(start, bytes))
        (void)sgc_a32_cas(&refused, 0, (uint32_t)errno);
    errno = saved;
}

/* A huge page would be on one node as a whole. */
void sgc_homes_spread(void *table, size_t bytes)
{
    size_t whole = sgc_round_up(bytes, sgc_heap.os_page);

    if (table == NULL || !has_effect())
        return;
    sgc_mem_use_huge(table, whole, false);
    spread(table, whole);
}

void sgc_homes_init(void)
{
    sgc_assert(sgc_heap.config.numa != SGC_NUMA_AUTO);
    sgc_heap.homes = has_effect() && sgc_heap.config.numa != SGC_NUMA_INTERLEAVE_HEAP ? (uint32_t)sgc_nodes() : 1;
}

static void place_table(int table, void *start, size_t bytes, uint32_t home)
{
    sgc_mem_use_huge(start, bytes, false);
    if (table < SGC_BITMAP_TABLES && sgc_heap.config.numa == SGC_NUMA_LOCAL)
        (void)sgc_memory_prefer(start, bytes, (int)home);
    else
        spread(start, bytes);
}

void sgc_homes_bind(uint32_t from, uint32_t end, uint32_t home)
{
    uint32_t first = (from + SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES, last = (end + SGC_ARENA_PAGES - 1) / SGC_ARENA_PAGES;
    void *start = (void *)sgc_page_start(from);
    size_t bytes = (size_t)(end - from) * SGC_PAGE, part;
    int saved = errno;

    sgc_assert(home < sgc_heap.homes && from < end && end <= sgc_heap.reserved / SGC_PAGE);
    if (!has_effect())
        return;
    for (int table = 0; table < SGC_TABLES; table++) {
        void *fresh = sgc_heap_table_part(table, first, last, &part);

        if (part != 0)
            place_table(table, fresh, part, home);
    }
    if (sgc_heap.config.numa == SGC_NUMA_INTERLEAVE_HEAP)
        spread(start, bytes);
    else
        (void)sgc_memory_prefer(start, bytes, (int)home);
    errno = saved;
}

int sgc_homes_refused(void)
{
    return (int)sgc_a32_load(&refused);
}
