/* SPDX-License-Identifier: MIT */
/*
 * A hash table from words to whatever the user keeps for them: open addressing, power-of-two size,
 * no deletion.  It has no lock; who shares one brings the lock.
 */
#ifndef WORDINDEX_TABLE_H
#define WORDINDEX_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct slot {
    const char *word; /* NULL: empty */
    void *value;
    uint32_t hash;
};

struct table {
    struct slot *slots; /* NULL until the first word */
    size_t room, used;
};

uint32_t word_hash(const char *word);

/* The slot of a word, NULL if it has none.  Slots move when a word is added. */
struct slot *table_find(const struct table *table, const char *word, uint32_t hash);

/* The slot of a word, a new one with value NULL if it had none.  The table keeps the word. */
struct slot *table_put(struct table *table, const char *word, uint32_t hash);

#endif
