/* SPDX-License-Identifier: MIT */
/*
 * Static roots of the client's.  Any thread; the lists have the registry's lock (gc/roots/roots.h).
 */
#include "gc/api/api.h"

#include "gc/config/public_vars.h"
#include "gc/roots/roots.h"

/* False for a range that has nothing in it; with a message if it is wrong. */
static bool good_range(const char *function, const void *low, const void *high)
{
    if (low != NULL && low <= high)
        return low < high;
    sgc_warn("%s(%p, %p): expected the lowest address first and none of them NULL; the range is ignored", function,
             low, high);
    return false;
}

void GC_add_roots(void *low, void *high)
{
    if (good_range("GC_add_roots", low, high))
        sgc_roots_add((struct sgc_range){ (uintptr_t)low, (uintptr_t)high });
}

void GC_remove_roots(void *low, void *high)
{
    if (good_range("GC_remove_roots", low, high))
        sgc_roots_remove((struct sgc_range){ (uintptr_t)low, (uintptr_t)high });
}

void GC_clear_roots(void)
{
    sgc_roots_clear();
}

void GC_exclude_static_roots(void *low, void *high)
{
    if (good_range("GC_exclude_static_roots", low, high))
        sgc_roots_exclude((struct sgc_range){ (uintptr_t)low, (uintptr_t)high });
}

void GC_clear_exclusion_table(void)
{
    sgc_roots_clear_excluded();
}

void GC_register_has_static_roots_callback(GC_has_static_roots_func filter)
{
    sgc_roots_set_filter(filter);
}

SGC_API_SWITCH(no_dls, sgc_client_no_dls)
