/* SPDX-License-Identifier: MIT */
/*
 * A module for storm_dlopen: static and thread-local cells, and a constructor that allocates.  Built
 * twice; with STORM_MODULE_BIG its data and its thread-local block are large.
 */
#include "tests/stress/storm_module.h"

#ifdef STORM_MODULE_BIG
#define ROOM 40000
#define THREAD_ROOM 6000
#else
#define ROOM 1
#define THREAD_ROOM 1
#endif

static void *zeroed_cell[ROOM + MODULE_CELLS];
static void *initialised_cell[ROOM + MODULE_CELLS] = { (void *)&initialised_cell };
static __thread void *thread_cell[THREAD_ROOM + MODULE_THREAD_CELLS];

static void **zeroed(size_t i)
{
    return &zeroed_cell[ROOM + i];
}

static void **initialised(size_t i)
{
    return &initialised_cell[ROOM + i];
}

static void **thread(size_t i)
{
    return &thread_cell[THREAD_ROOM + i];
}

const struct storm_module storm_module = { zeroed, initialised, thread };

#pragma weak storm_module_loaded

static __attribute__((constructor)) void loaded(void)
{
    if (storm_module_loaded)
        storm_module_loaded(zeroed(MODULE_CELLS - 1));
}
