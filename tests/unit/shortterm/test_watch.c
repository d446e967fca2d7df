/* SPDX-License-Identifier: MIT */
/*
 * Pages stop to be watched when their last date is gone, while other threads make new ones there: what has a date or a hold of
 * another thread is never freed by GC_free, whatever looks and collections come between.
 *
 * Also: shortterm/layer.c.
 */
#define GC_THREADS

#include <sched.h>
#include <time.h>

#include "gc/gc.h"
#include "platform/atomics.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { ROUNDS = TEST_SANITIZED ? 300 : 3000, PLAIN = 100, KEPT = 50, BATCH = 8 };

static uintptr_t *volatile object[BATCH];
static void *keeps_pages[KEPT];         /* so that these do not become empty */
static sgc_a32_t turn, over;            /* turn: odd, of the thread that dates; even, of the owner */
static sgc_a32_t wrong;
static int mode;

static void wait_for_turn(uint32_t odd)
{
    while (sgc_a32_load_acq(&turn) % 2 != odd)
        sched_yield();
}

static void pass_turn(void)
{
    sgc_a32_add(&turn, 1);
}

/* By holds and dates of global time in turn. */
static void date_them(uint32_t round)
{
    for (int i = 0; i < BATCH; i++)
        if ((i % 2 == 0 ? SGC_hold(object[i]) : SGC_refresh_global(object[i], 0)) != 0)
            sgc_a32_store(&wrong, 100 + round);
}

static void let_them_go(void)
{
    for (int i = 0; i < BATCH; i += 2)
        SGC_unhold(object[i]);
    for (int i = 0; i < 3; i++)
        SGC_tick_global();
    SGC_expire(SIZE_MAX);
}

static void *date_in_turn(void *unused)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        wait_for_turn(1);
        date_them(round);
        pass_turn();
        wait_for_turn(1);
        let_them_go();
        pass_turn();
    }
    return unused;
}

static void *collects(void *unused)
{
    struct timespec moment = { 0, 2000000 };

    while (sgc_a32_load_acq(&over) == 0) {
        GC_gcollect();
        nanosleep(&moment, NULL);
    }
    return unused;
}

static void plain_pairs(void)
{
    for (int i = 0; i < PLAIN; i++)
        GC_free(GC_MALLOC(64));
}

/* While they have dates all of them stay; the owner has pairs of its own, and dates that come and go. */
static void one_round(void)
{
    for (int i = 0; i < BATCH; i++) {
        object[i] = GC_MALLOC(64);
        object[i][3] = 17;
    }
    plain_pairs();
    pass_turn();
    plain_pairs();
    wait_for_turn(0);
    for (int i = 0; i < BATCH; i++)
        if (mode != SGC_SHORTTERM_PIN || i % 2 == 0)
            GC_free(object[i]);
    plain_pairs();
    for (int i = 0; i < BATCH; i++)
        if (GC_base(object[i]) != object[i] || object[i][3] != 17)
            sgc_a32_store(&wrong, 1);
    SGC_refresh(GC_MALLOC(64), 0);
    SGC_tick();
    pass_turn();
    wait_for_turn(0);
}

static int stay(void)
{
    pthread_t other[2];

    choose(mode, 3, SGC_SHORTTERM_EAGER, -1, -1);
    GC_set_warn_proc(GC_ignore_warn_proc);
    for (int i = 0; i < KEPT; i++)
        keeps_pages[i] = GC_MALLOC(64);
    other[0] = thread_start(date_in_turn, NULL);
    other[1] = thread_start(collects, NULL);
    for (int round = 0; round < ROUNDS; round++)
        one_round();
    sgc_a32_store_rel(&over, 1);
    threads_join(other, 2);
    return sgc_a32_load(&wrong) != 0;
}

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    for (mode = 0; mode < 3; mode++)
        child_ok(stay, "%s: what another thread has dated is never freed by hand", mode_names[mode]);
    return tap_done();
}
