/* SPDX-License-Identifier: MIT */
/* The C library's malloc and free, or what the loader was told to put in their place. */
#include <stdlib.h>

#include "bench/acdc/memory.h"

static const char *begin(const struct options *options)
{
    (void)options;
    return NULL;
}

static void nothing(void)
{
}

struct memory memory_malloc = {
    .name = "malloc",
    .begin = begin,
    .thread_begin = nothing,
    .thread_end = nothing,
    .allocate = malloc,
    .allocate_shared = malloc,
    .release = free,
};
