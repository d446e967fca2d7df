/* SPDX-License-Identifier: MIT */
/* Places and postings; see postings.h.  Callers synchronise. */
#include "examples/wordindex/postings.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { FIRST_PLACES = 2, FIRST_POSTINGS = 2, PACKED_BITS = 7, PACKED_MORE = 0x80 };

void places_add(struct places *places, uint32_t place)
{
    if (places->used == places->room) {
        uint32_t room = places->room == 0 ? FIRST_PLACES : places->room * 2;
        uint32_t *at = mem_bytes(room * sizeof *at);

        if (places->used > 0)
            memcpy(at, places->at, places->used * sizeof *at);
        places->at = at;
        places->room = room;
    }
    places->at[places->used++] = place;
}

static size_t packed_length(uint32_t number)
{
    size_t length = 1;

    while (number >>= PACKED_BITS)
        length++;
    return length;
}

static unsigned char *pack_number(unsigned char *to, uint32_t number)
{
    while (number >= PACKED_MORE) {
        *to++ = (unsigned char)(number | PACKED_MORE);
        number >>= PACKED_BITS;
    }
    *to++ = (unsigned char)number;
    return to;
}

/* Most words stand once or twice in a file, so that the packed form fits in one granule. */
static unsigned char *pack(const struct places *places)
{
    size_t length = 0;

    for (uint32_t i = 0, last = 0; i < places->used; last = places->at[i++])
        length += packed_length(places->at[i] - last);

    unsigned char *packed = mem_bytes(length), *to = packed;
    for (uint32_t i = 0, last = 0; i < places->used; last = places->at[i++])
        to = pack_number(to, places->at[i] - last);
    return packed;
}

uint32_t *posting_places(const struct posting *posting)
{
    uint32_t *at = mem_bytes(posting->count * sizeof *at);
    const unsigned char *from = posting->packed;

    for (uint32_t i = 0, last = 0; i < posting->count; i++) {
        for (unsigned shift = 0;; shift += PACKED_BITS) {
            last += (uint32_t)(*from & (PACKED_MORE - 1)) << shift;
            if ((*from++ & PACKED_MORE) == 0)
                break;
        }
        at[i] = last;
    }
    return at;
}

static void grow(struct postings *postings)
{
    size_t room = postings->room == 0 ? FIRST_POSTINGS : postings->room * 2;
    struct posting *list = mem_object(room * sizeof *list);

    if (postings->used > 0)
        memcpy(list, postings->list, postings->used * sizeof *list);
    postings->list = list;
    postings->room = room;
}

void postings_add(struct postings *postings, uint32_t file, const struct places *places)
{
    if (postings->used == postings->room)
        grow(postings);
    postings->list[postings->used++] =
        (struct posting){.packed = pack(places), .file = file, .count = places->used};
    postings->total += places->used;
}

static int by_file(const void *left, const void *right)
{
    const struct posting *a = left, *b = right;

    return (a->file > b->file) - (a->file < b->file);
}

struct posting *postings_sorted(const struct postings *postings)
{
    struct posting *copy = mem_object(postings->used * sizeof *copy);

    memcpy(copy, postings->list, postings->used * sizeof *copy);
    /* qsort may keep elements in memory of malloc, where the collector does not look: what it
     * sorts must be reachable otherwise too, as these are from the index. */
    qsort(copy, postings->used, sizeof *copy, by_file);
    return copy;
}
