/* SPDX-License-Identifier: MIT */
/*
 * What a thread has given by global time is not over with the thread, in any mode: objects that nothing but such a date keeps,
 * regions of others, its own regions.  It is over when time has gone on.
 *
 * Also: shortterm/orphan_dates.c, shortterm/layer.c.
 */
#define GC_THREADS

#include <sys/syscall.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/scrub.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

/* A turn that begins when the thread ends takes LEAST to MOST ticks of the only other thread. */
enum { OBJECTS = 300, N = 6, LEAST = N + 1, MOST = 2 * (N + 4), STRAY = 20 };

static int mode;

static int run(int (*body)(void))
{
    choose(mode, N, SGC_SHORTTERM_EAGER, -1, -1);
    return body();
}

static bool vanishes;                   /* threads end without a word */
static void *(*body_of_thread)(void *);

static void *end_so(void *unused)
{
    body_of_thread(NULL);
    if (vanishes)
        syscall(SYS_exit, 0);
    return unused;
}

static void end_thread(void *(*body)(void *))
{
    body_of_thread = body;
    pthread_join(thread_start(end_so, NULL), NULL);
    if (vanishes) {
        GC_gcollect();                  /* finds that it is gone */
        GC_gcollect();
    }
}

/* ---- objects ---- */

static void *link_to[OBJECTS];          /* hidden: no roots; NULL when the object is gone */

static void *dates_objects(void *unused)
{
    for (int i = 0; i < OBJECTS; i++) {
        void **object = GC_MALLOC(48);

        object[1] = (void *)(uintptr_t)i;
        if (SGC_refresh_global(object, (unsigned)i % (N + 1)) != 0)
            abort();
        link_to[i] = (void *)GC_HIDE_POINTER(object);
        GC_general_register_disappearing_link(&link_to[i], object);
    }
    return unused;
}

static int there(void)
{
    int count = 0;

    scrub_stack();
    GC_gcollect();
    for (int i = 0; i < OBJECTS; i++)
        count += link_to[i] != NULL && ((uintptr_t *)GC_REVEAL_POINTER(link_to[i]))[1] == (uintptr_t)i;
    return count;
}

static int objects(void)
{
    GC_exclude_static_roots(link_to, link_to + OBJECTS);
    SGC_join_time();
    end_thread(dates_objects);
    if (there() != OBJECTS || dates() != OBJECTS)
        return 1;
    for (int i = 0; i < LEAST; i++)
        SGC_tick_global();
    if (there() != OBJECTS)
        return 2;
    for (int i = LEAST; i < MOST; i++)
        SGC_tick_global();
    if (dates() != 0)
        return 3;
    there();
    return there() > STRAY ? 4 : 0;
}

static int nobody_ticks(void)
{
    GC_exclude_static_roots(link_to, link_to + OBJECTS);
    end_thread(dates_objects);
    for (int i = 0; i < 5; i++)
        SGC_tick();
    return there() != OBJECTS;
}

/* ---- regions ---- */

static SGC_region_t *region;
static char *inside;

static void fill(void)
{
    region = SGC_region_new();
    inside = SGC_region_malloc(region, 40);
    strcpy(inside, "still there");
    for (int i = 0; i < 1000; i++)
        SGC_region_malloc(region, 100);
}

static int is_whole(void)
{
    return SGC_region_of(inside) == region && strcmp(inside, "still there") == 0;
}

static void *dates_region(void *unused)
{
    if (SGC_refresh_global(inside, 5) != 0)
        abort();
    return unused;
}

static void *makes_region(void *unused)
{
    fill();
    if (SGC_region_refresh(region, 2) != 0)
        abort();
    return dates_region(unused);
}

/* How long it takes until the region is empty; 0: it never is. */
static int ticks_until_empty(void)
{
    for (int i = 1; i <= MOST; i++) {
        SGC_tick_global();
        if (i % 3 == 0)
            GC_gcollect();
        if (!is_whole())
            return i;
    }
    return 0;
}

static int others_region(void)
{
    SGC_join_time();
    fill();
    end_thread(dates_region);
    SGC_tick_global();
    GC_gcollect();
    if (!is_whole() || dates() != 1 || SGC_region_malloc(region, 16) == NULL || !is_whole())
        return 1;
    return ticks_until_empty() < LEAST - 1 || dates() != 0;
}

/* The last date of several decides, whoever has it. */
static int with_our_date(void)
{
    SGC_join_time();
    fill();
    SGC_region_refresh(region, 0);
    end_thread(dates_region);
    SGC_tick();
    if (!is_whole() || SGC_region_refresh(region, 0) != 0)
        return 1;
    for (int i = 0; i < MOST; i++)
        SGC_tick_global();
    if (!is_whole() || dates() != 1)
        return 2;
    SGC_tick();
    return is_whole() || dates() != 0;
}

static int own_region(void)
{
    SGC_join_time();
    end_thread(makes_region);
    SGC_tick_global();
    GC_gcollect();
    if (!is_whole() || SGC_refresh_global(inside, N) != 0)
        return 1;
    for (int i = 0; i < N + 2; i++)
        SGC_tick_global();
    if (!is_whole())
        return 2;
    if (ticks_until_empty() == 0 || dates() != 0)
        return 3;
    return SGC_region_malloc(region, 16) != NULL || SGC_region_refresh(region, 0) != 0 || dates() != 1;
}

/* ---- what the program does at the end of a thread ---- */

static int makes_dates(void *object)
{
    SGC_clock_t *clock = SGC_clock_new();

    SGC_refresh(object, 3);
    SGC_refresh_global(object, 3);
    SGC_refresh_clock(object, 3, clock);
    SGC_refresh_clock(inside, 3, clock);
    SGC_refresh(inside, 3);
    return 1;
}

static void *expires_at_the_end(void *object)
{
    SGC_set_expiry_proc(object, makes_dates);
    SGC_refresh(object, 3);
    return object;
}

/* Nobody waits for the thread, whatever it did at the last moment, and no date stays for ever. */
static int last_moment(void)
{
    void *object;

    fill();
    object = GC_MALLOC(32);
    for (int i = 0; i < 4; i++)
        pthread_join(thread_start(expires_at_the_end, object), NULL);
    if (figures().active != 0)
        return 1;
    for (int i = 0; i < 2 * MOST; i++)
        SGC_tick_global();
    GC_gcollect();
    return dates() != 0 || (mode != SGC_SHORTTERM_PIN && mode != SGC_SHORTTERM_VERIFY && SGC_dates(object) > 0) ||
           SGC_region_refresh(region, 0) != 0 || SGC_tick() != 0 || is_whole();
}

static const struct test {
    int (*body)(void);
    bool vanishes;
    const char *name;
} tests[] = {
    { objects, false, "objects that nothing but global dates of an ended thread keeps are there until time has gone on" },
    { nobody_ticks, false, "and as long as nobody ticks" },
    { others_region, false, "another thread's region has its global date until then" },
    { with_our_date, false, "and until its owner's date is over" },
    { own_region, false, "the ended thread's own region may be refreshed until then, and is empty afterwards" },
    { last_moment, false, "dates that are made when a thread ends are over, too" },
    { objects, true, "objects of a thread that ends without a word are there until then" },
    { others_region, true, "and so is a region that it has given a date" },
    { own_region, true, "and its own one" },
};

int main(void)
{
    enum { TESTS = sizeof tests / sizeof tests[0], MODES = sizeof mode_names / sizeof mode_names[0] };

    unsetenv("SGC_SHORTTERM");
    tap_plan(TESTS * MODES);
    for (mode = 0; mode < MODES; mode++)
        for (int i = 0; i < TESTS; i++) {
            vanishes = tests[i].vanishes;
            child_ok_of(vanishes && TEST_SANITIZED ? CHILD_SKIPS : run(tests[i].body),
                        "%s: %s", mode_names[mode], tests[i].name);
        }
    return tap_done();
}
