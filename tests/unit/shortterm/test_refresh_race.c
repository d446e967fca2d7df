/* SPDX-License-Identifier: MIT */
/*
 * Threads refresh objects of their own, in each way that looks for the object, while another one collects as fast as it can: no
 * refresh is refused.  A collection exchanges the bitmap of allocated objects for that of marked ones, and clears the
 * old one; who has found his word in the one before, and reads it afterwards, would see that nothing is allocated there.
 *
 * Also: shortterm/refresh.c.
 */
#define GC_THREADS

#include "gc/gc.h"
#include "platform/atomics.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

/* More threads than processors, so that one which was stopped has to wait for its turn afterwards. */
enum { THREADS = 6, OBJECTS = 200, COLLECTIONS = TEST_SANITIZED ? 100 : 500 };

static sgc_a32_t over, refused;
static void *object[THREADS][OBJECTS];
static int (*refresh)(void *object, unsigned extension);
static __thread SGC_clock_t *rhythm;

static void *collect(void *unused)
{
    for (int i = 0; i < COLLECTIONS; i++)
        GC_gcollect();
    sgc_a32_store(&over, 1);
    return unused;
}

static int by_rhythm(void *o, unsigned extension)
{
    return SGC_refresh_clock(o, extension, rhythm);
}

static void must(int error)
{
    if (error != 0)
        sgc_a32_store(&refused, (uint32_t)error);
}

static void tick_all(void)
{
    must(SGC_tick());
    must(SGC_tick_global());
    must(SGC_tick_clock(rhythm));
}

/* Roots have the objects, too, so that they live in any mode until others take their places. */
static void *work(void *own)
{
    void **mine = own;

    rhythm = SGC_clock_new();
    for (int i = 0; sgc_a32_load(&over) == 0; i++) {
        void **o = &mine[i % OBJECTS];

        *o = GC_malloc_atomic(i % 50 == 49 ? 300000 : 16 + (size_t)i % 7 * 16);
        for (int k = 0; k < 8; k++)
            must(refresh(*o, 2));
        if (i % OBJECTS == OBJECTS - 1)
            tick_all();
    }
    must(SGC_clock_release(rhythm));
    return NULL;
}

static int storm(int mode, int (*way)(void *, unsigned))
{
    pthread_t thread[THREADS], collector;

    refresh = way;
    choose(mode, 10, SGC_SHORTTERM_EAGER, -1, 512);
    for (int i = 0; i < THREADS; i++)
        thread[i] = thread_start(work, object[i]);
    threads_start(&collector, 1, collect);
    threads_join(&collector, 1);
    threads_join(thread, THREADS);
    return (int)sgc_a32_load(&refused);
}

int main(void)
{
    tap_plan(5);
    child_ok_of(storm(SGC_SHORTTERM_FREE, SGC_refresh), "free, by the own clock");
    child_ok_of(storm(SGC_SHORTTERM_FREE, SGC_refresh_global), "free, by global time");
    child_ok_of(storm(SGC_SHORTTERM_FREE, by_rhythm), "free, by a clock of the program");
    child_ok_of(storm(SGC_SHORTTERM_PIN, by_rhythm), "pin, by a clock of the program");
    child_ok_of(storm(SGC_SHORTTERM_PIN, SGC_refresh), "pin, by the own clock");
    return tap_done();
}
