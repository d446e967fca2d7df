/* SPDX-License-Identifier: MIT */
/*
 * Regions: what they give, when they are empty, who may use them.
 *
 * Also: shortterm/region_chunks.c, shortterm/regions.c.
 */
#define GC_THREADS

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/scrub.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { EXTENSION = 10 };

static int mode;

/* Was the region emptied, of which this was the first object, of 40 bytes and not zero?  What is kept of the region is as new;
 * what is not freed is no part of it any more. */
static bool emptied(SGC_region_t *region, const char *object)
{
    return mode == SGC_SHORTTERM_FREE ? *object == 0 : SGC_region_of(object) != region;
}

static char *first_object(SGC_region_t *region)
{
    char *object = SGC_region_malloc(region, 40);

    *object = 'x';
    return object;
}

/* ---- memory ---- */

/* Objects of many sizes, each filled with a byte of its own, which it still has at the end. */
static int no_overlap(void)
{
    enum { OBJECTS = 3000 };
    static unsigned char *object[OBJECTS];
    SGC_region_t *region = SGC_region_new();
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        object[i] = SGC_region_malloc(region, (size_t)(i * 7 % 3001));
        wrong += object[i] == NULL || (uintptr_t)object[i] % 16 != 0 || SGC_region_of(object[i]) != region;
        memset(object[i], i % 251, (size_t)(i * 7 % 3001));
    }
    GC_gcollect();
    for (int i = 0; i < OBJECTS; i++)
        for (int j = 0; j < i * 7 % 3001; j++)
            wrong += object[i][j] != i % 251;
    return wrong != 0 || SGC_region_malloc(region, 0) == SGC_region_malloc(region, 0);
}

static int sizes(void)
{
    SGC_region_t *region = SGC_region_new();
    char *small = SGC_region_malloc(region, 100), *large = SGC_region_malloc(region, 1 << 20), *next;
    int wrong = large == NULL || SGC_region_of(large + (1 << 20) - 1) != region;

    next = SGC_region_malloc(region, 100);
    wrong += next != small + 112;
    GC_set_warn_proc(GC_ignore_warn_proc);
    wrong += SGC_region_malloc(region, SIZE_MAX - 3) != NULL || SGC_region_malloc(region, SIZE_MAX) != NULL;
    wrong += SGC_region_malloc(region, (size_t)PTRDIFF_MAX) != NULL;
    wrong += SGC_region_malloc(region, 100) != small + 224;
    return wrong;
}

static int compact(void)
{
    SGC_region_t *region = SGC_region_new();
    size_t before = GC_get_heap_size();

    for (int i = 0; i < 1 << 20; i++)
        if (SGC_region_malloc(region, 16) == NULL)
            return 1;
    return GC_get_heap_size() - before > (size_t)24 << 20;
}

static int addresses(void)
{
    SGC_region_t *region = SGC_region_new(), *other = SGC_region_new();
    char *object = SGC_region_malloc(region, 100), stack[8];
    int wrong = SGC_region_of(object) != region || SGC_region_of(object + 99) != region;

    wrong += SGC_region_of(SGC_region_malloc(other, 1)) != other;
    wrong += SGC_region_of(NULL) != NULL || SGC_region_of(stack) != NULL || SGC_region_of(GC_MALLOC(32)) != NULL;
    return wrong + (SGC_region_of((void *)(uintptr_t)0x1000) != NULL);
}

/* ---- dates ---- */

static SGC_clock_t *test_clock;

static int by_clock(SGC_region_t *region, unsigned e)
{
    return SGC_region_refresh_clock(region, e, test_clock);
}

static int tick_clock(void)
{
    return SGC_tick_clock(test_clock);
}

/* The region is emptied at the (e + more)-th tick and not before; what was in it is no part of it then. */
static int empty_exactly(unsigned e, unsigned more, int refresh(SGC_region_t *, unsigned), int tick(void))
{
    SGC_region_t *region = SGC_region_new();
    char *object = first_object(region);
    int wrong = refresh(region, e) != 0 || dates() != 1;

    for (unsigned i = 1; i < e + more; i++)
        wrong += tick() != 0 || emptied(region, object) || dates() != 1;
    return wrong + (tick() != 0 || !emptied(region, object) || dates() != 0);
}

static int exact(void)
{
    int wrong = 0;

    test_clock = SGC_clock_new();
    for (unsigned e = 0; e <= EXTENSION; e++) {
        wrong += empty_exactly(e, 1, SGC_region_refresh, SGC_tick);
        wrong += empty_exactly(e, 3, SGC_region_refresh_global, SGC_tick_global);
        wrong += empty_exactly(e, 1, by_clock, tick_clock);
    }
    return wrong;
}

/* By an address in it; the same date twice is one. */
static int by_objects(void)
{
    SGC_region_t *region = SGC_region_new();
    char *object = SGC_region_malloc(region, 40), *last = NULL;
    int wrong = 0;

    for (int i = 0; i < 1000; i++) {
        last = SGC_region_malloc(region, 200);
        wrong += SGC_refresh(last, 2) != 0 || SGC_refresh(object + 7, 2) != 0;
    }
    wrong += dates() != 1 || SGC_refresh_global(last, 1) != 0 || SGC_refresh(object, 3) != 0 || dates() != 3;
    wrong += SGC_refresh(object, EXTENSION + 1) != ERANGE;
    for (int i = 0; i < 4; i++)
        wrong += SGC_region_of(last) != region || SGC_tick() != 0 || SGC_tick_global() != 0;
    return wrong + (SGC_region_of(last) != NULL);
}

static int used_again(void)
{
    SGC_region_t *region = SGC_region_new();
    size_t heap = 0;
    int wrong = 0;

    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 1000; i++)
            wrong += SGC_region_malloc(region, 100) == NULL;
        wrong += SGC_region_refresh(region, 0) != 0 || SGC_tick() != 0;
        if (round % 10 == 0)
            GC_gcollect();
        if (round == 30)
            heap = GC_get_heap_size();
    }
    return wrong != 0 || GC_get_heap_size() > 2 * heap;
}

/* ---- threads ---- */

static void *leaves_region(void *where)
{
    SGC_region_t *region = SGC_region_new();

    ((void **)where)[0] = region;
    ((void **)where)[1] = first_object(region);
    return (void *)(intptr_t)(SGC_region_refresh(region, 5) != 0 || dates() != 1);
}

static int thread_ends(void)
{
    void *left[2];

    return thread_result(leaves_region, left) != NULL || dates() != 0 || SGC_region_of(left[1]) == left[0];
}

/* ---- where what has expired is freed ---- */

/* Nothing is collected, and what was large does not stay so. */
static int freed(void)
{
    SGC_region_t *region = SGC_region_new();
    struct SGC_stats before, after;
    int wrong = 0;

    if (mode != SGC_SHORTTERM_FREE)
        return CHILD_SKIPS;
    SGC_get_stats(&before, sizeof before);
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 200; i++)
            wrong += SGC_region_malloc(region, (size_t)(i % 500)) == NULL;
        wrong += SGC_region_malloc(region, 100000) == NULL || SGC_region_refresh(region, 0) != 0 || SGC_tick() != 0;
    }
    SGC_get_stats(&after, sizeof after);
    wrong += after.collections != before.collections || after.heap_max_bytes > before.heap_max_bytes + (8 << 20);
    wrong += SGC_region_malloc(region, 16) == NULL || SGC_region_refresh(region, 0) != 0 || SGC_region_close(region) != 0;
    return wrong + (SGC_tick() != 0 || SGC_region_of(region) != NULL);
}

/* ---- without memory ---- */

enum { RESERVE = 128 };

static void **all;
static unsigned char *reserve;
static int asked;

static void *GC_CALLBACK give_reserve(TEST_UNUSED size_t bytes)
{
    asked++;
    return reserve;
}

/* Objects of that size take all memory that is left. */
static void use_up(size_t bytes)
{
    void **object;

    while ((object = GC_MALLOC(bytes)) != (void *)reserve) {
        *object = all;
        all = object;
    }
}

static int no_memory(void)
{
    SGC_region_t *before = SGC_region_new();
    int wrong = 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    reserve = GC_MALLOC_ATOMIC(RESERVE);
    memset(reserve, 'A', RESERVE);
    GC_set_max_heap_size((size_t)8 << 20);
    GC_set_oom_fn(give_reserve);
    for (size_t bytes = 65536; bytes >= 16; bytes /= 2)
        use_up(bytes);
    use_up(96);
    asked = 0;
    wrong += SGC_region_new() != NULL || asked != 1;
    for (int i = 0; i < RESERVE; i++)
        wrong += reserve[i] != 'A';
    return wrong + (SGC_region_of(before) != before || SGC_region_of(reserve) != NULL);
}

/* Runs one of the above in a child that chooses the mode. */
static int run(int (*body)(void))
{
    choose(mode, EXTENSION, -1, -1, -1);
    return SGC_shortterm_mode() != mode ? 100 : body();
}

static const struct test {
    int (*body)(void);
    const char *name;
} tests[] = {
    { no_overlap, "objects are aligned, and do not overlap" },
    { sizes, "large objects have memory of their own; what is too large is refused" },
    { compact, "small objects cost little more than their bytes" },
    { addresses, "an address leads to its region" },
    { exact, "a region is empty exactly in time, by each clock" },
    { by_objects, "who refreshes an object in it refreshes the region" },
    { used_again, "a region that is filled again and again does not grow" },
    { thread_ends, "dates of a region end with their thread" },
    { freed, "memory of a region is freed without a collection" },
    { no_memory, "without memory there is no region, whatever the out-of-memory hook returns" },
};

int main(void)
{
    enum { TESTS = sizeof tests / sizeof tests[0], MODES = sizeof mode_names / sizeof mode_names[0] };

    unsetenv("SGC_SHORTTERM");
    tap_plan(TESTS * MODES);
    for (mode = 0; mode < MODES; mode++)
        for (int i = 0; i < TESTS; i++)
            child_ok_of(run(tests[i].body), "%s: %s", mode_names[mode], tests[i].name);
    return tap_done();
}
