/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/torture.c in concurrent mode: cycles beside the program with each source of written pages that works here, with
 * deadlines at random, finished or given up by other threads at random, and among cycles of one stop, while threads work with
 * all kinds of objects, come and go.  What a mark has missed, or sweeping has lost, ends the child (gc/collect/closure.c,
 * alloc/pages/survival.c).
 *
 * Without arguments: some cycles with each source.  test_torture_concurrent SOURCE CYCLES SECONDS THREADS EVERY: one source,
 * until there were so many cycles or so much time is over; a collection is due at every so-manieth allocation.
 */
#include "gc/collect/torture.h"

#include "gc/collect/concurrent.h"
#include "gc/events/events.h"
#include "tests/lib/child.h"
#include "tests/lib/mixed_work.h"
#include "tests/lib/white.h"

enum { STEPS = 1500, THREADS_MAX = 16, SHORT_CYCLES = TEST_SANITIZED ? 30 : 80, SHORT_SECONDS = TEST_SANITIZED ? 5 : 12,
       LEAST = TEST_SANITIZED ? 1 : 5, PATIENCE = 60 };

static const char *source = "none", *every = "29";
static uint32_t wanted = SHORT_CYCLES, seconds = SHORT_SECONDS, threads = 3;

/* ---- counting ---- */

static sgc_a32_t begun, in_one_stop, beside, finished_by_others, stops, steps_done;

static void at_start(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r)
{
    sgc_a32_add(&begun, 1);
}

static void at_resumed(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r)
{
    sgc_a32_add(&stops, 1);
}

static void at_end(TEST_UNUSED void *unused, const struct sgc_cycle_record *r)
{
    sgc_a32_add(r->concurrent.earlier_stops == 0 ? &in_one_stop : &beside, 1);
    if (r->concurrent.earlier_stops != 0 && r->reason != SGC_REASON_ALLOCATION)
        sgc_a32_add(&finished_by_others, 1);
}

static const struct sgc_listener listener = { .cycle_start = at_start, .resumed = at_resumed, .cycle_end = at_end };

static uint32_t cycles(void)
{
    return sgc_a32_load(&in_one_stop) + sgc_a32_load(&beside);
}

static void report(void)
{
    tap_diag("%s: %u cycles: %u beside the program, of these %u finished by another thread, and %u in one stop; %u begun and "
             "given up; %u stops; %u steps of work; %u finalized, %u disclaimed", source, cycles(), sgc_a32_load(&beside),
             sgc_a32_load(&finished_by_others), sgc_a32_load(&in_one_stop), sgc_a32_load(&begun) - cycles(),
             sgc_a32_load(&stops), sgc_a32_load(&steps_done), sgc_a32_load(&mixed_finalized), sgc_a32_load(&mixed_disclaimed));
}

/* ---- the work ---- */

/* A thread's life. */
static void *work(void *arg)
{
    uint32_t number = (uint32_t)(uintptr_t)arg;
    struct mixed_world w = mixed_world_make(number, number * UINT64_C(0x9e3779b97f4a7c15));

    for (int i = 0; i < STEPS; i++)
        mixed_step(&w);
    mixed_world_check(&w);
    mixed_world_drop(&w);
    sgc_a32_add(&steps_done, STEPS);
    return NULL;
}

/* Until there was enough, or time is over; some of each sort are waited for. */
static bool goes_on(uint64_t until)
{
    uint64_t now = sgc_clock_ns();
    bool some = sgc_a32_load(&beside) >= LEAST && sgc_a32_load(&in_one_stop) >= LEAST;

    return some ? cycles() < wanted && now < until : now < until + PATIENCE * UINT64_C(1000000000);
}

/* With disclaim procedures every cycle is one stop, so they come at the end. */
static void go_on(uint64_t until)
{
    uint32_t number = 1, disclaim_at = wanted - wanted / 8;
    pthread_t thread[THREADS_MAX];

    while (goes_on(until)) {
        for (uint32_t i = 0; i < threads; i++)
            if (GC_pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)number++) != 0)
                sgc_fatal("no thread can be had");
        for (uint32_t i = 0; i < threads; i++)
            GC_pthread_join(thread[i], NULL);
        if (cycles() >= disclaim_at && sgc_a32_load(&mixed_disclaims) == 0)
            mixed_begin_disclaiming();
    }
}

static int torture(void)
{
    setenv("SGC_DIRTY", source, 1);
    setenv("SGC_TORTURE", every, 1);
    GC_INIT();
    if (!sgc_concurrent_enabled())
        return CHILD_SKIPS;
    sgc_listener_add(&listener);
    mixed_init();
    go_on(sgc_clock_ns() + (uint64_t)seconds * 1000000000);
    report();
    return sgc_a32_load(&beside) >= LEAST && sgc_a32_load(&in_one_stop) >= LEAST ? 0 : 3;
}

/* No thread may stand where it cannot be stopped, either. */
static bool silent(const char *text)
{
    return capture_count(text, "cannot be stopped") == 0 && capture_count(text, "ThreadSanitizer") == 0;
}

static void check(void)
{
    int status;
    const char *text = capture_said(status = run_in_child(torture));

    if (status == CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", source);
    else if (!tap_ok(status == 0 && silent(text), "%s: nothing lost in cycles under torture", source))
        tap_diag("status %d, said: %.600s", status, text);
}

static uint32_t number_of(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
    static const char *const sources[] = { "none", "async", "mprotect", "softdirty", "software" };

    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0");
    if (argc == 6) {
        source = argv[1], every = argv[5];
        wanted = number_of(argv[2]), seconds = number_of(argv[3]), threads = number_of(argv[4]);
        if (wanted == 0 || seconds == 0 || threads == 0 || threads > THREADS_MAX)
            tap_bail("not a number of cycles, seconds or threads");
        check();
        return tap_done();
    }
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        source = sources[i];
        check();
    }
    return tap_done();
}
