/* SPDX-License-Identifier: MIT */
/*
 * Words of a document or of an index, for bench/shortterm/indexer.c: a hash table with open addressing, and the places of a
 * word.  Who uses one says what date its objects get.  No lock: one thread has all.
 */
#ifndef SGC_BENCH_SHORTTERM_TABLE_H
#define SGC_BENCH_SHORTTERM_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct slot {
    char *word;                 /* NULL: empty */
    void *value;
};

struct table {
    struct slot *slots;
    size_t room, used;
};

/* The word's slot, or an empty one with a key to be filled in.  A larger array gets the extension. */
struct slot *table_put(struct table *table, const char *word, unsigned extension);

/* The end of a table, whose words and values are freed before. */
void table_free(struct table *table);

/* Numbers, ascending. */
struct places {
    uint32_t *at;
    uint32_t used, room;
};

void places_add(struct places *places, uint32_t place, unsigned extension);

/* The differences of the places, seven bits a byte, in an object of its own. */
unsigned char *places_pack(const struct places *places, size_t *bytes, unsigned extension);

#endif
