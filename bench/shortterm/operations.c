/* SPDX-License-Identifier: MIT */
/*
 * What each operation of short-term memory costs, beside the same of GC_malloc and GC_free, of the C library, and, if the user
 * names one, of a libscm: nanoseconds, the median of rounds, with least and most.
 *
 *     --only NAME      one of the figures without its _ns, for counting instructions
 *     --rounds N       measured rounds
 *     --batch N        objects of a round
 *     --size N         bytes of an object
 *     --dates N        objects with a date in the pause
 *     --libscm FILE    a shared library with scm_malloc and so on
 *
 * Rounds: as many objects as a batch has are allocated, and get one date that outlasts what is measured, the largest extension.
 * Then come as many periods; in each, all objects are refreshed with extension 0, which is the refresh that is measured, and a
 * tick takes the dates of the period off if it is eager; if it is lazy, the following refreshes do, and one in eleven of them
 * frees an object.  Afterwards ticks let all objects go.
 *
 * All libraries are called by pointers; the loops are in bench/shortterm/loops.c; NAME_operations says how many operations
 * they did.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/shortterm/arena.h"
#include "bench/shortterm/loops.h"

enum { ROUNDS, BATCH, SIZE, DATES, ONLY, LIBSCM, PARAMETERS };
enum { NAME_MOST = 64, FIRST_TIMED = 2, PAUSES = 5, DEFAULT_EXTENSION = 10 };

static const char *only, *libscm;

static struct app_parameter parameters[PARAMETERS] = {
    [ROUNDS] = { "rounds", 1, 1000000, 20, 400, 0, NULL },
    [BATCH] = { "batch", 1, 1000000, 128, 1024, 0, NULL },
    [SIZE] = { "size", 16, 4096, 32, 32, 0, NULL },
    [DATES] = { "dates", 1, 100000000, 10000, 1000000, 0, NULL },
    [ONLY] = { "only", 0, 0, 0, 0, 0, &only },
    [LIBSCM] = { "libscm", 0, 0, 0, 0, 0, &libscm },
};

static struct library scm = { .name = "libscm" };

static double *measured;        /* of each round */
static size_t rounds_measured;
static size_t calls;            /* of the loop, measured or not */

/* ---- rounds ---- */

static void note(uint64_t began, double operations)
{
    measured[rounds_measured++] = (double)(now_ns() - began) / operations;
}

static bool is_full(void)
{
    return rounds_measured == (size_t)parameters[ROUNDS].chosen;
}

/* The figure LIBRARY_WHAT_ns, if it is wanted. */
static bool begin_figure(char *name, const char *library, const char *what)
{
    snprintf(name, NAME_MOST, "%s_%s", library, what);
    rounds_measured = calls = 0;
    return only == NULL || strcmp(only, name) == 0;
}

static void end_figure(char *name, double operations)
{
    strcat(name, "_operations");
    figure(name, operations * (double)calls, "number");
    strcpy(strrchr(name, '_'), "_ns");
    figures(name, measured, rounds_measured, "ns");
}

/* One round more than are measured: the first one finds no pages. */
static void measure_loop(const struct library *l, const char *what, void (*loop)(const struct library *, size_t))
{
    char name[NAME_MOST];

    if (!begin_figure(name, l->name, what))
        return;
    loop(l, (size_t)parameters[SIZE].chosen);
    for (calls = 1; !is_full(); calls++) {
        uint64_t began = now_ns();

        loop(l, (size_t)parameters[SIZE].chosen);
        note(began, (double)loops.batch);
    }
    end_figure(name, (double)loops.batch);
}

static void measure_dated(const char *what, int flags)
{
    char name[NAME_MOST];

    if (!begin_figure(name, "dates", what))
        return;
    timed_dated(flags, (size_t)parameters[SIZE].chosen);
    for (calls = 1; !is_full(); calls++) {
        uint64_t began = now_ns();

        timed_dated(flags, (size_t)parameters[SIZE].chosen);
        note(began, (double)loops.batch);
    }
    end_figure(name, (double)loops.batch);
}

static void measure_ticks(const struct library *l, const char *what, void (*tick)(void))
{
    char name[NAME_MOST];

    if (!begin_figure(name, l->name, what))
        return;
    for (; !is_full(); calls++) {
        uint64_t began = now_ns();

        timed_ticks(tick);
        note(began, (double)loops.batch);
    }
    end_figure(name, (double)loops.batch);
}

/* ---- refreshes of objects that live ---- */

/* Who makes the objects. */
typedef void fill_fn(const struct library *l);

static void fill_here(const struct library *l)
{
    for (size_t i = 0; i < loops.batch; i++)
        loops.objects[i] = obtained(l->new((size_t)parameters[SIZE].chosen));
}

/* A date that outlasts the periods; they are one less, since the tick of the last one lets it be over. */
static void one_fill(const struct library *l, bool global, bool time_ticks, fill_fn *fill)
{
    void (*refresh)(void *, unsigned) = global ? l->refresh_global : l->refresh;
    void (*tick)(void) = global ? l->tick_global : l->tick;

    fill(l);
    for (size_t i = 0; i < loops.batch; i++)
        l->refresh(loops.objects[i], DEFAULT_EXTENSION);
    for (int period = 0; period < DEFAULT_EXTENSION; period++, calls++) {
        uint64_t began = now_ns();

        timed_refreshes(refresh);
        if (!time_ticks && period >= FIRST_TIMED && !is_full())
            note(began, (double)loops.batch);
        began = now_ns();
        timed_tick(tick);
        if (time_ticks && period >= FIRST_TIMED && !is_full())
            note(began, (double)loops.batch);
    }
    memset(loops.objects, 0, loops.batch * sizeof *loops.objects);
    for (int i = 0; i < DEFAULT_EXTENSION + 3; i++) {
        l->tick();
        if (global)
            l->tick_global();
    }
}

static void measure_refreshes(const struct library *l, const char *what, bool global, bool time_ticks, fill_fn *fill)
{
    char name[NAME_MOST];

    if (!begin_figure(name, l->name, what))
        return;
    while (!is_full())
        one_fill(l, global, time_ticks, fill);
    end_figure(name, (double)loops.batch);
}

/* ---- objects of another thread ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool wanted, over;
} other = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };

static const struct library *wanted_of;

static void *fill_when_wanted(void *arg)
{
    pthread_mutex_lock(&other.lock);
    while (!other.over) {
        if (other.wanted) {
            fill_here(wanted_of);
            other.wanted = false;
            pthread_cond_broadcast(&other.changed);
        }
        pthread_cond_wait(&other.changed, &other.lock);
    }
    pthread_mutex_unlock(&other.lock);
    return arg;
}

static void fill_there(const struct library *l)
{
    pthread_mutex_lock(&other.lock);
    wanted_of = l;
    other.wanted = true;
    pthread_cond_broadcast(&other.changed);
    while (other.wanted)
        pthread_cond_wait(&other.changed, &other.lock);
    pthread_mutex_unlock(&other.lock);
}

static void measure_others(const struct library *l)
{
    pthread_t thread;

    other.over = other.wanted = false;
    need(pthread_create(&thread, NULL, fill_when_wanted, NULL) == 0, "operations: a thread cannot be created");
    measure_refreshes(l, "refresh_other", false, false, fill_there);
    pthread_mutex_lock(&other.lock);
    other.over = true;
    pthread_cond_broadcast(&other.changed);
    pthread_mutex_unlock(&other.lock);
    pthread_join(thread, NULL);
}

/* ---- pauses ---- */

/* Of a collection of all; the least of some. */
static double pause_ms(void)
{
    size_t (*get_stats)(struct SGC_stats *stats, size_t size);
    struct SGC_stats before, after;
    double least = 1e30, ms;

    *(void **)&get_stats = dlsym(RTLD_DEFAULT, "SGC_get_stats");
    for (int i = 0; i < PAUSES && get_stats != NULL; i++) {
        get_stats(&before, sizeof before);
        GC_gcollect();
        get_stats(&after, sizeof after);
        ms = (double)(after.pause_ns - before.pause_ns) / 1e6;
        least = ms < least ? ms : least;
    }
    return least;
}

static void refresh_all(void **all, long count)
{
    for (long i = 0; i < count; i++)
        app_refresh(all[i], DEFAULT_EXTENSION);
}

/* The same objects in a table, in a table and with dates, and with dates only. */
static void measure_pauses(void)
{
    long count = parameters[DATES].chosen;
    void **all;

    if (only != NULL && strcmp(only, "pause") != 0)
        return;
    all = app_new((size_t)count * sizeof *all);
    for (long i = 0; i < count; i++)
        all[i] = app_new((size_t)parameters[SIZE].chosen);
    figure("pause_without_ms", pause_ms(), "ms");
    refresh_all(all, count);
    figure("pause_with_ms", pause_ms(), "ms");
    memset(all, 0, (size_t)count * sizeof *all);
    figure("pause_by_dates_ms", pause_ms(), "ms");
    for (int i = 0; i <= DEFAULT_EXTENSION; i++)
        app_tick();
    while (app_dates()->expire((size_t)count) > 0)
        continue;
    figure("pause_after_ms", pause_ms(), "ms");
}

/* ---- libraries ---- */

static void *new_plain(size_t size)
{
    return GC_malloc_atomic(size);
}

static const struct library libc = { .name = "libc", .new = malloc, .free = free };
static const struct library gc = { .name = "gc", .new = GC_malloc, .free = GC_free };
static const struct library gc_plain = { .name = "gc_plain", .new = new_plain, .free = GC_free };
static const struct library arena = { .name = "arena", .new = arena_malloc };
static const struct library arena_cleared = { .name = "arena_cleared", .new = arena_calloc };

static void our_refresh(void *object, unsigned extension)
{
    app_dates()->refresh(object, extension);
}

static void our_refresh_global(void *object, unsigned extension)
{
    app_dates()->refresh_global(object, extension);
}

static void our_tick(void)
{
    app_dates()->tick();
}

static void our_tick_global(void)
{
    app_dates()->tick_global();
}

static const struct library dates = {
    .name = "dates", .new = GC_malloc, .free = GC_free, .refresh = our_refresh, .refresh_global = our_refresh_global,
    .tick = our_tick, .tick_global = our_tick_global
};
static const struct library dates_plain = {
    .name = "dates_plain", .new = new_plain, .free = GC_free, .refresh = our_refresh, .refresh_global = our_refresh_global,
    .tick = our_tick, .tick_global = our_tick_global
};

static void *symbol(void *file, const char *name)
{
    void *found = dlsym(file, name);
    char expected[NAME_MOST];

    snprintf(expected, sizeof expected, "expected a library with %s", name);
    if (found == NULL)
        app_refuse("--libscm", libscm, expected);
    return found;
}

static void open_scm(void)
{
    void *file, (*begin)(void);

    if (libscm == NULL)
        return;
    file = dlopen(libscm, RTLD_NOW | RTLD_LOCAL);
    if (file == NULL)
        app_refuse("--libscm", libscm, dlerror());
    *(void **)&scm.new = symbol(file, "scm_malloc");
    *(void **)&scm.free = symbol(file, "scm_free");
    *(void **)&scm.refresh = symbol(file, "scm_refresh");
    *(void **)&scm.refresh_global = symbol(file, "scm_global_refresh");
    *(void **)&scm.tick = symbol(file, "scm_tick");
    *(void **)&scm.tick_global = symbol(file, "scm_global_tick");
    *(void **)&scm.region_new = dlsym(file, "scm_create_region");
    *(void **)&scm.region_malloc = dlsym(file, "scm_malloc_in_region");
    *(void **)&scm.region_refresh = dlsym(file, "scm_refresh_region");
    *(void **)&begin = dlsym(file, "scm_register_thread");
    if (begin != NULL)
        begin();
}

/* ---- all ---- */

static void measure_memory(const struct library *l)
{
    measure_loop(l, "pair", timed_pairs);
    measure_loop(l, "batch", timed_batches);
    measure_loop(l, "request", timed_request);
}

static void measure_library(const struct library *l)
{
    measure_loop(l, "cycle", timed_cycles);
    measure_refreshes(l, "refresh", false, false, fill_here);
    measure_refreshes(l, "refresh_global", true, false, fill_here);
    measure_refreshes(l, "expire", false, true, fill_here);
    measure_ticks(l, "tick", l->tick);
    measure_ticks(l, "tick_global", l->tick_global);
}

/* The first libscm had no regions. */
static void measure_scm(void)
{
    measure_memory(&scm);
    measure_library(&scm);
    if (scm.region_new != NULL && scm.region_malloc != NULL && scm.region_refresh != NULL)
        measure_loop(&scm, "region", timed_numbered);
}

static void measure_arenas(void)
{
    measure_loop(&arena, "region", timed_arena);
    measure_loop(&arena_cleared, "region", timed_arena);
    measure_loop(&arena, "request", timed_request_arena);
    measure_loop(&arena_cleared, "request", timed_request_arena);
}

/* Last, and only if wanted: a library may have more to look at for all objects when there are some of these. */
static void measure_holds_and_regions(void)
{
    if (only == NULL || strcmp(only, "dates_hold") == 0)
        fill_here(&dates);
    measure_loop(&dates, "hold", timed_holds);
    if (only == NULL || strcmp(only, "dates_region") == 0 || strcmp(only, "dates_request_region") == 0)
        loops.region = obtained(app_dates()->region_new());
    measure_loop(&dates, "region", timed_region);
    measure_loop(&dates, "request_region", timed_request_region);
    if (loops.region != NULL)
        app_dates()->region_close(loops.region);
}

static void measure_dates(void)
{
    if (app_dates() == NULL)
        return;
    measure_library(&dates);
    measure_loop(&dates_plain, "cycle", timed_cycles);
    measure_loop(&dates, "request", timed_request_dated);
    measure_dated("malloc_dated", 0);
    measure_dated("malloc_dated_plain", SGC_SHORTTERM_ATOMIC);
    measure_others(&dates);
    measure_pauses();
    measure_holds_and_regions();
}

int main(int argc, char **argv)
{
    app_need_extension(DEFAULT_EXTENSION);
    app_begin(argc, argv, "operations", parameters, PARAMETERS);
    open_scm();
    loops.batch = (size_t)parameters[BATCH].chosen;
    loops.objects = app_new(loops.batch * sizeof *loops.objects);
    measured = obtained(malloc((size_t)parameters[ROUNDS].chosen * sizeof *measured));
    measure_memory(&libc);
    measure_memory(&gc);
    measure_memory(&gc_plain);
    measure_arenas();
    if (libscm != NULL)
        measure_scm();
    measure_dates();
    free(measured);
    return app_end(1u << 24);
}
