/* SPDX-License-Identifier: MIT */
/*
 * subject_dates WHAT HOW COUNT: does one thing COUNT times, for tests/check/check_dates_cost to count its instructions.
 *
 *     pairs HOW        a plain object is allocated and freed, in pages in which dates have lived: HOW nobody, own, other, hold;
 *                      uncollectable-nobody and so on: of such objects
 *     clocks NUMBER    the oldest of so many clocks is released, which has a date
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GC_THREADS
#include "gc.h"
#include "sgc_shortterm.h"

enum { OBJECTS = 4000, BYTES = 64, CLOCKS_MOST = 10000 };

static void *object[OBJECTS];           /* every other one stays, so that its page does */
static void *(*take)(size_t bytes) = GC_malloc;

static void each_second(int (*fn)(void *object))
{
    for (int i = 0; i < OBJECTS; i += 2)
        if (fn(object[i]) != 0)
            exit(3);
}

static int refresh(void *o) { return SGC_refresh(o, 0); }
static int refresh_global(void *o) { return SGC_refresh_global(o, 0); }
static int stay(void *o) { return o == NULL; }

static void *refresh_there(void *unused)
{
    each_second(refresh_global);
    for (int i = 0; i < 3; i++)
        SGC_tick_global();
    SGC_expire(SIZE_MAX);
    return unused;
}

static void pairs(long count)
{
    for (long i = 0; i < count; i++)
        GC_free(take(BYTES));
}

/* Dates live there, and end. */
static void live(const char *how)
{
    pthread_t other;

    if (strcmp(how, "own") == 0)
        each_second(refresh);
    else if (strcmp(how, "hold") == 0)
        each_second(SGC_hold);
    else if (strcmp(how, "other") != 0)
        each_second(stay);
    else if (pthread_create(&other, NULL, refresh_there, NULL) != 0 || pthread_join(other, NULL) != 0)
        exit(3);
    SGC_tick();
    SGC_expire(SIZE_MAX);
    if (strcmp(how, "hold") == 0)
        each_second(SGC_unhold);
}

/* What others have left in a page is found by a collection, after frees have asked in vain. */
static void measure_pairs(const char *how, long count)
{
    if (strncmp(how, "uncollectable-", 14) == 0) {
        take = GC_malloc_uncollectable;
        how += 14;
    }
    for (int i = 0; i < OBJECTS; i++)
        object[i] = take(BYTES);
    live(how);
    for (int i = 0; i < 2; i++) {
        pairs(20000);
        GC_gcollect();
    }
    pairs(count);
}

static void measure_clocks(long number, long count)
{
    static SGC_clock_t *clock[CLOCKS_MOST];

    for (long i = 0; i < number && i < CLOCKS_MOST; i++) {
        clock[i] = SGC_clock_new();
        if (clock[i] == NULL || SGC_refresh_clock(GC_malloc(BYTES), 5, clock[i]) != 0)
            exit(3);
    }
    for (long i = 0; i < count; i++)
        if (SGC_clock_release(clock[i]) != 0)
            exit(3);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "subject_dates pairs HOW COUNT, or clocks NUMBER COUNT\n");
        return 2;
    }
    GC_INIT();
    GC_allow_register_threads();
    if (strcmp(argv[1], "pairs") == 0)
        measure_pairs(argv[2], strtol(argv[3], NULL, 10));
    else
        measure_clocks(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10));
    return 0;
}
