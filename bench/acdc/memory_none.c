/* SPDX-License-Identifier: MIT */
/*
 * No memory: what ACDC costs by itself, to be taken off the others.  All objects of a thread lie in one place that is used over
 * and over, so nothing that is written there stays.
 */
#include <stdlib.h>

#include "bench/acdc/memory.h"
#include "bench/acdc/metadata.h"
#include "bench/acdc/options.h"

static size_t place_bytes;
static _Thread_local struct {
    char *start;
    size_t used;
} place;

static const char *begin(const struct options *options)
{
    size_t largest = (size_t)2 << options->size_most;

    if (options->check)
        return "nothing that is written stays there; leave out --check";
    place_bytes = largest > 65536 ? largest : 65536;
    return NULL;
}

static void thread_begin(void)
{
    place.start = metadata_map(place_bytes);
}

static void *allocate(size_t bytes)
{
    size_t rounded = (bytes + 15) & ~(size_t)15;
    void *object;

    if (place.used + rounded > place_bytes)
        place.used = 0;
    object = place.start + place.used;
    place.used += rounded;
    return object;
}

static void release(void *object)
{
    (void)object;
}

static void refresh(void *object, unsigned extension)
{
    (void)object;
    (void)extension;
}

static void nothing(void)
{
}

struct memory memory_none = {
    .name = "none",
    .begin = begin,
    .thread_begin = thread_begin,
    .thread_end = nothing,
    .allocate = allocate,
    .allocate_shared = allocate,
    .release = release,
    .refresh = refresh,
    .refresh_global = refresh,
    .tick = nothing,
    .tick_global = nothing,
    .leave_time = nothing,
    .join_time = nothing,
    .expire_all = nothing,
};
