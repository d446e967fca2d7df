/* SPDX-License-Identifier: MIT */
/* See alloc/pages/owner_tables.h. */
#include "alloc/pages/owner_tables.h"

#include "alloc/pages/homes.h"
#include "alloc/pages/page.h"

enum { TABLES_MAX = 5 };

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
        sgc_homes_spread(table->memory.start + had, table->memory.have - had);
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
