/* SPDX-License-Identifier: MIT */
/*
 * A string table under churn: a hash table with chains, conservative entries, pointer-free strings of 8 to 71 letters.
 * Each step puts a random name into the table if it is not there, and takes a random other one out if it is.  After a
 * while about half of the names are there.  Every step also builds the name it looks for as a string of its own, which
 * dies at once unless it is kept.
 *
 * How much of that is the program's own?  After the collector's figures the same steps are run once more by a program that
 * frees what it no longer needs, itself and at once, into lists from which it takes it again: no search, no collection, no
 * memory that waits to be found dead.  So exact_ms is about what the program itself and its cache misses take.
 *
 *     strings [NAMES [STEPS]]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { SHORTEST = 8, LENGTHS = 64, UNIT = 16, CHUNK = 1 << 20, SIZES = (SHORTEST + LENGTHS + UNIT - 1) / UNIT + 1 };

struct entry {
    struct entry *next;
    char *name;
    uint64_t hash;
};

static struct entry **bucket;
static size_t buckets, present;

/* ---- memory: the collector's, or lists of what has been freed, by size ---- */

static bool exact;
static struct list {
    void *free;
    char *next, *end;           /* memory that was never used */
} of_names[SIZES], of_entries;

static void *take_from(struct list *list, size_t bytes)
{
    void *p = list->free;

    if (p != NULL) {
        list->free = *(void **)p;
        return p;
    }
    if ((size_t)(list->end - list->next) < bytes) {
        list->next = obtained(malloc(CHUNK));
        list->end = list->next + CHUNK;
    }
    p = list->next;
    list->next += bytes;
    return p;
}

static void give_to(struct list *list, void *p)
{
    *(void **)p = list->free;
    list->free = p;
}

static size_t units(size_t bytes)
{
    return (bytes + UNIT - 1) / UNIT;
}

static char *new_name(size_t bytes)
{
    return exact ? take_from(&of_names[units(bytes)], units(bytes) * UNIT) : obtained(GC_malloc_atomic(bytes));
}

static struct entry *new_entry(void)
{
    return exact ? take_from(&of_entries, sizeof(struct entry)) : obtained(GC_malloc(sizeof(struct entry)));
}

/* To the collector that means nothing: it finds out. */
static void drop_name(char *name)
{
    if (exact)
        give_to(&of_names[units(strlen(name) + 1)], name);
}

static void drop_entry(struct entry *e)
{
    if (exact)
        give_to(&of_entries, e);
}

/* ---- the table ---- */

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
    char *s = new_name(length + 1);

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

    if (*place != NULL) {
        drop_name(name);
        return;
    }
    e = new_entry();
    *e = (struct entry){ NULL, name, hash };
    *place = e;
    present++;
}

static void take(size_t n)
{
    char *name = spell(n);
    struct entry **place = find(name, hash_of(name)), *e = *place;

    drop_name(name);
    if (e == NULL)
        return;
    *place = e->next;
    drop_name(e->name);
    drop_entry(e);
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

/* Fills the table, which is empty, and changes it so many times.  How long that took. */
static double churn_ms(size_t names, size_t steps)
{
    uint64_t state = 88172645463325252u, began = now_ns(), ended;

    for (size_t i = 0; i < steps; i++) {
        put(random_below(&state, names));
        take(random_below(&state, names));
    }
    ended = now_ns();
    if (count() != present) {
        fprintf(stderr, "strings: of %zu entries %zu are right\n", present, count());
        exit(1);
    }
    return (double)(ended - began) / 1e6;
}

int main(int argc, char **argv)
{
    size_t names = (size_t)argument(argc, argv, 1, 200000, 16, 1 << 24);
    size_t steps = (size_t)argument(argc, argv, 2, 3000000, 1, 1 << 30);
    size_t entries;

    case_begin();
    for (buckets = 16; buckets < names; buckets *= 2)
        ;
    bucket = obtained(GC_malloc(buckets * sizeof *bucket));
    figure("time_ms", churn_ms(names, steps), "ms");
    figure("entries", (double)present, "entries");
    case_end();
    entries = present;
    memset(bucket, 0, buckets * sizeof *bucket);
    present = 0;
    exact = true;
    figure("exact_ms", churn_ms(names, steps), "ms");
    if (present != entries) {
        fprintf(stderr, "strings: %zu entries with exact frees, %zu with the collector\n", present, entries);
        return 1;
    }
    return 0;
}
