/* SPDX-License-Identifier: MIT */
/*
 * Programs that report their writes: gc/collect/write_watch.c, gc/api/objects.c, gc/collect/closure.c, gc/collect/concurrent.c.
 * Threads move pointers about that they also keep hidden, beside cycles whose marks are verified, and none of their objects
 * may be lost; threads that do the same without reporting must be told so.  How the source is chosen; and the program's part in
 * marking.  What SGC itself stores: test_own_writes_reported.c.
 */
#include "gc/collect/collect.h"
#include "gc/collect/concurrent.h"

#define GC_THREADS 1
#include <gc/gc.h>
#include <sgc.h>

#include "gc/collect/write_watch.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"
#include "tests/lib/world.h"

enum { THREADS = 3, SLOTS = 1000, CYCLES = TEST_SANITIZED ? 3 : 8 };

static bool forgetful;
static sgc_a32_t wrong;

static void *change_on(void *arg)
{
    uint64_t until = world_patience();
    struct world w = world_make(SLOTS, (uint32_t)(uintptr_t)arg, forgetful);

    while (world_waits_for(CYCLES, until) && sgc_a32_load(&wrong) == 0)
        for (int i = 0; i < 500; i++)
            if (!world_change(&w))
                sgc_a32_store(&wrong, 1);
    if (!world_right(&w))
        sgc_a32_store(&wrong, 1);
    return NULL;
}

static bool begin(void)
{
    GC_INIT();
    world_count_cycles();
    return sgc_concurrent_enabled() && strcmp(sgc_watch_name(), "software") == 0;
}

static int change_in_threads(void)
{
    pthread_t thread[THREADS];

    if (!begin())
        return CHILD_SKIPS;
    threads_start(thread, THREADS, change_on);
    threads_join(thread, THREADS);
    if (sgc_a32_load(&wrong) != 0)
        return 1;
    return sgc_a32_load(&world_cycles.concurrent) >= CYCLES ? 0 : 3;
}

static int forget(void)
{
    forgetful = true;
    return change_in_threads();
}

static void test_forgetful(void)
{
    int status;
    const char *text = capture_said(status = run_in_child(forget));

    if (status == CHILD_SKIPS)
        tap_skip("threads that report nothing: cannot be tried here");
    else if (!tap_ok(status == 128 + SIGABRT && strstr(text, "call GC_END_STUBBORN_CHANGE") != NULL,
                     "threads that report nothing are told so"))
        tap_diag("status %d: %.600s", status, text);
}

/* ---- which source ---- */

static void *volatile held[2];          /* static data */

static void report_early(void)
{
    int local = 0;

    GC_end_stubborn_change(&local);
    GC_ptr_store_and_dirty((void *)&held[0], NULL);
    SGC_dirty(NULL, SIZE_MAX);
}

static int choose(int before, int after, const char *name)
{
    unsetenv("SGC_MODE");
    report_early();
    GC_set_manual_vdb_allowed(before);
    GC_INIT();
    report_early();
    GC_enable_incremental();
    GC_set_manual_vdb_allowed(after);
    GC_enable_incremental();
    if (!GC_is_incremental_mode())
        return CHILD_SKIPS;
    return GC_get_manual_vdb_allowed() == after && strcmp(sgc_watch_name(), name) == 0 &&
           GC_incremental_protection_needs() == GC_PROTECTS_NONE ? 0 : 1;
}

static int choose_manual(void)
{
    unsetenv("SGC_DIRTY");
    return choose(1, 0, "software");
}

static int choose_named(void)
{
    setenv("SGC_DIRTY", "none", 1);
    return choose(1, 1, "none");
}

static int choose_late(void)
{
    setenv("SGC_DIRTY", "async", 1);
    return choose(0, 1, "async");
}

/* ---- the program's part ---- */

static void *make_list(size_t count)
{
    void *list = NULL;

    for (size_t i = 0; i < count; i++) {
        void **cell = GC_malloc(64);

        GC_PTR_STORE_AND_DIRTY(cell, list);
        list = cell;
    }
    return list;
}

/* While the lead marks a long list, which has no room for two to work on, a little leaves more, and much leaves nothing. */
static int help(void)
{
    uint64_t until = world_patience();
    struct sgc_mutator *self;
    bool little = false, much = false;

    if (!begin())
        return CHILD_SKIPS;
    self = sgc_mutator_self();
    held[0] = make_list(400000);
    while (!(little && much) && sgc_clock_ns() < until) {
        GC_start_incremental_collection();
        while (!sgc_concurrent_marks() && sgc_clock_ns() < until)
            sgc_yield();
        little = sgc_assist_bytes(self, 1) || little;
        much = !sgc_assist_bytes(self, SIZE_MAX / 2);
        while (GC_collect_a_little() != 0 && sgc_clock_ns() < until)
            continue;
    }
    return little && much ? 0 : 1;
}

static int attempts(int prior)
{
    uint64_t until = world_patience();

    GC_set_max_prior_attempts(prior);
    if (!begin())
        return CHILD_SKIPS;
    held[0] = make_list(20000);
    while (world_waits_for(4, until)) {
        held[1] = make_list(1000);
        GC_collect_a_little();
    }
    return sgc_a32_load(&world_cycles.concurrent) == 0 || sgc_a32_load(&world_cycles.stops_max) > 1 + (uint32_t)prior;
}

int main(void)
{
    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0", "SGC_VERIFY=marks", "SGC_DIRTY=software");
    child_ok(change_in_threads, "%d threads move pointers about and report that: none of their objects is lost", THREADS);
    test_forgetful();
    child_ok(help, "the program marks a little, or all that is left");
    child_ok_of(attempts(0), "no stop keeps to the time limit if the program says so");
    child_ok_of(attempts(2), "or two do");
    child_ok(choose_manual, "a program that promises to report its writes, before the mode is enabled");
    child_ok(choose_named, "the user's choice wins");
    child_ok(choose_late, "later the promise changes nothing");
    return tap_done();
}
