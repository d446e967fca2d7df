/* SPDX-License-Identifier: MIT */
/*
 * sgc_upper_start (gc/collect/start.c), and what cycles tell a layer on top of the collector (gc/threads/upper.h): in which
 * stops, before and after which steps; that its words are roots; what a layer sees that marks by itself, and that cycles then
 * stop the program.
 */
#include "gc/collect/start.h"

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>
#include <gc/gc_backptr.h>
#include "sgc.h"

#include "gc/collect/concurrent.h"
#include "gc/events/events.h"
#include "tests/lib/child.h"
#include "tests/lib/layer.h"
#include "tests/lib/world.h"

enum { LONG_CHAIN = 100000 };

static uintptr_t hidden[2];             /* objects of which nothing else is known */
static void *in_static;

static bool marked(uintptr_t address)
{
    struct sgc_object o;

    return sgc_object_find(address, &o) && sgc_walk_marked(&o);
}

static bool all_right(void)
{
    return sgc_a32_load(&layer.wrong) == 0;
}

/* ---- dates are roots ---- */

static void find_nothing_marked(void)
{
    layer_expect(in_static != NULL && !marked(~hidden[0]) && !marked(~hidden[1]));
}

static void begin(const char *mode, const struct sgc_upper *upper)
{
    setenv("SGC_MODE", mode, 1);
    setenv("SGC_VERIFY", "marks", 1);
    white_init();
    layer_start(upper);
    hidden[0] = white_store((void **)&layer.date[LAYER_DATES / 2]);
    hidden[1] = white_store(&in_static);
}

static int stop_once(void)
{
    begin("stop", &layer_of_roots);
    layer.at_stop = find_nothing_marked;
    for (uint32_t i = 1; i < 4; i++) {
        uint32_t visits = sgc_a32_load(&layer.visits);

        if (white_collect() != SGC_COLLECTED || !white_lives(hidden[0]) || !white_lives(hidden[1]))
            return 1;
        if (sgc_a32_load(&layer.stopped) != i || sgc_a32_load(&layer.over) != i || sgc_a32_load(&layer.visits) == visits)
            return 2;
    }
    layer.date[LAYER_DATES / 2] = 0;
    white_collect();
    if (white_lives(hidden[0]) && !TEST_SANITIZED)
        return 3;
    return all_right() && white_lives(hidden[1]) && sgc_a32_load(&layer.given_up) == 0 ? 0 : 4;
}

static int asked;

static int stop_soon(void)
{
    return asked++ > 0;
}

static int give_up(void)
{
    begin("stop", &layer_of_roots);
    if (sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, stop_soon) != SGC_COLLECT_GIVEN_UP)
        return 1;
    if (sgc_a32_load(&layer.stopped) != 1 || sgc_a32_load(&layer.over) != 0 || sgc_a32_load(&layer.given_up) != 1)
        return 2;
    return white_collect() == SGC_COLLECTED && sgc_a32_load(&layer.over) == 1 && white_lives(hidden[0]) && all_right() ? 0 : 3;
}

/* ---- freed by clearing an allocation bit before the mark ---- */

static void free_static(void)
{
    struct sgc_object o;

    if (sgc_object_find(~hidden[1], &o)) {
        sgc_aw_t *word = sgc_span_word(o.page, sgc_heap.alloc_role);
        sgc_aw_store(word, sgc_aw_load(word) & ~sgc_arena_bit(o.page));
    }
}

static int free_in_stop(void)
{
    begin("stop", &layer_of_roots);
    white_collect();
    layer.at_stop = free_static;
    if (white_collect() != SGC_COLLECTED || white_lives(hidden[1]) || !white_lives(hidden[0]))
        return 1;
    layer.at_stop = NULL;
    return white_collect() == SGC_COLLECTED && all_right() && SGC_check() == 0 ? 0 : 2;
}

/* ---- beside the program ---- */

static sgc_a32_t stops;

static void at_resumed(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r)
{
    sgc_a32_add(&stops, 1);
}

static const struct sgc_listener listener = { .resumed = at_resumed };

static void churn_a_little(void)
{
    void *volatile list = NULL;

    for (int i = 0; i < 2000; i++) {
        void **link = GC_malloc(4000);
        link[0] = list;
        list = link;
    }
}

static void churn(uint32_t wanted, bool also_explicitly)
{
    uint64_t until = world_patience();
    void *volatile list = NULL;

    for (uint32_t i = 0; world_waits_for(wanted, until); i++) {
        void **link = GC_malloc(4000);

        link[0] = i % 20000 != 0 ? list : NULL;
        GC_END_STUBBORN_CHANGE(link);
        list = link;
        if (also_explicitly && i % 5000 == 0 && sgc_concurrent_marks())
            GC_gcollect();
    }
}

/* The sum of what was begun is that of what is over, but for a cycle that goes on. */
static int several_stops(void)
{
    uint32_t over, begun, stopped_before;

    begin("concurrent", &layer_of_roots);
    if (!sgc_concurrent_enabled())
        return CHILD_SKIPS;
    sgc_listener_add(&listener);
    world_count_cycles();
    stopped_before = sgc_a32_load(&layer.stopped);
    churn(3, true);
    GC_gcollect();
    GC_disable();
    begun = sgc_a32_load(&layer.stopped);
    over = sgc_a32_load(&layer.over) + sgc_a32_load(&layer.given_up);
    if (sgc_a32_load(&world_cycles.concurrent) == 0)
        return CHILD_SKIPS;
    if (begun < over || begun > over + 1 || begun == stopped_before)
        return 1;
    if (sgc_a32_load(&layer.visits) < sgc_a32_load(&stops) || sgc_a32_load(&stops) <= begun - stopped_before)
        return 2;
    return all_right() && white_lives(hidden[0]) && white_lives(hidden[1]) ? 0 : 3;
}

/* ---- a layer that marks by itself ---- */

static sgc_a32_t saw_date, saw_static;

static void look_at_marks(void)
{
    sgc_a32_store(&saw_date, marked(~hidden[0]));
    sgc_a32_store(&saw_static, marked(~hidden[1]));
}

/* Its first object is kept by a date, the others by that. */
static void make_chain(TEST_UNUSED void *unused)
{
    void **first = NULL;

    for (int i = 0; i < LONG_CHAIN; i++) {
        void **link = GC_malloc(32);
        link[0] = first;
        first = link;
    }
    layer.date[0] = (uintptr_t)first;
}

static bool chain_intact(void)
{
    struct sgc_object o;
    uintptr_t at = layer.date[0];
    int n = 0;

    for (; at != 0 && sgc_object_find(at, &o) && o.start == at; at = *(uintptr_t *)at)
        n++;
    return n == LONG_CHAIN && at == 0;
}

static int mark_by_itself(void)
{
    uint32_t visits;

    begin("stop", &layer_that_marks);
    layer.at_stop = find_nothing_marked;
    layer.at_mark = look_at_marks;
    GC_disable();
    white_join(white_start(make_chain, NULL));
    GC_enable();
    if (white_collect() != SGC_COLLECTED || sgc_a32_load(&layer.marks) != 1 || sgc_a32_load(&layer.over) != 1)
        return 1;
    if (sgc_a32_load(&saw_static) != 1 || (sgc_a32_load(&saw_date) != 0 && !TEST_SANITIZED))
        return 2;
    if (!chain_intact() || !white_lives(hidden[0]))
        return 3;
    visits = sgc_a32_load(&layer.visits);
    if (SGC_find_way((void *)~hidden[0], NULL, NULL) != SGC_HELD_BY_DATE || sgc_a32_load(&layer.visits) == visits)
        return 4;
    memset(layer.date, 0, LAYER_DATES * sizeof *layer.date);
    white_collect();
    return (!white_lives(hidden[0]) || TEST_SANITIZED) && white_lives(hidden[1]) && all_right() ? 0 : 5;
}

static int no_mark_when_given_up(void)
{
    begin("stop", &layer_that_marks);
    if (sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, stop_soon) != SGC_COLLECT_GIVEN_UP)
        return 1;
    return sgc_a32_load(&layer.marks) == 0 && sgc_a32_load(&layer.given_up) == 1 && all_right() ? 0 : 2;
}

static int stops_once_with_marks(void)
{
    begin("concurrent", &layer_that_marks);
    world_count_cycles();
    if (sgc_concurrent_enabled() || GC_is_incremental_mode())
        return 1;
    GC_enable_incremental();
    for (uint64_t until = sgc_clock_ns() + 2000 * (uint64_t)WHITE_MS;
         sgc_a32_load(&layer.marks) < 5 && sgc_clock_ns() < until;)
        churn_a_little();
    if (sgc_concurrent_enabled() || sgc_a32_load(&world_cycles.concurrent) != 0)
        return 2;
    return sgc_a32_load(&layer.marks) != 0 && sgc_a32_load(&layer.marks) == sgc_a32_load(&layer.stopped) && all_right() ? 0 : 3;
}

static int rules_out_what_goes_on(void)
{
    uint64_t until = world_patience();

    setenv("SGC_MODE", "concurrent", 1);
    setenv("GC_PAUSE_TIME_TARGET", "0", 1);     /* no cycle is short enough for one stop */
    white_init();
    if (!sgc_concurrent_enabled())
        return CHILD_SKIPS;
    while (!sgc_concurrent_marks() && sgc_clock_ns() < until)
        churn_a_little();
    layer_start(&layer_that_marks);
    if (sgc_concurrent_marks() || sgc_concurrent_enabled())
        return 1;
    GC_gcollect();
    return sgc_a32_load(&layer.marks) == 1 && sgc_a32_load(&layer.over) == 1 && all_right() ? 0 : 2;
}

/* ---- questions ---- */

static GC_ref_kind pointed_at_by(uintptr_t object)
{
    void *base;
    size_t offset;

    return GC_get_back_ptr_info((void *)object, &base, &offset);
}

static bool right_step;

static void look_at_step(const struct SGC_step *step, TEST_UNUSED void *unused)
{
    right_step = step->number == 0 && (uintptr_t)step->word == (uintptr_t)&layer.date[LAYER_DATES / 2] &&
                 step->thread == sgc_thread_id();
}

static int questions(void)
{
    begin("stop", &layer_of_roots);
    if (SGC_find_way((void *)~hidden[0], look_at_step, NULL) != SGC_HELD_BY_DATE || !right_step)
        return 1;
    if (SGC_find_way((void *)~hidden[1], NULL, NULL) != SGC_HELD_BY_STATIC)
        return 2;
    layer.date[0] = ~hidden[1];
    if (SGC_find_way((void *)~hidden[1], NULL, NULL) != SGC_HELD_BY_STATIC)
        return 3;
    if (pointed_at_by(~hidden[0]) != GC_REFD_FROM_ROOT)
        return 4;
    return SGC_why_live((void *)~hidden[0]) == SGC_HELD_BY_DATE && all_right() ? 0 : 5;
}

static int no_thread(void)
{
    begin("stop", &layer_of_roots);
    layer.whose = NULL;
    return SGC_why_live((void *)~hidden[0]) == SGC_HELD_BY_DATE && all_right() ? 0 : 1;
}

int main(void)
{
    static const char ruled_out[] = "SGC_SHORTTERM=verify looks at what each mark has reached before dates count";

    child_ok(stop_once, "dates are roots; a cycle in one stop tells of its stop and of its end");
    child_ok(give_up, "one that is given up is over, too");
    child_ok(free_in_stop, "what is freed by its bit before the mark is gone after it, even if something points at it");
    child_ok(several_stops, "a cycle of several stops tells of the first, and looks at the dates in each");
    child_ok(mark_by_itself, "a layer that marks sees what is reachable without it, and keeps the rest");
    child_ok(no_mark_when_given_up, "it is not called when a mark is given up");
    child_says(stops_once_with_marks, 0, ruled_out, "with it no cycle is concurrent, which is said once");
    child_says(rules_out_what_goes_on, 0, ruled_out, "one that goes on is given up");
    child_ok(questions, "questions are answered with dates, after other roots that are as near");
    child_says(questions, 0, "a date that is not over, of thread", "by name and thread");
    child_says(no_thread, 0, "a date that is not over, of no thread", "or without one");
    return tap_done();
}
