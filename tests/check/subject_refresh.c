/* SPDX-License-Identifier: MIT */
/*
 * subject_refresh WHAT COUNT: does one operation of short-term memory COUNT times, for tests/check/check_refresh_cost to count
 * its instructions.
 *
 * Of objects and regions there are as many as a table has; a tick follows when each has been refreshed, so that the figures
 * include taking dates off.  Where they are to live on the extension is 1.  scm-...: by libscm, from where the loader looks
 * for it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GC_THREADS
#include "gc.h"
#include "sgc_shortterm.h"

enum { OBJECTS = 1000, BYTES = 64, SMALL = 16 };

static void *object[OBJECTS];
static SGC_region_t *region[OBJECTS];
static void *inside[OBJECTS];           /* an object of each region */

static void need(int right)
{
    if (!right)
        exit(3);
}

/* ---- what there is to be refreshed ---- */

static void make_objects(void)
{
    for (int i = 0; i < OBJECTS; i++)
        object[i] = GC_malloc(BYTES);
}

static pthread_barrier_t made;

static void *make_there(void *unused)
{
    make_objects();
    pthread_barrier_wait(&made);
    pthread_barrier_wait(&made);        /* its pages are its own, and it is there, until the end */
    return unused;
}

static void make_others(void)
{
    pthread_t other;

    pthread_barrier_init(&made, NULL, 2);
    need(pthread_create(&other, NULL, make_there, NULL) == 0);
    pthread_barrier_wait(&made);
}

static void make_regions(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        region[i] = SGC_region_new();
        inside[i] = SGC_region_malloc(region[i], BYTES);
        need(inside[i] != NULL);
    }
}

/* ---- operations ---- */

static void refresh_objects(int (*refresh)(void *object, unsigned extension), int (*tick)(void), long count)
{
    for (long done = 0; done < count; done += OBJECTS) {
        for (int i = 0; i < OBJECTS; i++)
            refresh(object[i], 1);
        tick();
    }
}

static void own(long count)
{
    make_objects();
    refresh_objects(SGC_refresh, SGC_tick, count);
}

static void global(long count)
{
    make_objects();
    refresh_objects(SGC_refresh_global, SGC_tick_global, count);
}

static void other(long count)
{
    make_others();
    refresh_objects(SGC_refresh, SGC_tick, count);
}

static void refresh_regions(int (*refresh)(SGC_region_t *region, unsigned extension), unsigned extension, int (*tick)(void),
                            long count)
{
    make_regions();
    for (long done = 0; done < count; done += OBJECTS) {
        for (int i = 0; i < OBJECTS; i++)
            refresh(region[i], extension);
        tick();
    }
}

static void regions_global(long count)
{
    refresh_regions(SGC_region_refresh_global, 0, SGC_tick_global, count);
}

static void regions_kept(long count)
{
    refresh_regions(SGC_region_refresh, 1, SGC_tick, count);
}

static void region_again(long count)
{
    make_regions();
    for (long i = 0; i < count; i++)
        SGC_region_refresh(region[i % OBJECTS], 0);
}

static void region_inside(long count)
{
    make_regions();
    for (long i = 0; i < count; i++)
        SGC_refresh(inside[i % OBJECTS], 0);
}

static void region_malloc(long count)
{
    make_regions();
    for (long done = 0; done < count; done += OBJECTS) {
        for (int i = 0; i < OBJECTS; i++)
            SGC_region_malloc(region[0], SMALL);
        SGC_region_refresh(region[0], 0);
        SGC_tick();
    }
}

static void tick(long count)
{
    for (long i = 0; i < count; i++)
        SGC_tick();
}

static void tick_global(long count)
{
    for (long i = 0; i < count; i++)
        SGC_tick_global();
}

static void cycle(long count)
{
    for (long done = 0; done < count; done += OBJECTS) {
        for (int i = 0; i < OBJECTS; i++)
            SGC_refresh(GC_malloc(BYTES), 0);
        SGC_tick();
    }
}

static void dated(long count)
{
    for (long done = 0; done < count; done += OBJECTS) {
        for (int i = 0; i < OBJECTS; i++)
            SGC_malloc_dated(BYTES, 0, 0);
        SGC_tick();
    }
}

/* ---- libscm ---- */

static struct {
    void *(*new)(size_t bytes);
    void (*free)(void *object), (*refresh)(void *object, unsigned extension), (*tick)(void);
} scm;

static void open_scm(void)
{
    void *file = dlopen("libscm.so.0", RTLD_NOW);

    need(file != NULL);
    *(void **)&scm.new = dlsym(file, "scm_malloc");
    *(void **)&scm.free = dlsym(file, "scm_free");
    *(void **)&scm.refresh = dlsym(file, "scm_refresh");
    *(void **)&scm.tick = dlsym(file, "scm_tick");
    need(scm.new != NULL && scm.free != NULL && scm.refresh != NULL && scm.tick != NULL);
}

static void scm_pair(long count)
{
    open_scm();
    for (long i = 0; i < count; i++)
        scm.free(scm.new(BYTES));
}

static void scm_cycle(long count)
{
    open_scm();
    for (long done = 0; done < count; done += OBJECTS) {
        for (int i = 0; i < OBJECTS; i++)
            scm.refresh(scm.new(BYTES), 0);
        scm.tick();
    }
}

static const struct {
    const char *name;
    void (*run)(long count);
} operations[] = {
    { "own", own }, { "global", global }, { "other", other }, { "regions-kept", regions_kept },
    { "regions-global", regions_global }, { "region-again", region_again }, { "region-inside", region_inside },
    { "region-malloc", region_malloc }, { "tick", tick }, { "tick-global", tick_global }, { "cycle", cycle },
    { "dated", dated }, { "scm-pair", scm_pair }, { "scm-cycle", scm_cycle },
};

int main(int argc, char **argv)
{
    GC_INIT();
    GC_allow_register_threads();
    for (size_t i = 0; argc == 3 && i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(argv[1], operations[i].name) == 0) {
            operations[i].run(strtol(argv[2], NULL, 10));
            return 0;
        }
    fprintf(stderr, "subject_refresh WHAT COUNT, of own, global, other, regions and so on\n");
    return 2;
}
