/* SPDX-License-Identifier: MIT */
/* See memory.h. */
#include "bench/acdc/memory.h"

#include <string.h>

struct memory *memory_named(const char *name)
{
    static struct memory *const all[] = { &memory_malloc,    &memory_gc,  &memory_gc_free,
                                          &memory_shortterm, &memory_scm, &memory_none };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i]->name) == 0)
            return all[i];
    return NULL;
}
