/* SPDX-License-Identifier: MIT */
/*
 * libscm's clocks and regions: their numbers, and what objects live by them.
 *
 * Also: shortterm/compat/dates.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/shortterm/compat/scm.h"

/* ---- clocks ---- */

static int numbers(void)
{
    int wrong = 0;

    for (int i = 1; i < SCM_MAX_CLOCKS; i++)
        wrong += scm_register_clock() != i;
    wrong += scm_register_clock() != -1;
    for (int i = -1; i <= SCM_MAX_CLOCKS; i += i == -1 ? 1 : SCM_MAX_CLOCKS)
        scm_unregister_clock(i);
    wrong += scm_register_clock() != -1;
    for (int i = 1; i < SCM_MAX_CLOCKS; i++) {
        scm_unregister_clock(i);
        scm_unregister_clock(i);
        wrong += scm_register_clock() != i;
    }
    return wrong;
}

static int by_clocks(void)
{
    int first = scm_register_clock(), second = scm_register_clock(), wrong = 0;
    void *object = new_object(), *own = new_object();

    scm_refresh_with_clock(object, 0, (unsigned)first);
    scm_refresh_with_clock(object, 1, (unsigned)second);
    scm_refresh_with_clock(own, 1, 0);
    for (int i = 0; i < 20; i++) {
        scm_tick_clock((unsigned)first);
        scm_collect();
        wrong += !is_object(object) || !is_object(own);
    }
    scm_tick_clock((unsigned)second);
    scm_tick_clock(0);
    scm_collect();
    wrong += !is_object(object) || !is_object(own);
    scm_tick_clock((unsigned)second);
    collect_after(scm_tick);
    return wrong + is_object(object) + is_object(own);
}

/* Of no clock; too large; of a clock that is no more. */
static int odd_clocks(void)
{
    int clock = scm_register_clock(), wrong = 0;
    void *object = new_object(), *clamped = new_object();

    scm_refresh_with_clock(object, 0, 7);
    scm_refresh_with_clock(object, 0, SCM_MAX_CLOCKS);
    scm_refresh_with_clock(object, 0, UINT32_MAX);
    scm_tick_clock(7);
    scm_tick_clock(UINT32_MAX);
    scm_refresh_with_clock(clamped, 1000, (unsigned)clock);
    for (int i = 0; i < SCM_MAX_EXPIRATION_EXTENSION; i++)
        scm_tick_clock((unsigned)clock);
    scm_collect();
    wrong += !is_object(object) || !is_object(clamped);
    scm_unregister_clock(clock);
    scm_collect();
    return wrong + (!is_object(object) || is_object(clamped));
}

/* ---- regions ---- */

static int region_numbers(void)
{
    int wrong = 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    for (int i = 0; i < SCM_MAX_REGIONS; i++)
        wrong += scm_create_region() != i;
    wrong += scm_create_region() != -1 || scm_malloc_in_region(10, -1) != NULL;
    wrong += scm_malloc_in_region(10, SCM_MAX_REGIONS) != NULL || scm_malloc_in_region(10, 9) == NULL;
    wrong += scm_malloc_in_region(SIZE_MAX - 3, 0) != NULL || errno != ENOMEM;
    scm_refresh_region(-1, 0);
    scm_refresh_region(SCM_MAX_REGIONS, 0);
    scm_global_refresh_region(INT32_MAX, 0);
    scm_unregister_region(-1);
    scm_unregister_region(SCM_MAX_REGIONS);
    scm_unregister_region(3);
    scm_unregister_region(3);
    return wrong + (scm_malloc_in_region(10, 3) != NULL || scm_create_region() != 3 || scm_create_region() != -1);
}

static int large_in_region(void)
{
    int region = scm_create_region();

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_set_max_heap_size((GC_word)64 << 20);
    return scm_malloc_in_region(((size_t)4 << 30) - 7, region) != NULL || scm_malloc_in_region(100, region) == NULL;
}

/* In a region that is emptied memory is used from the beginning. */
static int region_dates(void)
{
    int region = scm_create_region(), clock = scm_register_clock(), wrong = 0;
    char *first = scm_malloc_in_region(100, region), *second = scm_malloc_in_region(100, region);

    memset(first, 0x55, 100);
    scm_refresh(second, 1);
    scm_refresh_region(region, 0);
    scm_refresh_region_with_clock(region, 0, (unsigned)clock);
    scm_global_refresh_region(region, 0);
    for (int i = 0; i < 20; i++)
        scm_tick();
    for (int i = 0; i < 20; i++)
        collect_after(scm_global_tick);
    wrong += first[0] != 0x55 || first[99] != 0x55 || scm_malloc_in_region(100, region) == first;
    scm_tick_clock((unsigned)clock);
    scm_collect();
    return wrong + (scm_malloc_in_region(100, region) != first || scm_malloc_in_region(100, region) != second);
}

static int objects_of_regions(void)
{
    int region = scm_create_region(), wrong = 0;
    char *object = NULL;

    for (int i = 0; i < 1000; i++) {
        object = scm_malloc_in_region((size_t)i, region);
        wrong += object == NULL || (uintptr_t)object % 16 != 0;
        memset(object, 1, (size_t)i);
        scm_free(object);
    }
    return wrong + (object[0] != 1 || object[998] != 1);
}

/* Another thread has numbers of its own, but may refresh what it is given. */
static void *another(void *object)
{
    int wrong = scm_malloc_in_region(10, 0) != NULL;

    scm_refresh_region(0, 0);
    scm_tick();
    wrong += scm_create_region() != 0 || scm_malloc_in_region(10, 0) == NULL;
    scm_refresh(object, 2);
    return (void *)(intptr_t)wrong;
}

static int region_of_another(void)
{
    int region = scm_create_region();
    char *object = scm_malloc_in_region(100, region);

    strcpy(object, "still there");
    scm_refresh_region(region, 1);
    if (thread_result(another, object) != NULL)
        return 1;
    scm_tick();
    return strcmp(object, "still there") != 0 || scm_malloc_in_region(100, region) == object;
}

int main(void)
{
    tap_plan(8);
    child_ok(numbers, "nine clocks have numbers, and each can be given back");
    child_ok(by_clocks, "an object lives by all the clocks that it was refreshed with");
    child_ok(odd_clocks, "clocks that are not there are left alone, and those that were are over");
    child_ok(region_numbers, "ten regions have numbers, and each can be given back");
    child_ok(large_in_region, "a size that does not fit into 32 bits");
    child_ok(region_dates, "a region is empty when all its dates are over");
    child_ok(objects_of_regions, "objects of a region are not freed alone");
    child_ok(region_of_another, "another thread has regions of its own");
    return tap_done();
}
