/* SPDX-License-Identifier: MIT */
/* The C library's malloc and free, or what the loader was told to put in their place. */
#include <malloc.h>
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

/* Of the C library itself: one that was preloaded is not asked. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
static size_t heap(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.arena + info.hblkhd;
}
#else
#define heap NULL
#endif

struct memory memory_malloc = {
    .name = "malloc",
    .begin = begin,
    .thread_begin = nothing,
    .thread_end = nothing,
    .allocate = malloc,
    .allocate_shared = malloc,
    .release = free,
    .heap = heap,
};
