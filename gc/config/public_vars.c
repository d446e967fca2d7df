/* SPDX-License-Identifier: MIT */
/*
 * The public variables and their first values.  gc/config/public_vars.h says which threads write
 * and read them.  sgc_client_vars_to_options and sgc_client_vars_from_options run on the thread
 * that starts the collector; the first hooks on any thread.
 */
#include "gc/config/public_vars.h"

#include <string.h>

#include "alloc/pages/pool.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "platform/report.h"

SGC_STATE static sgc_a32_t reported_oom;

/* Clients call the hook that they replace without a look whether there is one: bdwgc's pushes the
 * stacks. */
void sgc_client_push_nothing(void)
{
}

void *sgc_oom_default(size_t bytes)
{
    if (sgc_a32_swap(&reported_oom, 1) == 0)
        sgc_warn("out of memory: %zu bytes are not to be had (heap %zu bytes); NULL is returned. Raise "
                 "GC_MAXIMUM_HEAP_SIZE or the system's limits, or set GC_oom_fn",
                 bytes, sgc_pool_heap_bytes());
    return NULL;
}

#define SGC_CLIENT_VAR(type, name, initial) type sgc_client_##name = SGC_ATOMIC_INIT(initial);
SGC_CLIENT_VARS(SGC_CLIENT_VAR)

/* Through sgc_option_set, so that the environment wins and a bad value is reported like any
 * other. */
static void hand_over(const char *option, uintptr_t value, uintptr_t initial)
{
    char text[24];

    sgc_assert(sgc_option_find(option, strlen(option)) >= 0);
    if (value == initial)
        return;
    sgc_format(text, sizeof text, "%zu", (size_t)value);
    sgc_option_set(option, text);
}

void sgc_client_vars_to_options(void)
{
    hand_over("GC_ALL_INTERIOR_POINTERS", sgc_a32_load(&sgc_client_all_interior_pointers) != 0, 1);
    hand_over("GC_FREE_SPACE_DIVISOR", sgc_aw_load(&sgc_client_free_space_divisor), 3);
}

void sgc_client_vars_from_options(void)
{
    sgc_assert(sgc_options.markers > 0);
    sgc_assert(sgc_options.free_space_divisor > 0);
    sgc_a32_store(&sgc_client_all_interior_pointers, sgc_options.all_interior_pointers);
    sgc_aw_store(&sgc_client_free_space_divisor, (uintptr_t)sgc_options.free_space_divisor);
    sgc_a32_store(&sgc_client_parallel, (uint32_t)sgc_options.markers - 1);
    if (sgc_options.use_entire_heap)
        sgc_a32_store(&sgc_client_use_entire_heap, 1);
    if (sgc_options.find_leak)
        sgc_a32_store(&sgc_client_find_leak, 1);
    if (sgc_options.dont_gc)
        sgc_a32_add(&sgc_client_dont_gc, 1);
}
