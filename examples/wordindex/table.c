/* SPDX-License-Identifier: MIT */
/* The hash table of table.h.  Callers synchronise. */
#include "examples/wordindex/table.h"

#include <string.h>

#include "memory.h"

enum { FIRST_ROOM = 64 };

/* FNV-1a: words are short, and nobody chooses them to collide. */
uint32_t word_hash(const char *word)
{
    uint32_t hash = 2166136261u;

    for (const char *c = word; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

/* The word's slot, or the empty one where it belongs.  There is always an empty slot. */
static struct slot *probe(const struct table *table, const char *word, uint32_t hash)
{
    size_t mask = table->room - 1;
    size_t i = hash & mask;

    while (table->slots[i].word != NULL) {
        if (table->slots[i].hash == hash && strcmp(table->slots[i].word, word) == 0)
            break;
        i = (i + 1) & mask;
    }
    return &table->slots[i];
}

/* Doubles the room.  The old array is dropped, for the collector to find. */
static void grow(struct table *table)
{
    struct table bigger = {.room = table->room == 0 ? FIRST_ROOM : table->room * 2};

    bigger.slots = mem_object(bigger.room * sizeof *bigger.slots);
    bigger.used = table->used;
    for (size_t i = 0; i < table->room; i++) {
        const struct slot *slot = &table->slots[i];

        if (slot->word != NULL)
            *probe(&bigger, slot->word, slot->hash) = *slot;
    }
    *table = bigger;
}

struct slot *table_find(const struct table *table, const char *word, uint32_t hash)
{
    if (table->room == 0)
        return NULL;
    struct slot *slot = probe(table, word, hash);
    return slot->word != NULL ? slot : NULL;
}

struct slot *table_put(struct table *table, const char *word, uint32_t hash)
{
    if (table->used >= table->room / 4 * 3)
        grow(table);
    struct slot *slot = probe(table, word, hash);
    if (slot->word == NULL) {
        slot->word = word;
        slot->hash = hash;
        table->used++;
    }
    return slot;
}
