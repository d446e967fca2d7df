/* SPDX-License-Identifier: MIT */
/* See alloc/pages/homes.h. */
#include "alloc/pages/homes.h"

#include <errno.h>

#include "alloc/pages/page.h"

/* Written before there are threads. */
SGC_STATE static int refused;

static bool has_effect(void)
{
    return sgc_heap.config.numa != SGC_NUMA_OFF && sgc_nodes() > 1;
}

static void spread(void *start, size_t bytes)
{
    int saved = errno;

    sgc_assert((uintptr_t)start % sgc_heap.os_page == 0 && bytes % sgc_heap.os_page == 0);
    if (!sgc_memory_interleave(start, bytes) && refused == 0)
        refused = errno;
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

/* The tables follow the heap and one another, bits first: see alloc/pages/heap.h. */
static void *first_to_spread(void)
{
    switch (sgc_heap.config.numa) {
    case SGC_NUMA_INTERLEAVE_HEAP:
        return (void *)sgc_heap.base;
    case SGC_NUMA_LOCAL:
        return sgc_heap.pages;
    default:
        return sgc_heap.bits;
    }
}

void sgc_homes_init(void)
{
    char *end = (char *)sgc_heap.reservation + sgc_heap.reservation_bytes;
    char *first = first_to_spread();

    sgc_assert(sgc_heap.config.numa != SGC_NUMA_AUTO && (char *)sgc_heap.base <= first && first < end);
    sgc_heap.homes = 1;
    if (!has_effect())
        return;
    if (sgc_heap.config.numa != SGC_NUMA_INTERLEAVE_HEAP)
        sgc_heap.homes = (uint32_t)sgc_nodes();
    sgc_mem_use_huge(sgc_heap.bits, (size_t)(end - (char *)sgc_heap.bits), false);
    spread(first, (size_t)(end - first));
}

/* `entry`: bytes that the table has for an arena, whole OS pages. */
static void bind_slices(void *table, size_t entry, uint32_t first, uint32_t count, uint32_t home)
{
    sgc_assert(entry % sgc_heap.os_page == 0 && count != 0);
    (void)sgc_memory_prefer((char *)table + first * entry, count * entry, (int)home);
}

void sgc_homes_bind(uint32_t first, uint32_t count, uint32_t home)
{
    int saved = errno;

    sgc_assert(home < sgc_heap.homes && count != 0 && first + (size_t)count <= sgc_heap.reserved / SGC_ARENA);
    if (sgc_heap.homes == 1)
        return;
    bind_slices((void *)sgc_heap.base, SGC_ARENA, first, count, home);
    if (sgc_heap.config.numa == SGC_NUMA_LOCAL) {
        bind_slices(sgc_heap.bits, 2 * SGC_ARENA_BITMAP, first, count, home);
        bind_slices(sgc_heap.remote_bits, SGC_ARENA_BITMAP, first, count, home);
    }
    errno = saved;
}

int sgc_homes_refused(void)
{
    return refused;
}
