/* SPDX-License-Identifier: MIT */
/*
 * subject_instructions MODE COUNT: does one thing COUNT times, for tests/check/check_instructions to count its instructions.
 * Each mode runs the same loop over functions called by pointer; `nothing` tells what that costs by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gc.h"

typedef void *(*take_fn)(size_t bytes);
typedef void (*give_fn)(void *object);

enum {
    BATCH = 1000,
    TABLE = 4096,
    QUARTER = 16000,            /* bytes: four objects a page */
    PAGES = 64,                 /* at a time */
};

static void *table[TABLE];
static char somewhere[64];

__attribute__((noinline)) static void *take_nothing(size_t bytes)
{
    __asm__ volatile("" : : "r"(bytes));
    return somewhere;
}

__attribute__((noinline)) static void give_nothing(void *object)
{
    __asm__ volatile("" : : "r"(object));
}

static void singles(take_fn take, long count)
{
    for (long i = 0; i < count; i++)
        table[0] = take(64);
}

/* As the only ones, with collections. */
static void collected(take_fn take, long count)
{
    GC_enable();
    singles(take, count);
    if (GC_get_gc_no() < 5)
        exit(3);
}

static void hot(take_fn take, give_fn give, long count)
{
    for (long i = 0; i < count; i++)
        give(take(64));
}

static void batches(take_fn take, give_fn give, long count)
{
    for (long done = 0; done < count; done += BATCH) {
        for (int i = 0; i < BATCH; i++)
            table[i] = take(64);
        for (int i = 0; i < BATCH; i++)
            give(table[i]);
    }
}

static void at_random(take_fn take, give_fn give, long count)
{
    unsigned seed = 1;

    for (int i = 0; i < TABLE; i++)
        table[i] = take(64);
    for (long i = 0; i < count; i++) {
        seed = seed * 1103515245u + 12345u;
        give(table[seed >> 16 & (TABLE - 1)]);
        table[seed >> 16 & (TABLE - 1)] = take(64);
    }
}

/* Pages that are taken, filled with four objects, and given back. */
static void pages(take_fn take, give_fn give, long count)
{
    for (long done = 0; done < count; done += PAGES) {
        for (int i = 0; i < 4 * PAGES; i++)
            table[i] = take(QUARTER);
        for (int i = 0; i < 4 * PAGES; i++)
            give(table[i]);
    }
}

/* Collections of a heap in which nothing lives. */
static void cycles(long count)
{
    GC_enable();
    for (long i = 0; i < count; i++)
        GC_gcollect();
}

static int run(const char *mode, const char *what, long count)
{
    take_fn take = strcmp(what, "nothing") == 0 ? take_nothing : strcmp(what, "malloc") == 0 ? GC_malloc : GC_malloc_atomic;
    give_fn give = take == take_nothing ? give_nothing : GC_free;

    if (strcmp(mode, "single") == 0)
        singles(take, count);
    else if (strcmp(mode, "collected") == 0)
        collected(take, count);
    else if (strcmp(mode, "hot") == 0)
        hot(take, give, count);
    else if (strcmp(mode, "batch") == 0)
        batches(take, give, count);
    else if (strcmp(mode, "random") == 0)
        at_random(take, give, count);
    else if (strcmp(mode, "pages") == 0)
        pages(take, give, count);
    else if (strcmp(mode, "cycles") == 0)
        cycles(count);
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "subject_instructions single|collected|hot|batch|random|pages|cycles nothing|malloc|atomic COUNT\n");
        return 2;
    }
    GC_INIT();
    GC_disable();
    return run(argv[1], argv[2], strtol(argv[3], NULL, 10));
}
