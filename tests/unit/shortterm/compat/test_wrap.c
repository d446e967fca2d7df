/* SPDX-License-Identifier: MIT */
/*
 * A program whose malloc, calloc, realloc, free and malloc_usable_size are libscm's by the linker's --wrap.  It is compiled
 * without the compiler's own knowledge of these.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/shortterm/compat/scm.h"

static volatile size_t huge = SIZE_MAX / 16 + 2;        /* times 16 it is 16 */
static volatile size_t largest = SIZE_MAX, nearly = SIZE_MAX - 3;

static int all_ours(void)
{
    void *plain = malloc(100), *cleared = calloc(10, 10), *more = realloc(NULL, 100);
    int wrong = !is_object(plain) || !is_object(cleared) || !is_object(more);

    wrong += malloc_usable_size(plain) < 100 || malloc_usable_size(plain) > 200 || malloc_usable_size(NULL) != 0;
    free(plain);
    return wrong + is_object(plain);
}

static int cleared(void)
{
    int wrong = 0;

    for (int round = 0; round < 1000; round++) {
        unsigned char *object = calloc(25, 4);

        for (int i = 0; i < 100; i++)
            wrong += object[i] != 0;
        memset(object, 0xff, malloc_usable_size(object));
        free(object);
    }
    GC_set_warn_proc(GC_ignore_warn_proc);
    errno = 0;
    wrong += calloc(huge, 16) != NULL || errno != ENOMEM || calloc(16, huge) != NULL || calloc(largest, largest) != NULL;
    return wrong + (malloc(nearly) != NULL || realloc(NULL, nearly) != NULL);
}

static int foreign(void)
{
    FILE *file = tmpfile();
    char *line = NULL, *copy = strdup("a string"), *grown;
    size_t room = 0;
    void *aligned = NULL;
    int wrong;

    if (file == NULL || fputs("a line\n", file) < 0)
        return CHILD_SKIPS;
    rewind(file);
    wrong = getline(&line, &room, file) != 7 || posix_memalign(&aligned, 64, 100) != 0;
    wrong += is_object(line) || is_object(copy) || is_object(aligned) || malloc_usable_size(copy) < 9;
    grown = realloc(copy, 10000);
    wrong += grown == NULL || strcmp(grown, "a string") != 0;
    free(grown);
    free(line);
    free(aligned);
    free(NULL);
    return wrong + fclose(file);
}

/* ---- realloc ---- */

static int grows(void)
{
    char *object = NULL;
    int wrong = 0;

    for (size_t size = 1; size < 3000000; size += size / 3 + 1) {
        object = realloc(object, size);
        wrong += object == NULL || !is_object(object) || (size > 1 && object[0] != 'a');
        object[0] = 'a';
        object[size - 1] = 'a';
    }
    object = realloc(object, 10);
    wrong += object == NULL || object[0] != 'a' || malloc_usable_size(object) > 100;
    object = realloc(object, 0);
    return wrong + (object == NULL || !is_object(object) || (GC_set_warn_proc(GC_ignore_warn_proc),
                                                             realloc(object, nearly) != NULL) || !is_object(object));
}

/* The new object is persistent, and the old one goes with its dates; one that stays where it is keeps them. */
static int with_dates(void)
{
    char *object = malloc(100), *moved, *same = malloc(100);
    int wrong;

    strcpy(object, "moved");
    scm_refresh(object, 1);
    scm_refresh(same, 0);
    moved = realloc(object, 5000);
    wrong = moved == object || strcmp(moved, "moved") != 0 || !is_object(object) || realloc(same, 99) != same;
    collect_after(scm_tick);
    wrong += !is_object(object) || is_object(same);
    collect_after(scm_tick);
    return wrong + (is_object(object) || !is_object(moved) || strcmp(moved, "moved") != 0);
}

/* Regions do not know where their objects end: what is copied ends with the region's memory. */
static int of_a_region(void)
{
    enum { NEIGHBOURS = SCM_MAX_REGIONS - 1, FEW = 500 };
    int region = scm_create_region(), wrong;
    char *object = scm_malloc_in_region(20, region), *next = scm_malloc_in_region(20, region), *moved;

    strcpy(object, "in a region");
    strcpy(next, "behind it");
    wrong = malloc_usable_size(object) != 0;
    moved = realloc(object, 30);
    wrong += moved == object || strcmp(moved, "in a region") != 0 || !is_object(moved);
    memset(moved, 0, 30);
    wrong += strcmp(object, "in a region") != 0 || strcmp(next, "behind it") != 0;
    for (int i = 0; i < NEIGHBOURS; i++)
        memset(scm_malloc_in_region(FEW, scm_create_region()), 'n', FEW);
    moved = realloc(next, 100000);
    wrong += moved == NULL || strcmp(moved, "behind it") != 0;
    return wrong + (memchr(moved + sizeof "behind it", 'n', 100000 - sizeof "behind it") != NULL);
}

/* As a program that was written for malloc, with one line more: its periods end with a tick. */
static int program(void)
{
    struct SGC_stats before, after;

    SGC_get_stats(&before, sizeof before);
    for (int period = 0; period < 2000; period++) {
        for (int i = 0; i < 100; i++) {
            char *text = malloc(64);

            snprintf(text, 64, "object %d of period %d", i, period);
            scm_refresh(text, 0);
        }
        scm_tick();
        free(malloc(1000));
    }
    SGC_get_stats(&after, sizeof after);
    return after.collections != before.collections || after.heap_max_bytes > 32 << 20;
}

int main(void)
{
    tap_plan(7);
    child_ok(all_ours, "malloc and its relatives make objects of the heap");
    child_ok(cleared, "calloc clears, and sizes that are too large are refused");
    child_ok(foreign, "memory of the C library goes back to it");
    child_ok(grows, "an object grows and shrinks");
    child_ok(with_dates, "an object with dates that moves leaves the old one to them");
    child_ok(of_a_region, "an object of a region is copied out of it");
    child_ok(program, "a program with ticks needs no collection");
    return tap_done();
}
