/* SPDX-License-Identifier: MIT */
/* See alloc/pages/homes.h. */
#include "alloc/pages/homes.h"

#include <errno.h>

#include "alloc/pages/page.h"

/* An errno, by the first of the threads that make the heap and its tables grow: compare and
 * exchange, relaxed, as it is all there is; read when the heap is made. */
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

/* Puts new memory of a table, in whole OS pages, on all nodes in turn; NULL: there is none.  A huge
 * page would be on one node as a whole. */
static void spread_table(void *table, size_t bytes)
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

/* ---- tables by owner ---- */

enum { TABLES_MAX = 7 };

struct owner_table {
    struct sgc_stretch memory;
    size_t entry;
};

struct owner_tables {
    struct owner_table of[TABLES_MAX];
    uint32_t count, reach;          /* tables; owners that have entries */
};

SGC_STATE static struct owner_tables tables = { .reach = 1 };

static bool reach(struct owner_table *table, uint32_t owners)
{
    size_t had = table->memory.have;

    sgc_assert(owners != 0 && owners <= SGC_OWNERS_MAX);
    if (!sgc_stretch_grow(&table->memory, owners * table->entry))
        return false;
    if (table->memory.have != had)
        spread_table(table->memory.start + had, table->memory.have - had);
    return true;
}

void *sgc_owner_table_make(size_t entry)
{
    struct owner_table table = { .entry = entry };

    sgc_assert(entry != 0 && tables.count < TABLES_MAX);
    if (!sgc_stretch_open(&table.memory, SGC_OWNERS_MAX * entry, sgc_heap.os_page))
        return NULL;
    if (!reach(&table, tables.reach)) {
        sgc_stretch_close(&table.memory);
        return NULL;
    }
    tables.of[tables.count++] = table;
    return table.memory.start;
}

bool sgc_owner_tables_reach(uint32_t owners)
{
    if (owners <= tables.reach)
        return true;
    for (uint32_t i = 0; i < tables.count; i++)
        if (!reach(&tables.of[i], owners))
            return false;
    tables.reach = owners;
    return true;
}
