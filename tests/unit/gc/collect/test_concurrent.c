/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/concurrent.c, gc/collect/lead.c, gc/collect/stops.c, gc/collect/write_watch.c,
 * gc/pacing/pause_rules.h: cycles beside the program, with each source of written pages that
 * works here.  A graph of objects is changed all the time, in every way in which a pointer can be
 * moved, and is compared with a copy that is no object; SGC_VERIFY=marks looks at each mark once
 * more.  Also what may come in the middle: explicit collections, frees, forks, threads that end,
 * and collections that are switched off.  Each store of a pointer is reported, for the source
 * that needs that.
 */
#include "gc/collect/concurrent.h"

#define GC_THREADS 1
#include <gc/gc.h>

#include "gc/collect/write_watch.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/pause_rules.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"
#include "tests/lib/white.h"
#include "tests/lib/world.h"

enum { SLOTS = TEST_SANITIZED ? 2500 : 6000, CYCLES = TEST_SANITIZED ? 2 : 5 };

static struct world world;

static bool right(void)
{
    return world_right(&world) && sgc_a32_load(&world_cycles.wrong) == 0;
}

static bool begin(void)
{
    GC_INIT();
    if (!sgc_concurrent_enabled())
        return false;
    world_count_cycles();
    world = world_make(SLOTS, 0, false);
    return true;
}

/* ---- children ---- */

static int churn(void)
{
    uint64_t until = world_patience();

    if (!begin())
        return CHILD_SKIPS;
    while (world_waits_for(CYCLES, until))
        world_change_often(&world, 1000);
    if (!right())
        return 1;
    GC_gcollect();
    if (!right())
        return 2;
    return sgc_a32_load(&world_cycles.concurrent) >= CYCLES ? 0 : 3;
}

static int never(void)
{
    return 0;
}

/* Explicit collections in every phase are exact, with a stop function, too: a link to what was dropped is cleared, one to
 * what is held is not. */
static int collect_explicitly(void)
{
    uint64_t until = world_patience();
    void *volatile held = NULL;
    uint32_t in_the_middle = 0;

    if (!begin())
        return CHILD_SKIPS;
    held = GC_malloc(32);
    while (in_the_middle < 10 && sgc_clock_ns() < until) {
        void **links = GC_malloc_atomic(2 * sizeof *links);

        world_change_often(&world, 2000);
        if (!sgc_concurrent_marks())
            continue;
        links[0] = GC_malloc(64);
        links[1] = held;
        GC_general_register_disappearing_link(&links[0], links[0]);
        GC_general_register_disappearing_link(&links[1], held);
        scrub_stack();
        if (in_the_middle++ % 2 == 0)
            GC_gcollect();
        else
            GC_try_to_collect(never);
        if (links[1] != held || !right())
            return 1;
        if (links[0] != NULL && !TEST_SANITIZED)    /* a sanitizer keeps stale words on the stack */
            return 2;
    }
    return in_the_middle != 0 ? 0 : 3;
}

static int questions, answer_after;

static int stop(void)
{
    return ++questions > answer_after;
}

static int give_up_after(int answers)
{
    questions = 0;
    answer_after = answers;
    return GC_try_to_collect(stop);
}

/* A cycle goes on when a collection with a stop function is given up, and has the room that it had. */
static int give_up(void)
{
    uint64_t until = world_patience();
    int in_the_middle = 0;

    if (!begin())
        return CHILD_SKIPS;
    while (in_the_middle < 40 && sgc_clock_ns() < until) {
        uint32_t before;
        size_t room;

        world_change_often(&world, 50);
        before = sgc_a32_load(&world_cycles.concurrent);
        room = sgc_aw_load(&sgc_concurrent_room);
        if (!sgc_concurrent_marks() || room == 0)
            continue;
        if (give_up_after(in_the_middle++ % 5) || !right())
            return 1;
        if (sgc_a32_load(&world_cycles.concurrent) != before)
            continue;
        if (!sgc_concurrent_marks())
            return 2;
        if (sgc_aw_load(&sgc_concurrent_room) != room)
            return 4;
    }
    GC_gcollect();
    return !right() ? 5 : in_the_middle != 0 && sgc_a32_load(&world_cycles.concurrent) != 0 ? 0 : 3;
}

/* ---- toggle references ---- */

enum { TOGGLED = 40 };

static GC_ToggleRefStatus answer = GC_TOGGLE_REF_STRONG;
static GC_hidden_pointer *toggled;

static GC_ToggleRefStatus says_answer(void *object)
{
    (void)object;
    return answer;
}

static void *make_toggled(void *unused)
{
    for (int i = 0; i < TOGGLED; i++) {
        void *p = GC_malloc(64);

        toggled[i] = GC_HIDE_POINTER(p);
        GC_toggleref_add(p, 0);
        GC_general_register_disappearing_link((void **)&toggled[i], p);
    }
    return unused;
}

static int toggled_left(void)
{
    int left = 0;

    for (int i = 0; i < TOGGLED; i++)
        left += toggled[i] != 0;
    return left;
}

/* What the program takes to itself beside the mark is asked about before the last stop. */
static int toggles(void)
{
    uint64_t until = world_patience(), before;

    if (!begin())
        return CHILD_SKIPS;
    toggled = GC_malloc_atomic_uncollectable(TOGGLED * sizeof *toggled);
    GC_set_toggleref_func(says_answer);
    thread_result(make_toggled, NULL);
    GC_gcollect();
    before = sgc_cycles_finished();
    answer = GC_TOGGLE_REF_WEAK;
    while (!sgc_concurrent_marks() && sgc_clock_ns() < until)
        world_change_often(&world, 100);
    answer = GC_TOGGLE_REF_STRONG;
    if (toggled_left() != TOGGLED)
        return sgc_cycles_finished() != before ? CHILD_SKIPS : 4;       /* a whole cycle has passed */
    for (before = sgc_cycles_finished(); sgc_cycles_finished() == before && sgc_clock_ns() < until;)
        world_change_often(&world, 100);
    if (sgc_cycles_finished() == before)
        return 3;
    if (toggled_left() != TOGGLED || !right())
        return 1;
    answer = GC_TOGGLE_REF_DROP;
    GC_gcollect();
    return TEST_SANITIZED || toggled_left() <= TOGGLED / 4 ? 0 : 2;
}

/* ---- events ---- */

static int started, over, out_of_order;

static void record_event(GC_EventType event)
{
    if (event == GC_EVENT_START)
        out_of_order += started++ != over;
    if (event == GC_EVENT_END && started != 0)          /* the first may have begun before */
        out_of_order += ++over != started;
}

/* A cycle that is given up for an explicit collection has its end before that begins. */
static int events(void)
{
    uint64_t until = world_patience();
    int in_the_middle = 0;

    if (!begin())
        return CHILD_SKIPS;
    GC_set_on_collection_event(record_event);
    while (in_the_middle < 5 && sgc_clock_ns() < until) {
        world_change_often(&world, 500);
        if (!sgc_concurrent_marks())
            continue;
        in_the_middle++;
        GC_gcollect();
    }
    GC_set_on_collection_event(NULL);
    return in_the_middle != 0 && started != 0 && out_of_order == 0 ? 0 : 1;
}

static int disable(void)
{
    uint64_t until = world_patience(), before;

    if (!begin())
        return CHILD_SKIPS;
    while (!sgc_concurrent_marks() && sgc_clock_ns() < until)
        world_change_often(&world, 100);
    GC_disable();
    before = sgc_cycles_finished();
    world_change_often(&world, 30000);
    if (sgc_cycles_finished() > before + 1 || !right())
        return 1;
    before = sgc_cycles_finished();
    world_change_often(&world, 30000);
    if (sgc_cycles_finished() != before)
        return 2;
    GC_enable();
    while (sgc_cycles_finished() == before && sgc_clock_ns() < until)
        world_change_often(&world, 100);
    return sgc_cycles_finished() != before && right() ? 0 : 3;
}

static int collect_in_child(void)
{
    uint32_t at_fork = sgc_a32_load(&world_cycles.concurrent);

    for (uint64_t end = sgc_clock_ns() + 3000000000; world_waits_for(at_fork + 2, end);)
        world_change(&world);
    GC_gcollect();
    return !right();
}

/* The child of a fork in the middle of a cycle has the whole heap and collects it; so does the parent. */
static int forks(void)
{
    uint64_t until = world_patience();
    uint32_t forked = 0;

    GC_set_handle_fork(1);
    if (TEST_SANITIZED || !begin())     /* sanitizers do not survive a fork beside other threads */
        return CHILD_SKIPS;
    while (forked < 3 && sgc_clock_ns() < until) {
        world_change_often(&world, 500);
        if (!sgc_concurrent_marks())
            continue;
        forked++;
        if (run_in_child(collect_in_child) != 0 || !right())
            return 1;
    }
    return forked != 0 ? 0 : 3;
}

static sgc_a32_t wrong;

static void *one_thread(void *arg)
{
    void **ring = GC_malloc(64 * sizeof *ring);

    for (uintptr_t i = 0; i < 20000; i++) {
        uintptr_t *object = GC_malloc(16 + i % 600);

        *object = i;
        if (ring[i % 64] != NULL && *(uintptr_t *)ring[i % 64] != i - 64)
            sgc_a32_store(&wrong, 1);
        if (i % 7 == 0 && ring[i % 64] != NULL)
            GC_free(ring[i % 64]);
        GC_PTR_STORE_AND_DIRTY(&ring[i % 64], object);
    }
    return arg;
}

static int threads(void)
{
    uint64_t until = world_patience();

    if (!begin())
        return CHILD_SKIPS;
    while (world_waits_for(CYCLES, until)) {
        pthread_t thread[3];

        threads_start(thread, 3, one_thread);
        world_change_often(&world, 2000);
        threads_join(thread, 3);
    }
    if (sgc_a32_load(&wrong) != 0 || !right())
        return 1;
    return sgc_a32_load(&world_cycles.concurrent) >= CYCLES ? 0 : 3;
}

static int limited(void)
{
    int status;

    setenv("GC_MAXIMUM_HEAP_SIZE", "48m", 1);
    status = churn();
    return status == 3 ? 0 : status;    /* the limit may leave no time to mark beside the program */
}

/* A long target is never in danger, and short cycles do not go concurrent. */
static int long_target(void)
{
    setenv("GC_PAUSE_TIME_TARGET", "3600000", 1);
    if (!begin())
        return CHILD_SKIPS;
    world_change_often(&world, 60000);
    return sgc_a32_load(&world_cycles.concurrent) == 0 && sgc_cycles_finished() > 0 && right() ? 0 : 1;
}

static void test_rules(void)
{
    struct sgc_pause_costs c = { .target_ns = 2000000, .fixed_ns = 200000, .page_ns = 2000, .attempts = 2 };

    tap_ok(sgc_pause_round_pays(&c, 0, 0, 0), "one round always");
    tap_ok(!sgc_pause_round_pays(&c, 1, 100, 0), "no more when the stop is expected to be short");
    tap_ok(sgc_pause_round_pays(&c, 1, 5000, 0) && sgc_pause_round_pays(&c, 2, 3000, 5000), "more as long as they help");
    tap_ok(!sgc_pause_round_pays(&c, 2, 4900, 5000), "and none when they do not");
    tap_ok(!sgc_pause_round_pays(&c, SGC_ROUNDS_MAX, 1000, 5000), "or there were many");
    tap_ok(sgc_pause_allowed(&c, 0) == c.target_ns && sgc_pause_allowed(&c, 1) == c.target_ns &&
           sgc_pause_allowed(&c, 2) == UINT64_MAX, "some stops keep to the target, then one ends the cycle");
    c.attempts = 0;
    tap_ok(sgc_pause_allowed(&c, 0) == UINT64_MAX, "or the first does");
}

int main(void)
{
    static const char *const sources[] = { "none", "software", "async", "mprotect", "softdirty" };

    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=0", "SGC_VERIFY=marks");
    test_rules();
    for (size_t i = 0; i < (TEST_SANITIZED ? 3 : sizeof sources / sizeof *sources); i++) {
        setenv("SGC_DIRTY", sources[i], 1);
        child_ok(churn, "%s: objects that move about are not lost", sources[i]);
        child_ok(collect_explicitly, "%s: explicit collections in the middle are exact", sources[i]);
        child_ok(give_up, "%s: collections that are given up in the middle", sources[i]);
        child_ok(toggles, "%s: toggle references are asked about before each stop", sources[i]);
        child_ok(events, "%s: each cycle has its end, one that is given up, too", sources[i]);
        child_ok(disable, "%s: collections switched off in the middle, and on again", sources[i]);
        child_ok(forks, "%s: forks in the middle", sources[i]);
        child_ok(threads, "%s: threads come and go", sources[i]);
        child_ok(limited, "%s: a limited heap", sources[i]);
        child_ok(long_target, "%s: cycles shorter than the target are one stop", sources[i]);
    }
    return tap_done();
}
