/* SPDX-License-Identifier: MIT */
/*
 * A string table under churn: a hash table with chains, conservative entries, pointer-free strings of 8 to 71 letters.
 * Each step puts a random name into the table if it is not there, and takes a random other one out if it is.  After a
 * while about half of the names are there.  Every step also builds the name it looks for as a string of its own, which
 * dies at once unless it is kept.
 *
 *     strings [NAMES [STEPS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { SHORTEST = 8, LENGTHS = 64 };

struct entry {
    struct entry *next;
    char *name;
    uint64_t hash;
};

static struct entry **bucket;
static size_t buckets, present;

static uint64_t hash_of(const char *s)
{
    uint64_t h = 14695981039346656037u;

    for (; *s != '\0'; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h ^ h >> 32;
}

/* The letters of name number n: the same in each run, and different for different numbers. */
static char *spell(size_t n)
{
    uint64_t state = n * 2654435761u + 1;
    size_t length = SHORTEST + random_next(&state) % LENGTHS;
    char *s = obtained(GC_malloc_atomic(length + 1));

    for (size_t i = 0; i < length; i++)
        s[i] = (char)('a' + (i < SHORTEST ? n >> (3 * i) & 7 : state >> (i % 32) & 15));
    s[length] = '\0';
    return s;
}

static struct entry **find(const char *name, uint64_t hash)
{
    struct entry **e = &bucket[hash & (buckets - 1)];

    while (*e != NULL && ((*e)->hash != hash || strcmp((*e)->name, name) != 0))
        e = &(*e)->next;
    return e;
}

static void put(size_t n)
{
    char *name = spell(n);
    uint64_t hash = hash_of(name);
    struct entry **place = find(name, hash), *e;

    if (*place != NULL)
        return;
    e = obtained(GC_malloc(sizeof *e));
    e->name = name;
    e->hash = hash;
    *place = e;
    present++;
}

static void take(size_t n)
{
    char *name = spell(n);
    struct entry **place = find(name, hash_of(name));

    if (*place == NULL)
        return;
    *place = (*place)->next;
    present--;
}

static size_t count(void)
{
    size_t found = 0;

    for (size_t i = 0; i < buckets; i++)
        for (const struct entry *e = bucket[i]; e != NULL; e = e->next)
            found += hash_of(e->name) == e->hash;
    return found;
}

int main(int argc, char **argv)
{
    size_t names = (size_t)argument(argc, argv, 1, 200000, 16, 1 << 24);
    size_t steps = (size_t)argument(argc, argv, 2, 3000000, 1, 1 << 30);
    uint64_t state = 88172645463325252u, began;

    case_begin();
    for (buckets = 16; buckets < names; buckets *= 2)
        ;
    bucket = obtained(GC_malloc(buckets * sizeof *bucket));
    began = now_ns();
    for (size_t i = 0; i < steps; i++) {
        put(random_below(&state, names));
        take(random_below(&state, names));
    }
    figure("time_ms", (double)(now_ns() - began) / 1e6, "ms");
    if (count() != present) {
        fprintf(stderr, "strings: of %zu entries %zu are right\n", present, count());
        return 1;
    }
    figure("entries", (double)present, "entries");
    case_end();
    return 0;
}
