/* SPDX-License-Identifier: MIT */
/*
 * Global time with several threads: it goes on when each that takes part has ticked, threads that wait are not waited for, and
 * dates made by any of them are over when they should be.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS

#include "shortterm/global_time.h"

#include <errno.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { MOST = 4, N = 10 };

/* The main thread lets each of the others make one step after another. */
static struct sgc_a32_step { sgc_a32_t go, done; } step[MOST];
static int threads;
static unsigned extension;
static sgc_a32_t wrong;

static void wait_for(sgc_a32_t *word, uint32_t value)
{
    while (sgc_a32_load_acq(word) < value)
        sched_yield();
}

/* Joins, refreshes an object, then ticks once a step: its date is over at its (e + 3)-th tick that counts. */
static void *one(void *raw)
{
    struct sgc_a32_step *s = raw;
    void *object = GC_MALLOC(32);

    wait_for(&s->go, 1);
    if (SGC_refresh_global(object, extension) != 0)
        sgc_a32_store_rel(&wrong, 1);
    sgc_a32_store_rel(&s->done, 1);
    for (uint32_t i = 2; i <= N + 10; i++) {
        wait_for(&s->go, i);
        if (SGC_tick_global() != 0)
            sgc_a32_store_rel(&wrong, 1);
        sgc_a32_store_rel(&s->done, i);
    }
    GC_reachable_here(object);
    return NULL;
}

static void all_step(uint32_t i)
{
    for (int t = 0; t < threads; t++) {
        sgc_a32_store_rel(&step[t].go, i);
        wait_for(&step[t].done, i);
    }
}

/* All tick once a phase, one after another, so that each tick counts: each date is over at its thread's (e + 3)-th. */
static int together(void)
{
    pthread_t thread[MOST];
    uint32_t phase;
    int bad = 0;

    GC_INIT();
    sgc_time_reset(UINT32_MAX - 4);
    for (int t = 0; t < threads; t++)
        bad += GC_pthread_create(&thread[t], NULL, one, &step[t]) != 0;
    all_step(1);
    phase = sgc_time_phase();
    bad += sgc_time_threads() != (uint32_t)threads || dates() != (uint64_t)threads;
    for (uint32_t i = 1; i <= N + 8; i++) {
        all_step(i + 1);
        bad += sgc_time_phase() != phase + i;
        bad += dates() != (i < extension + 3 ? (uint64_t)threads : 0);
    }
    all_step(N + 10);
    for (int t = 0; t < threads; t++)
        GC_pthread_join(thread[t], NULL);
    return bad != 0 || sgc_a32_load_acq(&wrong) != 0 || sgc_time_threads() != 0;
}

/* ---- threads that wait, and that never tick ---- */

static void *waits_in_region(void *raw)
{
    sgc_a32_store_rel(&step[0].done, 2);
    wait_for(raw, 3);
    return NULL;
}

static void *blocks(void *raw)
{
    SGC_join_time();
    sgc_a32_store_rel(&step[0].done, 1);
    wait_for(&step[0].go, 2);
    GC_do_blocking(waits_in_region, &step[0].go);
    sgc_a32_store_rel(&step[0].done, 3);
    wait_for(&step[0].go, 4);
    return raw;
}

static uint32_t phases_in(int ticks)
{
    uint32_t before = sgc_time_phase();

    while (ticks-- > 0)
        SGC_tick_global();
    return sgc_time_phase() - before;
}

static int waits(void)
{
    pthread_t thread;
    int bad = GC_pthread_create(&thread, NULL, blocks, NULL) != 0;

    wait_for(&step[0].done, 1);
    bad += phases_in(10) > 1 || sgc_time_threads() != 2;
    sgc_a32_store_rel(&step[0].go, 2);
    wait_for(&step[0].done, 2);
    bad += sgc_time_threads() != 1 || phases_in(10) != 10;
    sgc_a32_store_rel(&step[0].go, 3);
    wait_for(&step[0].done, 3);
    bad += sgc_time_threads() != 2 || phases_in(10) > 2;
    sgc_a32_store_rel(&step[0].go, 4);
    GC_pthread_join(thread, NULL);
    bad += sgc_time_threads() != 1 || phases_in(10) != 10;
    SGC_leave_time();
    bad += SGC_leave_time() != EALREADY || sgc_time_threads() != 0;
    return bad != 0;
}

static int forked(void)
{
    int status;
    pid_t child;

    SGC_join_time();
    child = fork();
    if (child == 0)
        _exit(sgc_time_threads() != 1 || phases_in(5) != 5);
    return waitpid(child, &status, 0) != child || status != 0;
}

int main(void)
{
    static const unsigned es[] = { 0, 1, N - 1, N };

    tap_plan(14);
    for (threads = 1; threads <= MOST; threads *= 2)
        for (int i = 0; i < 4; i++) {
            extension = es[i];
            child_ok(together, "%d threads, extension %u: over at the tick that is due", threads, extension);
        }
    child_ok(waits, "a thread that blocks is not waited for");
    child_ok(forked, "the child of a fork is alone in time");
    return tap_done();
}
