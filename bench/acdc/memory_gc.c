/* SPDX-License-Identifier: MIT */
/* A collector, alone or with GC_free.  See memory_gc.h. */
#define GC_THREADS
#include "bench/acdc/memory_gc.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/acdc/memory.h"
#include "bench/acdc/metrics.h"
#include "bench/acdc/options.h"
#include "sgc.h"

static __typeof__(SGC_get_stats) *get_stats;
static uint64_t live_before;            /* objects that a collection found at the start */
static bool plain;

static uint64_t collected_objects(void)
{
    struct SGC_stats stats = { .live_objects = 0 };

    GC_gcollect();
    get_stats(&stats, sizeof stats);
    return stats.live_objects;
}

const char *gc_begin(const struct options *options)
{
    plain = options->plain;
    GC_INIT();
    GC_allow_register_threads();
    *(void **)&get_stats = dlsym(RTLD_DEFAULT, "SGC_get_stats");
    if (get_stats != NULL)
        live_before = collected_objects();
    return NULL;
}

void gc_thread_begin(void)
{
    struct GC_stack_base base;

    GC_get_stack_base(&base);
    GC_register_my_thread(&base);
}

void gc_thread_end(void)
{
    GC_unregister_my_thread();
}

void *gc_allocate(size_t bytes)
{
    return plain ? GC_malloc_atomic(bytes) : GC_malloc(bytes);
}

void gc_add_roots(void *low, void *high)
{
    GC_add_roots(low, high);
}

size_t gc_size_of(void *object)
{
    return GC_size(object);
}

long long gc_bytes_in_use(void)
{
    return (long long)(GC_get_heap_size() - GC_get_free_bytes());
}

size_t gc_heap(void)
{
    return GC_get_heap_size();
}

size_t gc_collections(void)
{
    return GC_get_gc_no();
}

long long gc_kept(void)
{
    uint64_t live;

    if (get_stats == NULL)
        return -1;
    live = collected_objects();
    return live > live_before ? (long long)(live - live_before) : 0;
}

static struct managed managed(long long allocated_bytes, long long allocated_objects)
{
    (void)allocated_bytes;
    (void)allocated_objects;
    return (struct managed){ gc_bytes_in_use(), -1 };
}

/* The file is the one that GC_malloc is called in. */
static void say_collector(void)
{
    unsigned version = GC_get_version();
    const char *(*sgc_version)(void);
    char name[64];
    Dl_info file;

    *(void **)&sgc_version = dlsym(RTLD_DEFAULT, "SGC_version");
    if (sgc_version != NULL)
        snprintf(name, sizeof name, "sgc-%s", sgc_version());
    else
        snprintf(name, sizeof name, "bdwgc-%u.%u.%u", version >> 16, version >> 8 & 255, version & 255);
    say("collector", name, dladdr(dlsym(RTLD_DEFAULT, "GC_malloc"), &file) != 0 ? file.dli_fname : "?");
}

static void report_pauses(void)
{
    struct SGC_stats stats = { .pause_ns = 0 };

    if (get_stats == NULL || get_stats(&stats, sizeof stats) < sizeof stats)
        return;
    figure("pause_ms", (double)stats.pause_ns / 1e6, "ms");
    figure("pause_max_ms", (double)stats.pause_max_ns / 1e6, "ms");
}

/* Those of the start and of gc_kept count as collections. */
void gc_report(void)
{
    say_collector();
    figure("collections", (double)GC_get_gc_no() - (get_stats != NULL ? 2 : 0), "times");
    figure("heap_mb", (double)GC_get_heap_size() / 1048576, "MB");
    report_pauses();
}

struct memory memory_gc = {
    .name = "gc",
    .begin = gc_begin,
    .thread_begin = gc_thread_begin,
    .thread_end = gc_thread_end,
    .allocate = gc_allocate,
    .allocate_shared = gc_allocate,
    .add_roots = gc_add_roots,
    .size_of = gc_size_of,
    .managed = managed,
    .heap = gc_heap,
    .collections = gc_collections,
    .kept = gc_kept,
    .report = gc_report,
};

struct memory memory_gc_free = {
    .name = "gc-free",
    .begin = gc_begin,
    .thread_begin = gc_thread_begin,
    .thread_end = gc_thread_end,
    .allocate = gc_allocate,
    .allocate_shared = gc_allocate,
    .release = GC_free,
    .add_roots = gc_add_roots,
    .size_of = gc_size_of,
    .heap = gc_heap,
    .collections = gc_collections,
    .kept = gc_kept,
    .report = gc_report,
};
