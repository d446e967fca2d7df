/* SPDX-License-Identifier: MIT */
/* What objects hold: edges, and bytes of which no word looks like an address. */
#include "tests/fuzz/model.h"

#include <string.h>

static uint8_t byte_of(uint64_t seal, size_t i)
{
    return (uint8_t)(0x80 | ((seal >> i % 57) ^ i * 7));
}

/* Where the bytes begin, behind type, edges and a link. */
static size_t bytes_from(int h)
{
    size_t words = (size_t)(first_word(handle[h].how) + (has_edges(h) ? EDGES : 0) + (handle[h].link != NONE));

    return words * sizeof(uintptr_t);
}

/* A string ends with a zero, and has none before. */
static size_t bytes_to(int h)
{
    return handle[h].how == STRING ? handle[h].size - 1 : handle[h].size;
}

void fill(int h, uint64_t seal)
{
    uint8_t *bytes = (uint8_t *)address_of(h);

    handle[h].seal = seal;
    for (size_t i = bytes_from(h); i < bytes_to(h); i++)
        bytes[i] = byte_of(seal, i);
}

static void check_edges(int h)
{
    const uintptr_t *words = address_of(h) + first_word(handle[h].how);

    for (int e = 0; e < EDGES; e++) {
        int target = handle[h].edge[e];

        if (target == STALE)
            fuzz_expect(!follows(h, e) || !kept[h], "object %d has an edge to one that is gone", h);
        else
            fuzz_expect(words[e] == (target == NONE ? 0 : ~handle[target].hidden), "object %d: edge %d holds %#zx", h, e,
                        (size_t)words[e]);
    }
}

/* Is it surely this object that lies there, and not another one that came to its place? */
bool is_itself(int h)
{
    const uint8_t *bytes = (const uint8_t *)address_of(h);
    size_t i = bytes_from(h);

    if (bytes_to(h) < i + 8 || GC_size(base_of(h)) < handle[h].size)
        return false;
    while (i < bytes_to(h) && bytes[i] == byte_of(handle[h].seal, i))
        i++;
    return i == bytes_to(h);
}

/* The first bytes of an object that was larger, or is to be. */
void check_prefix(int h, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)address_of(h);

    for (size_t i = bytes_from(h); i < size; i++)
        fuzz_expect(bytes[i] == byte_of(handle[h].seal, i), "object %d, resized: byte %zu is %#x", h, i, bytes[i]);
}

void check_contents(int h)
{
    const uint8_t *bytes = (const uint8_t *)address_of(h);

    for (size_t i = bytes_from(h); i < bytes_to(h); i++)
        fuzz_expect(bytes[i] == byte_of(handle[h].seal, i), "object %d, kind %d, of %zu bytes: byte %zu is %#x", h,
                    (int)handle[h].how, handle[h].size, i, bytes[i]);
    fuzz_expect(handle[h].how != STRING || bytes[handle[h].size - 1] == 0, "object %d: the string has no end", h);
    if (has_edges(h))
        check_edges(h);
}

void set_edge(int h, int edge, int target)
{
    uintptr_t *word = address_of(h) + first_word(handle[h].how) + edge;

    handle[h].edge[edge] = target;
    *word = target == NONE ? 0 : ~handle[target].hidden;
    if (handle[h].seal % 2 != 0)
        SGC_dirty(word, sizeof *word);
    else
        GC_end_stubborn_change(base_of(h));
    if (target != NONE)
        GC_reachable_here(address_of(target));
}

/* All that must live, in full. */
void check_reached(void)
{
    model_reach();
    for (int h = 0; h < HANDLES; h++)
        if (kept[h]) {
            fuzz_expect(GC_base(address_of(h)) == base_of(h), "object %d, kind %d, of %zu bytes is gone, and must live", h,
                        (int)handle[h].how, handle[h].size);
            check_contents(h);
        }
}
