/* SPDX-License-Identifier: MIT */
/*
 * Growing tables of records that are found by a hash: chains through an array without gaps.  In
 * memory of their own, which is mapped far from the program's and grows in place.
 *
 * The caller sees to it that one thread at a time uses a table.  A record moves when another is
 * taken out, and only then.
 */
#ifndef SGC_GC_PROFILE_TABLE_H
#define SGC_GC_PROFILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/stretch.h"

#define SGC_TABLE_NONE UINT32_MAX

/* Each record begins with one. */
struct sgc_table_link {
    uint32_t next;                      /* of the same chain; SGC_TABLE_NONE: none */
    uint32_t hash;
};

struct sgc_table {
    struct sgc_stretch chains, records;
    uint32_t chain_count;               /* a power of two, or 0 in one that has no memory yet */
    uint32_t count;                     /* of records */
    uint32_t bytes;                     /* of each */
};

/* Do at least half as many chains as there are records begin somewhere? */
static inline bool sgc_table_ok(const struct sgc_table *table)
{
    return table->bytes >= sizeof(struct sgc_table_link) && (table->chain_count & (table->chain_count - 1)) == 0 &&
           table->count <= table->chain_count * 2;
}

/* Of records of so many bytes; false: there are no addresses. */
bool sgc_table_open(struct sgc_table *table, uint32_t bytes);

static inline void *sgc_table_at(const struct sgc_table *table, uint32_t number)
{
    sgc_assert(number < table->count);
    return table->records.start + (size_t)number * table->bytes;
}

/* The first record of a chain that has the hash, and the next one behind it. */
uint32_t sgc_table_first(const struct sgc_table *table, uint32_t hash);
uint32_t sgc_table_next(const struct sgc_table *table, uint32_t number);

/* A new record, zero but for its link; SGC_TABLE_NONE: the system has no memory for it. */
uint32_t sgc_table_add(struct sgc_table *table, uint32_t hash);

/* Takes a record out; the last one moves to its place. */
void sgc_table_remove(struct sgc_table *table, uint32_t number);

/* Spreads the bits of a number. */
static inline uint64_t sgc_table_mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

#endif
