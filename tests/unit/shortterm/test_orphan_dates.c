/* SPDX-License-Identifier: MIT */
/*
 * shortterm/orphan_dates.c: dates of global time that ended threads have left are over when time has gone on without these
 * threads, and not before; an object goes at the last of its dates, whose page ever it lies in.
 */
#define GC_THREADS

#include "gc/gc.h"
#include "shortterm/global_time.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

/* While we wait for the end of a thread, we take no part in time, which may go on by that twice. */
enum { OBJECTS = 700, N = 3, TURN = N + 3, LEAST = TURN - 2 };

static void *object[OBJECTS];

static int there(void)
{
    int count = 0;

    for (int i = 0; i < OBJECTS; i++)
        count += SGC_dates(object[i]) > 0;
    return count;
}

/* Makes the second half; refreshes all. */
static void *refresh_all(void *unused)
{
    for (int i = OBJECTS / 2; i < OBJECTS; i++)
        object[i] = GC_MALLOC(40);
    for (int i = 0; i < OBJECTS; i++)
        SGC_refresh_global(object[i], 0);
    return unused;
}

static void half_of_them(void)
{
    choose(SGC_SHORTTERM_FREE, N, SGC_SHORTTERM_EAGER, -1, 256);
    for (int i = 0; i < OBJECTS / 2; i++)
        object[i] = GC_MALLOC(40);
}

static void one_after_another(int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(thread_start(refresh_all, NULL), NULL);
}

/* How many of our ticks it takes, when time goes on with each. */
static int ticks_until_gone(int most)
{
    int ticks = 0;

    for (; ticks < most && there() == OBJECTS; ticks++)
        SGC_tick_global();
    return ticks;
}

static int in_time(void)
{
    half_of_them();
    SGC_join_time();
    one_after_another(1);
    return there() != OBJECTS || ticks_until_gone(100) < LEAST || there() != 0;
}

static int two_turns(void)
{
    half_of_them();
    SGC_join_time();
    one_after_another(3);
    for (int i = 0; i < 2 * TURN; i++)
        SGC_tick_global();
    return there() != 0;
}

static int near_the_end(void)
{
    half_of_them();
    SGC_dates(object[0]);
    SGC_tick();
    sgc_time_reset(UINT32_MAX - 2);
    SGC_join_time();
    one_after_another(1);
    return there() != OBJECTS || ticks_until_gone(100) < LEAST || there() != 0 || sgc_time_phase() > 100;
}

/* ---- time goes on, and nobody ticks ---- */

enum { COMERS = 300, GATHERED = 2 * (TURN + 1) };       /* two turns of time, by one with each thread */

static void *date_one(void *unused)
{
    SGC_region_t *region = SGC_region_new();

    if (SGC_refresh_global(GC_MALLOC(1000), N) != 0 || SGC_region_malloc(region, 100) == NULL ||
        SGC_region_refresh_global(region, 0) != 0)
        abort();
    return unused;
}

static int come_and_go(int mode)
{
    choose(mode, N, -1, -1, -1);
    for (int i = 0; i < COMERS; i++)
        pthread_join(thread_start(date_one, NULL), NULL);
    GC_gcollect();
    return figures().global_time < COMERS || dates() == 0 || dates() > 2 * GATHERED || figures().expired != 0;
}

static void *do_nothing(void *unused)
{
    return unused;
}

static int leave(bool blocks)
{
    half_of_them();
    SGC_join_time();
    one_after_another(1);
    for (int i = 0; i <= TURN; i++)
        if (blocks)
            GC_do_blocking(do_nothing, NULL);
        else if (SGC_leave_time() != 0 || SGC_join_time() != 0)
            return 2;
    return there() != 0 || dates() != 0;
}

/* ---- many at once, while collections count anew ---- */

enum { THREADS = 4, ROUNDS = 60 };

static void *refreshes_and_ends(void *unused)
{
    void *own[40];

    for (int i = 0; i < 40; i++) {
        own[i] = GC_MALLOC(48);
        SGC_refresh_global(own[i], (unsigned)i % (N + 1));
        SGC_refresh_global(object[i], (unsigned)i % (N + 1));
    }
    return unused;
}

/* An object with more dates than have room makes each collection count anew. */
static void too_many(void *crowded)
{
    for (int i = 0; i < 300; i++)
        SGC_refresh(crowded, N);
}

static int at_once(void)
{
    pthread_t thread[THREADS];
    int wrong = 0;

    half_of_them();
    SGC_join_time();
    for (int round = 0; round < ROUNDS; round++) {
        too_many(object[OBJECTS / 2 - 1]);
        threads_start(thread, THREADS, refreshes_and_ends);
        GC_gcollect();
        threads_join(thread, THREADS);
        for (int i = 0; i < OBJECTS / 2 - 1; i++)
            SGC_refresh_global(object[i], 1);
        SGC_tick_global();
        for (int i = 0; i < OBJECTS / 2 - 1; i++)
            wrong += SGC_dates(object[i]) < 1;
    }
    for (int i = 0; i < 3 * TURN; i++)
        wrong += SGC_tick() != 0 || SGC_tick_global() != 0;
    wrong += dates() != 0;
    for (int i = 0; i < OBJECTS / 2 - 1; i++)
        wrong += SGC_dates(object[i]) >= 0;
    return wrong != 0;
}

int main(void)
{
    tap_plan(6 + SGC_SHORTTERM_VERIFY + 1);
    child_ok(in_time, "dates of an ended thread are over when time has gone on");
    child_ok(two_turns, "those of several threads take two turns");
    child_ok(near_the_end, "when time begins again");
    child_ok(at_once, "of threads that end at once, while collections count anew");
    for (int mode = SGC_SHORTTERM_PIN; mode <= SGC_SHORTTERM_VERIFY; mode++)
        child_ok_of(come_and_go(mode), "%s: threads that come and go take off what others have left", mode_names[mode]);
    child_ok_of(leave(false), "a thread that leaves global time takes them off");
    child_ok_of(leave(true), "and so does one that blocks");
    return tap_done();
}
