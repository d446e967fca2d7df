/* SPDX-License-Identifier: MIT */
/* See bench/shortterm/table.h. */
#include "bench/shortterm/table.h"

#include <string.h>

#include "bench/shortterm/app.h"

enum { FIRST_SLOTS = 32, FIRST_PLACES = 2, BITS = 7, MORE = 1 << BITS };

static size_t hash(const char *word)
{
    uint32_t h = 0;

    for (const char *p = word; *p != '\0'; p++)
        h = (h + (unsigned char)*p) * 2654435761u;
    return h >> 4;
}

static struct slot *find(const struct table *table, const char *word)
{
    size_t i = hash(word) & (table->room - 1);

    while (table->slots[i].word != NULL && strcmp(table->slots[i].word, word) != 0)
        i = (i + 1) & (table->room - 1);
    return &table->slots[i];
}

static void grow(struct table *table, unsigned extension)
{
    struct table larger = { NULL, table->room == 0 ? FIRST_SLOTS : 2 * table->room, table->used };

    larger.slots = app_new_dated(larger.room * sizeof *larger.slots, extension, 0);
    for (size_t i = 0; i < table->room; i++)
        if (table->slots[i].word != NULL)
            *find(&larger, table->slots[i].word) = table->slots[i];
    app_free(table->slots);
    *table = larger;
}

struct slot *table_put(struct table *table, const char *word, unsigned extension)
{
    struct slot *slot;

    if (4 * table->used >= 3 * table->room)
        grow(table, extension);
    slot = find(table, word);
    table->used += slot->word == NULL;
    return slot;
}

void table_free(struct table *table)
{
    app_free(table->slots);
    *table = (struct table){ NULL, 0, 0 };
}

void places_add(struct places *places, uint32_t place, unsigned extension)
{
    if (places->used == places->room) {
        uint32_t room = places->room == 0 ? FIRST_PLACES : 2 * places->room, *at;

        at = app_new_dated(room * sizeof *at, extension, SGC_SHORTTERM_ATOMIC);
        if (places->used > 0)
            memcpy(at, places->at, places->used * sizeof *at);
        app_free(places->at);
        places->at = at;
        places->room = room;
    }
    places->at[places->used++] = place;
}

static size_t packed_size(const struct places *places)
{
    size_t bytes = 0;

    for (uint32_t i = 0, last = 0; i < places->used; last = places->at[i++])
        for (uint32_t left = places->at[i] - last + 1; left > 0; left >>= BITS)
            bytes++;
    return bytes;
}

/* One more than a difference, so that none is 0. */
unsigned char *places_pack(const struct places *places, size_t *bytes, unsigned extension)
{
    unsigned char *packed, *p;

    *bytes = packed_size(places);
    p = packed = app_new_dated(*bytes, extension, SGC_SHORTTERM_ATOMIC);
    for (uint32_t i = 0, last = 0; i < places->used; last = places->at[i++])
        for (uint32_t left = places->at[i] - last + 1; left > 0; left >>= BITS)
            *p++ = (unsigned char)(left % MORE | (left >= MORE ? MORE : 0));
    return packed;
}
