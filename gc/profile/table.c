/* SPDX-License-Identifier: MIT */
/* See gc/profile/table.h. */
#include "gc/profile/table.h"

#include <string.h>

enum {
    CHAINS_MIN = 256,
    RECORDS_STEP = 4096,                /* bytes that records get more at first, then as many as they have */
};

/* More than any table needs: the system's memory ends before. */
static const size_t CHAINS_BYTES = (size_t)1 << 32, RECORDS_BYTES = (size_t)1 << 37;

bool sgc_table_open(struct sgc_table *table, uint32_t bytes)
{
    *table = (struct sgc_table){ .bytes = bytes };
    sgc_assert(bytes % sizeof(struct sgc_table_link) == 0 && sgc_table_ok(table));
    if (!sgc_stretch_open(&table->chains, CHAINS_BYTES, SGC_CACHE_LINE))
        return false;
    if (sgc_stretch_open(&table->records, RECORDS_BYTES, SGC_CACHE_LINE))
        return true;
    sgc_stretch_close(&table->chains);
    return false;
}

static struct sgc_table_link *link_at(const struct sgc_table *table, uint32_t number)
{
    return sgc_table_at(table, number);
}

/* Where the chain of the hash begins. */
static uint32_t *chain_of(const struct sgc_table *table, uint32_t hash)
{
    sgc_assert(table->chain_count != 0);
    return (uint32_t *)(void *)table->chains.start + (hash & (table->chain_count - 1));
}

static uint32_t with_hash(const struct sgc_table *table, uint32_t number, uint32_t hash)
{
    while (number != SGC_TABLE_NONE && link_at(table, number)->hash != hash)
        number = link_at(table, number)->next;
    return number;
}

uint32_t sgc_table_first(const struct sgc_table *table, uint32_t hash)
{
    sgc_assert(sgc_table_ok(table));
    return table->chain_count == 0 ? SGC_TABLE_NONE : with_hash(table, *chain_of(table, hash), hash);
}

uint32_t sgc_table_next(const struct sgc_table *table, uint32_t number)
{
    return with_hash(table, link_at(table, number)->next, link_at(table, number)->hash);
}

static void put_into_chain(struct sgc_table *table, uint32_t number)
{
    struct sgc_table_link *link = link_at(table, number);
    uint32_t *chain = chain_of(table, link->hash);

    link->next = *chain;
    *chain = number;
}

/* Twice as many chains.  Should there be no memory for them, those there are become longer. */
static bool grow_chains(struct sgc_table *table)
{
    uint32_t count = table->chain_count == 0 ? CHAINS_MIN : table->chain_count * 2;

    if (count == 0 || !sgc_stretch_grow(&table->chains, count * sizeof(uint32_t)))
        return false;
    table->chain_count = count;
    memset(table->chains.start, 0xff, count * sizeof(uint32_t));
    for (uint32_t i = 0; i < table->count; i++)
        put_into_chain(table, i);
    return true;
}

static bool make_room(struct sgc_table *table)
{
    size_t have = table->records.have, needed = ((size_t)table->count + 1) * table->bytes;

    if (table->count >= table->chain_count && !grow_chains(table) && table->count >= (uint64_t)table->chain_count * 2)
        return false;
    return needed <= have || sgc_stretch_grow(&table->records, have == 0 ? RECORDS_STEP : have * 2);
}

uint32_t sgc_table_add(struct sgc_table *table, uint32_t hash)
{
    uint32_t number = table->count;

    sgc_assert(sgc_table_ok(table));
    if (number == SGC_TABLE_NONE - 1 || !make_room(table))
        return SGC_TABLE_NONE;
    table->count++;
    memset(sgc_table_at(table, number), 0, table->bytes);
    link_at(table, number)->hash = hash;
    put_into_chain(table, number);
    return number;
}

/* The word that leads to the record. */
static uint32_t *leading_to(const struct sgc_table *table, uint32_t number)
{
    uint32_t *word = chain_of(table, link_at(table, number)->hash);

    while (*word != number) {
        sgc_assert(*word != SGC_TABLE_NONE);
        word = &link_at(table, *word)->next;
    }
    return word;
}

void sgc_table_remove(struct sgc_table *table, uint32_t number)
{
    uint32_t last = table->count - 1;

    sgc_assert(sgc_table_ok(table) && number <= last);
    *leading_to(table, number) = link_at(table, number)->next;
    if (number != last) {
        *leading_to(table, last) = number;
        memcpy(sgc_table_at(table, number), sgc_table_at(table, last), table->bytes);
    }
    table->count--;
}
