/* SPDX-License-Identifier: MIT */
/*
 * What calls leave in vector registers: all of them are scanned when a signal stops a thread, and programs hardly use the upper
 * ones, so an address that stays there keeps an object for long.
 */
#include "api.h"

#include <gc/gc_mark.h>

#include "../lib/vectors.h"

enum { OBJECTS = 4000, SIZE = 1000 };

static void *object[OBJECTS];

static int heap_words(void)
{
    return vectors_within((uintptr_t)GC_least_plausible_heap_addr, (uintptr_t)GC_greatest_plausible_heap_addr);
}

static void make(void)
{
    for (int i = 0; i < OBJECTS; i++)
        if ((object[i] = GC_malloc(SIZE)) == NULL)
            tap_bail("no memory");
}

int main(void)
{
    GC_INIT();
    make();
    tap_ok(heap_words() == 0, "allocating %d objects leaves none of their addresses there", OBJECTS);
    for (int i = 0; i < OBJECTS; i++)
        GC_free(object[i]);
    tap_ok(heap_words() == 0, "nor does freeing them");
    make();
    GC_gcollect();
    tap_ok(heap_words() == 0, "nor does a collection that finds them");
    return tap_done();
}
