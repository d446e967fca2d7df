/* SPDX-License-Identifier: MIT */
/* See tests/fuzz/mutate.h. */
#include "tests/fuzz/mutate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/random.h"
#include "tests/lib/tap.h"

enum { SEEDS = 64, CHANGES_LOG = 5, STRETCH = 64 };

static struct { uint8_t *data; size_t size; char name[64]; } seeds[SEEDS];
static unsigned seed_count;

/* ---- seeds ---- */


static void read_seed(const char *folder, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (file == NULL || seed_count == SEEDS)
        tap_bail("%s cannot be read, or is one of more than %d seeds", path, SEEDS);
    seeds[seed_count].data = malloc(fuzz_subject.longest);
    seeds[seed_count].size = fread(seeds[seed_count].data, 1, fuzz_subject.longest, file);
    fclose(file);
    seed_count++;
}

/* In the order of their names, so that each run is like the last. */
void fuzz_read_seeds(void)
{
    const char *top = getenv("SGC_SRCDIR");
    char folder[2048];
    struct dirent **entry;
    int count;

    snprintf(folder, sizeof folder, "%s/tests/fuzz/seeds/%s", top != NULL ? top : ".", fuzz_subject.name);
    count = scandir(folder, &entry, NULL, alphasort);
    if (count < 0)
        tap_bail("%s cannot be read; run this in the top directory or set SGC_SRCDIR to it", folder);
    for (int i = 0; i < count; i++) {
        if (entry[i]->d_name[0] != '.')
            read_seed(folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

unsigned fuzz_seed_count(void)
{
    return seed_count;
}

size_t fuzz_seed(unsigned n, const uint8_t **data)
{
    *data = seeds[n].data;
    return seeds[n].size;
}

/* ---- changes ---- */

struct made {
    uint64_t *random;
    uint8_t *data;
    size_t size;
};

static size_t below(struct made *m, size_t n)
{
    return random_below(m->random, (uint32_t)n);
}

static size_t place(struct made *m)
{
    return below(m, m->size + 1);
}

/* Makes room for so many bytes, or fewer, at `at`; how many. */
static size_t open_gap(struct made *m, size_t at, size_t bytes)
{
    if (bytes > fuzz_subject.longest - m->size)
        bytes = fuzz_subject.longest - m->size;
    memmove(m->data + at + bytes, m->data + at, m->size - at);
    m->size += bytes;
    return bytes;
}

static void insert(struct made *m, const uint8_t *from, size_t bytes)
{
    size_t at = place(m);

    bytes = open_gap(m, at, bytes);
    memcpy(m->data + at, from, bytes);
}

static void insert_random(struct made *m)
{
    uint8_t bytes[STRETCH];
    size_t count = 1 + below(m, below(m, 4) == 0 ? STRETCH : 4);

    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)below(m, 256);
    insert(m, bytes, count);
}

static void insert_word(struct made *m)
{
    size_t count = 0;

    if (fuzz_subject.words == NULL)
        return;
    while (fuzz_subject.words[count] != NULL)
        count++;
    const char *word = fuzz_subject.words[below(m, count)];
    insert(m, (const uint8_t *)word, strlen(word));
}

/* A stretch of a seed. */
static void splice(struct made *m)
{
    unsigned n = (unsigned)below(m, seed_count + 1);
    uint8_t bytes[4 * STRETCH];
    size_t from, count;

    if (n == seed_count || seeds[n].size == 0)
        return;
    from = below(m, seeds[n].size);
    count = 1 + below(m, sizeof bytes);
    count = count < seeds[n].size - from ? count : seeds[n].size - from;
    memcpy(bytes, seeds[n].data + from, count);
    insert(m, bytes, count);
}

static void repeat(struct made *m)
{
    size_t from = place(m), count = 1 + below(m, STRETCH);
    uint8_t bytes[STRETCH];

    count = count < m->size - from ? count : m->size - from;
    memcpy(bytes, m->data + from, count);
    insert(m, bytes, count);
}

static void erase(struct made *m)
{
    size_t at = place(m), count = 1 + below(m, below(m, 4) == 0 ? 4 * STRETCH : 4);

    count = count < m->size - at ? count : m->size - at;
    memmove(m->data + at, m->data + at + count, m->size - at - count);
    m->size -= count;
}

static void change_byte(struct made *m)
{
    if (m->size == 0)
        return;
    uint8_t *byte = &m->data[below(m, m->size)];

    switch (below(m, 3)) {
    case 0: *byte = (uint8_t)below(m, 256); break;
    case 1: *byte ^= (uint8_t)(1u << below(m, 8)); break;
    default: *byte = (uint8_t)(*byte + 1 + 254 * below(m, 2)); break;
    }
}

static void change(struct made *m)
{
    switch (below(m, fuzz_subject.in_place ? 60 : 9)) {
    case 0: insert_random(m); break;
    case 1: insert_word(m); break;
    case 2: splice(m); break;
    case 3: repeat(m); break;
    case 4: erase(m); break;
    default: change_byte(m); break;
    }
}

size_t fuzz_next_input(uint64_t *random, uint8_t *data)
{
    struct made m = { .random = random, .data = data };
    size_t n = below(&m, seed_count + 1), changes = 1 + below(&m, (size_t)1 << below(&m, CHANGES_LOG));

    if (n < seed_count) {
        m.size = seeds[n].size;
        memcpy(data, seeds[n].data, m.size);
    } else {
        m.size = below(&m, below(&m, 4) == 0 ? fuzz_subject.longest : 256);
        for (size_t i = 0; i < m.size; i++)
            data[i] = (uint8_t)random_word(random);
    }
    while (changes-- > 0)
        change(&m);
    return m.size;
}
