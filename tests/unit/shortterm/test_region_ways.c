/* SPDX-License-Identifier: MIT */
/*
 * Ways that lead to a region: its handle, addresses in it where interior pointers do not count, what a call that was left by a
 * jump leaves of it.
 *
 * Also: shortterm/region_chunks.c, shortterm/regions.c, mark/displacements.c.
 */
#define GC_THREADS

#include <errno.h>
#include <setjmp.h>
#include <stdint.h>

#include "gc/gc.h"
#include "gc/gc_mark.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/scrub.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

static int mode;

static int start(void)
{
    struct SGC_shortterm wanted = { mode, 3, SGC_SHORTTERM_EAGER, -1, -1 };

    GC_INIT();
    GC_set_warn_proc(GC_ignore_warn_proc);
    return SGC_shortterm_init(&wanted, sizeof wanted);
}

/* ---- interior pointers off ---- */

enum { OBJECTS = 400 };

static void **table;                    /* an object of the heap */
static char *in_data, *large_in_data;

/* The handle is forgotten. */
TEST_NOINLINE static void fill(void)
{
    SGC_region_t *region = SGC_region_new();

    table = GC_MALLOC(OBJECTS * sizeof *table);
    for (int i = 0; i < OBJECTS; i++) {
        char *object = SGC_region_malloc(region, i % 50 == 7 ? 100000 : 50);

        memset(object, 1 + i % 100, 50);
        table[i] = object + i % 3;
    }
    region = SGC_region_new();
    in_data = SGC_region_malloc(region, 50);
    strcpy(in_data, "from static data");
    region = SGC_region_new();
    large_in_data = (char *)SGC_region_malloc(region, 500000) + 400000;
    strcpy(large_in_data, "far inside");
}

/* Objects would take the places of what is lost. */
TEST_NOINLINE static void collect_and_churn(void)
{
    for (int round = 0; round < 3; round++) {
        scrub_stack();
        GC_gcollect();
        for (int i = 0; i < 40000; i++)
            memset(GC_MALLOC(4000), 0x55, 4000);
    }
}

static int wrong_objects(void)
{
    int wrong = strcmp(in_data, "from static data") != 0 || strcmp(large_in_data, "far inside") != 0;

    for (int i = 0; i < OBJECTS; i++)
        wrong += SGC_region_of(table[i]) == NULL || ((char *)table[i])[10] != 1 + i % 100 ||
                 GC_is_valid_displacement(table[i]) != table[i];
    return wrong;
}

static int not_interior(void)
{
    if (start() != 0 || GC_get_all_interior_pointers() != 0)
        return 100;
    fill();
    collect_and_churn();
    return wrong_objects() != 0 || SGC_check() != 0;
}

/* What expired stays, where nothing is freed by dates, as long as something points into it: each piece alone. */
static int pieces(void)
{
    int wrong = 0;

    if (mode == SGC_SHORTTERM_FREE)
        return CHILD_SKIPS;
    if (start() != 0 || GC_get_all_interior_pointers() != 0)
        return 100;
    fill();
    wrong += SGC_refresh(table[0], 0) != 0 || SGC_tick() != 0 || SGC_region_of(table[0]) != NULL;
    collect_and_churn();
    for (int i = 0; i < OBJECTS; i++)
        wrong += ((char *)table[i])[10] != 1 + i % 100;
    return wrong;
}

/* ---- the handle ---- */

static int keep(void *object)
{
    return object != NULL;
}

static int handle(void)
{
    SGC_region_t *region = SGC_region_new();
    char *object = SGC_region_malloc(region, 40);
    int wrong = 0;

    if (start() != EALREADY || SGC_shortterm_mode() != mode)
        return 100;
    strcpy(object, "still there");
    wrong += SGC_region_of(region) != region || SGC_refresh(region, 1) != 0 || SGC_refresh_global(region, 1) != 0;
    wrong += SGC_refresh_reachable(region, 1, 0, 100) != 0 || dates() != 3;
    wrong += SGC_hold(region) != EINVAL || SGC_unhold(region) != EINVAL || SGC_set_expiry_proc(region, keep) != EINVAL;
    wrong += SGC_dates(region) != -1;
    for (int i = 0; i < 4; i++) {
        wrong += SGC_region_of(object) != region || strcmp(object, "still there") != 0;
        SGC_tick();
        SGC_tick_global();
    }
    GC_gcollect();
    wrong += mode == SGC_SHORTTERM_FREE ? *object != 0 : SGC_region_of(object) == region;
    return wrong + (SGC_region_malloc(region, 40) == NULL || SGC_region_of(region) != region);
}

static int freed_by_hand(void)
{
    SGC_region_t *region;

    if (start() != 0)
        return 100;
    region = SGC_region_new();
    GC_free(region);
    memset(GC_MALLOC(112), 0x55, 100);
    return SGC_region_malloc(region, 40) == NULL || SGC_region_of(region) != region;
}

/* Then nobody can give the memory that it lies in a date, or free it, either. */
static int has_no_base(void)
{
    SGC_region_t *region = SGC_region_new();
    char *object = SGC_region_malloc(region, 40), *large = SGC_region_malloc(region, 100000), *other = GC_MALLOC(40);
    int wrong = 0;

    if (object == NULL || large == NULL || SGC_shortterm_mode() != mode)
        return 100;
    strcpy(object, "still there");
    wrong += GC_base(object) != NULL || GC_base(large + 50000) != NULL || GC_base(region) != NULL;
    wrong += GC_base(other + 1) != other;
    wrong += SGC_refresh(GC_base(object), 0) != EINVAL || SGC_refresh(GC_base(region), 0) != EINVAL;
    SGC_tick();
    GC_free(object);
    GC_free(large);
    for (int i = 0; i < 1000; i++)
        memset(GC_MALLOC(i % 2 == 0 ? 4000 : 96), 0x5a, 96);
    return wrong + (SGC_region_of(object) != region || strcmp(object, "still there") != 0);
}

static void never(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
}

static int has_no_finalizer(void)
{
    void *object = SGC_region_malloc(SGC_region_new(), 40);

    GC_REGISTER_FINALIZER(object, never, NULL, NULL, NULL);
    return object == NULL;
}

/* ---- a fork by another thread than the region's ---- */

static char *in_forked;

/* Its only date was one of a thread that is not there: what was in it is the collector's, and a region it is no more. */
static int child_of_fork(void)
{
    char *other;

    if (SGC_region_of(in_forked) != NULL || SGC_refresh(in_forked, 1) != EINVAL || GC_base(in_forked) == NULL)
        return 1;
    GC_gcollect();
    for (int i = 0; i < 1000; i++)
        memset(GC_MALLOC(3000), 0x5a, 3000);
    other = GC_base(in_forked);
    return other == NULL || in_forked[0] != 1 || in_forked[2999] != 1;
}

static void *forks(void *status)
{
    *(int *)status = run_in_child(child_of_fork);
    return NULL;
}

static int forked(void)
{
    SGC_region_t *region;
    int status = 1;

    if (TEST_SANITIZED)
        return CHILD_SKIPS;
    GC_set_handle_fork(1);
    if (start() != 0)
        return 100;
    GC_allow_register_threads();
    region = SGC_region_new();
    in_forked = SGC_region_malloc(region, 3000);
    memset(in_forked, 1, 3000);
    if (SGC_region_refresh(region, 3) != 0)
        return 101;
    thread_result(forks, &status);
    if (SGC_region_of(in_forked) != region || SGC_refresh(in_forked, 1) != 0)
        return 102;
    return status;
}

static const struct test {
    int (*body)(void);
    const char *interior, *name;
} tests[] = {
    { not_interior, "0", "where interior pointers do not count, an address in a region keeps it" },
    { pieces, "0", "and each piece of a region that is over" },
    { handle, "1", "the handle is an address in the region, and no object's" },
    { freed_by_hand, "1", "nobody frees it by hand" },
    { has_no_base, "1", "GC_base finds no object in it" },
    { forked, "1", "in a fork's child that lacks its date what is in it is left to the collector" },
};

int main(void)
{
    enum { TESTS = sizeof tests / sizeof tests[0], MODES = sizeof mode_names / sizeof mode_names[0] };

    tap_plan((TESTS + 1) * MODES);
    for (mode = 0; mode < MODES; mode++) {
        for (int i = 0; i < TESTS; i++) {
            setenv("GC_ALL_INTERIOR_POINTERS", tests[i].interior, 1);
            setenv("SGC_SHORTTERM", mode_names[mode], 1);
            child_ok(tests[i].body, "%s: %s", mode_names[mode], tests[i].name);
        }
        child_says(has_no_finalizer, 0, "lies in a region of short-term memory; nothing is registered",
                   "%s: a finalizer of an object in a region is refused, and why", mode_names[mode]);
    }
    return tap_done();
}
