/* SPDX-License-Identifier: MIT */
/*
 * Short-term memory of sgc_shortterm.h.  Its functions are looked up, since another collector, or an older library, has none.
 *
 * An object that has not been refreshed yet is one of the collector, so ACDC's references are roots; with --dated, which hybrid
 * needs, it has a date from the beginning and they are none: what lives, lives by its dates.  In hybrid a thread's own objects
 * are freeable and shared ones are not, as if only the uses of the former had been audited.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/acdc/memory.h"
#include "bench/acdc/memory_gc.h"
#include "bench/acdc/metrics.h"
#include "bench/acdc/options.h"
#include "sgc_shortterm.h"

#define FUNCTION(name) __typeof__(SGC_##name) *name
static struct {
    FUNCTION(shortterm_init);
    FUNCTION(shortterm_mode);
    FUNCTION(refresh);
    FUNCTION(refresh_global);
    FUNCTION(tick);
    FUNCTION(tick_global);
    FUNCTION(leave_time);
    FUNCTION(join_time);
    FUNCTION(expire);
    FUNCTION(malloc_dated);
    FUNCTION(get_shortterm_stats);
} sgc;

static struct {
    bool shared;
    int own_flags, shared_flags;        /* of objects with a date from the beginning */
} wanted;

static void must(int error, const char *call)
{
    if (error == 0)
        return;
    fflush(stdout);
    fprintf(stderr, "acdc: %s: %s\n", call, strerror(error));
    exit(1);
}

/* ---- start ---- */

#define LOOK_UP(name) ((*(void **)&sgc.name = dlsym(RTLD_DEFAULT, "SGC_" #name)) != NULL)

/* A library that can only pin has nothing to expire. */
static bool look_up(void)
{
    (void)LOOK_UP(expire);
    return LOOK_UP(shortterm_init) && LOOK_UP(shortterm_mode) && LOOK_UP(refresh) && LOOK_UP(refresh_global) && LOOK_UP(tick) &&
           LOOK_UP(tick_global) && LOOK_UP(leave_time) && LOOK_UP(join_time) && LOOK_UP(malloc_dated) &&
           LOOK_UP(get_shortterm_stats);
}

static void *allocate_dated(size_t bytes)
{
    return sgc.malloc_dated(bytes, 0, wanted.own_flags);
}

static void *allocate_shared_dated(size_t bytes)
{
    return sgc.malloc_dated(bytes, 0, wanted.shared_flags);
}

static void choose_dated(const struct options *options)
{
    wanted.own_flags = options->plain ? SGC_SHORTTERM_ATOMIC : 0;
    wanted.shared_flags = wanted.own_flags | SGC_SHORTTERM_GLOBAL;
    wanted.own_flags |= options->mode == SGC_SHORTTERM_HYBRID ? SGC_SHORTTERM_FREEABLE : 0;
    memory_shortterm.allocate = allocate_dated;
    memory_shortterm.allocate_shared = allocate_shared_dated;
    memory_shortterm.add_roots = NULL;
}

static const char *begin(const struct options *options)
{
    struct SGC_shortterm chosen = { .mode = (int)options->mode, .extension = (int)options->extension,
                                    .collect = options->collect == EAGER ? SGC_SHORTTERM_EAGER : SGC_SHORTTERM_LAZY,
                                    .step = (int)options->step, .page_bytes = (int)options->page };

    if (!look_up())
        return "this libgc.so.1 is not SGC's; let LD_LIBRARY_PATH lead to that, which is in .libs of a build";
    if (sgc.shortterm_init(&chosen, sizeof chosen) != 0)
        return "SGC_shortterm_init refuses the options; its message says which";
    if (sgc.shortterm_mode() != chosen.mode)
        return "the environment has another mode; unset SGC_SHORTTERM";
    wanted.shared = options->shared;
    if (options->dated || options->mode == SGC_SHORTTERM_HYBRID)
        choose_dated(options);
    return gc_begin(options);
}

static void thread_begin(void)
{
    gc_thread_begin();
    if (wanted.shared)
        must(sgc.join_time(), "SGC_join_time");
}

static void thread_end(void)
{
    gc_thread_end();
}

/* ---- dates and time ---- */

static void refresh(void *object, unsigned extension)
{
    must(sgc.refresh(object, extension), "SGC_refresh");
}

static void refresh_global(void *object, unsigned extension)
{
    must(sgc.refresh_global(object, extension), "SGC_refresh_global");
}

static void tick(void)
{
    must(sgc.tick(), "SGC_tick");
}

static void tick_global(void)
{
    must(sgc.tick_global(), "SGC_tick_global");
}

static void leave_time(void)
{
    must(sgc.leave_time(), "SGC_leave_time");
}

static void join_time(void)
{
    must(sgc.join_time(), "SGC_join_time");
}

static void expire_all(void)
{
    if (sgc.expire != NULL)
        sgc.expire(SIZE_MAX);
}

/* ---- figures ---- */

static struct SGC_shortterm_stats stats;        /* in the end */

static struct SGC_shortterm_stats stats_now(void)
{
    struct SGC_shortterm_stats now = { .dates = 0 };

    sgc.get_shortterm_stats(&now, sizeof now);
    return now;
}

/* Where dates free objects they are counted; what is pinned, collections find. */
static struct managed managed(long long allocated_bytes, long long allocated_objects)
{
    struct SGC_shortterm_stats now = stats_now();

    if (sgc.shortterm_mode() != SGC_SHORTTERM_FREE)
        return (struct managed){ gc_bytes_in_use(), -1 };
    return (struct managed){ allocated_bytes - (long long)now.freed_bytes, allocated_objects - (long long)now.freed };
}

/* While all threads are there, and no collection has helped. */
static void settle(void)
{
    stats = stats_now();
}

static void report(void)
{
    figure("dates", (double)stats.dates, "dates");
    figure("expired", (double)stats.expired, "dates");
    figure("ticks", (double)stats.ticks, "calls");
    figure("global_ticks", (double)stats.global_ticks, "calls");
    figure("global_time", (double)stats.global_time, "phases");
    figure("freed_objects", (double)stats.freed, "objects");
    figure("freed_bytes", (double)stats.freed_bytes, "B");
    figure("dates_mb", (double)stats.date_bytes / 1048576, "MB");
    gc_report();
}

struct memory memory_shortterm = {
    .name = "shortterm",
    .begin = begin,
    .thread_begin = thread_begin,
    .thread_end = thread_end,
    .allocate = gc_allocate,
    .allocate_shared = gc_allocate,
    .refresh = refresh,
    .refresh_global = refresh_global,
    .tick = tick,
    .tick_global = tick_global,
    .leave_time = leave_time,
    .join_time = join_time,
    .expire_all = expire_all,
    .settle = settle,
    .add_roots = gc_add_roots,
    .size_of = gc_size_of,
    .managed = managed,
    .heap = gc_heap,
    .collections = gc_collections,
    .kept = gc_kept,
    .report = report,
};
