/* SPDX-License-Identifier: MIT */
/* Which object the program means by an address: shortterm/named.h. */
#include "gc/api/internal.h"
#include "shortterm/named.h"

#include <errno.h>

#include "gc/api/guards.h"

int sgc_named_object(uintptr_t address, struct sgc_object *o)
{
    if (!sgc_heap_contains(address))
        return EINVAL;
    if (!sgc_object_find(address, o))
        return ESTALE;                  /* the page of one that has gone, perhaps */
    sgc_assert(sgc_api_object_ok(o));
    if (o->start == address)
        return 0;
    switch (sgc_debug_around((void *)address)) {
    case SGC_DEBUG_NONE:
        return EINVAL;
    case SGC_DEBUG_FREED:
    case SGC_DEBUG_FREED_WRITTEN:
        return ESTALE;
    default:
        return 0;
    }
}
