/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/cycle.c: a cycle's phases, the GC lock, and the reasons for which there is none.
 *
 * Also: gc/collect/collect.c, gc/collect/allocate.c, gc/threads/gc_lock.c.
 */

#include "gc/events/events.h"
#include "gc/collect/background.h"
#include "gc/collect/concurrent.h"
#include "tests/lib/capture.h"
#include "tests/lib/white.h"
#include "sgc.h"

/* ---- what a cycle tells -------------------------------------------------------------------------------------- */

static struct sgc_cycle_record last;
static int ends, wrong_sums, wrong_order, stage;

static void at_start(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r)
{
    stage = 1;
}

#define DEFINE_STAGE(name, number) \
    static void name(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r) \
    { \
        wrong_order += stage++ != number || !sgc_world_stopped(); \
    }

DEFINE_STAGE(at_stopped, 1)
DEFINE_STAGE(at_marked, 2)
DEFINE_STAGE(at_flipped, 3)

static void at_end(TEST_UNUSED void *unused, const struct sgc_cycle_record *r)
{
    wrong_order += stage++ != 4 || sgc_world_stopped() || !sgc_gc_lock_held();
    wrong_sums += !sgc_cycle_check(r);
    last = *r;
    ends++;
}

static const struct sgc_listener listener = {
    .cycle_start = at_start, .stopped = at_stopped, .marked = at_marked, .flipped = at_flipped, .cycle_end = at_end,
};

static void *volatile root;                  /* static data: keeps what it points at */

static void test_record(void)
{
    uint64_t before = sgc_cycles_finished();

    root = sgc_allocate(1 << 20, WHITE_KIND);
    for (int i = 0; i < 20; i++)
        white_collect();
    tap_ok(ends == 20 && sgc_cycles_finished() == before + 20, "20 cycles are 20 ends");
    tap_ok(wrong_sums == 0, "the phases of each sum up to its pause");
    tap_ok(wrong_order == 0, "the events come in order, the world stopped in the right ones");
    tap_ok(last.cycle == before + 20 && last.reason == SGC_REASON_EXPLICIT, "number and reason");
    tap_ok(last.marked.bytes >= 1 << 20 && last.marked.objects >= 1, "what is live was marked");
    tap_ok(last.heap.live_bytes_before >= last.heap.live_bytes_after && last.heap.bytes >= last.marked.bytes,
           "sizes make sense");
    tap_ok(last.marked.root_bytes > 0, "roots were scanned");
    root = NULL;
    white_collect();
    tap_ok(last.marked.bytes < 1 << 20, "and what is dead was not");
}

/* ---- no collection ---------------------------------------------------------------------------------------------- */

static enum sgc_collect_result nested_result;

static void collect_nested(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r)
{
    nested_result = sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
}

static void test_nested(void)
{
    static const struct sgc_listener nested = { .cycle_end = collect_nested };
    enum sgc_collect_result outer;

    sgc_listener_add(&nested);
    tap_ok(strstr(capture_said(outer = white_collect()), "a collection was asked for") != NULL,
           "a collection within a collection is reported");
    tap_ok(outer == SGC_COLLECTED && nested_result == SGC_COLLECT_NESTED, "and not made; the outer one is");
    sgc_listener_remove(&nested);
}

static void test_disabled(void)
{
    uint64_t before = sgc_cycles_finished();

    tap_ok(!sgc_collect_enable(), "enabling what is not disabled is noticed");
    sgc_collect_disable();
    sgc_collect_disable();
    tap_ok(white_collect() == SGC_COLLECT_DISABLED && sgc_collect_disabled() == 2, "no collection while disabled");
    tap_ok(sgc_collect_enable() && white_collect() == SGC_COLLECT_DISABLED, "it nests");
    for (int i = 0; i < 20000; i++)
        sgc_allocate(1000, WHITE_KIND);
    tap_ok(sgc_cycles_finished() == before, "allocation does not collect either");
    tap_ok(sgc_collect_enable() && white_collect() == SGC_COLLECTED, "then it is enabled again");
}

static void disable(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r)
{
    sgc_collect_disable();
}

static enum sgc_collect_result late_result;

static void collect_late(TEST_UNUSED void *unused)
{
    late_result = sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
}

/* Who has disabled collections may hide pointers from then on, so those that have been asked for before are not made any more:
 * not by a thread that waits for the GC lock, nor by one that is about to stop the others. */
static void test_disabled_late(void)
{
    static const struct sgc_listener late = { .stop_requested = disable };
    uint64_t before = sgc_cycles_finished();
    pthread_t thread;

    sgc_gc_lock_acquire(sgc_mutator_self());
    thread = white_start(collect_late, NULL);
    sgc_sleep_ns(50 * WHITE_MS);
    sgc_collect_disable();
    sgc_gc_lock_release();
    white_join(thread);
    tap_ok(sgc_cycles_finished() == before && late_result != SGC_COLLECTED, "who waited to collect finds it disabled");
    sgc_collect_enable();
    sgc_listener_add(&late);
    late_result = white_collect();
    sgc_listener_remove(&late);
    tap_ok(sgc_cycles_finished() == before && late_result == SGC_COLLECT_GIVEN_UP, "so does who is about to stop the world");
    tap_ok(sgc_collect_enable() && white_collect() == SGC_COLLECTED, "and afterwards there are collections again");
}

/* ---- giving up ------------------------------------------------------------------------------------------------------ */

enum { NODES = 30000 };

struct node {
    struct node *next;
    long value;
};

static struct node *list;
static int questions, answer_after;

static int stop_after(void)
{
    return ++questions > answer_after;
}

static bool list_intact(void)
{
    long i = NODES;

    for (const struct node *n = list; n != NULL; n = n->next)
        if (n->value != --i)
            return false;
    return i == 0;
}

static void test_given_up(void)
{
    uint64_t before;
    int given_up = 0, intact = 0;

    for (long i = 0; i < NODES; i++) {
        struct node *n = sgc_allocate(sizeof *n, WHITE_KIND);
        n->next = list;
        n->value = i;
        list = n;
    }
    before = sgc_cycles_finished();
    for (answer_after = 0; answer_after < 20; answer_after++) {
        questions = 0;
        given_up += sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, stop_after) == SGC_COLLECT_GIVEN_UP;
        sgc_verify(SGC_check() == 0);
        for (int i = 0; i < 100; i++)
            memset(sgc_allocate(sizeof(struct node), WHITE_KIND), 0xff, sizeof(struct node));
        intact += list_intact();
    }
    /* One beside the program is finished before. */
    tap_ok(given_up == 20 && (sgc_concurrent_enabled() || sgc_cycles_finished() == before),
           "a stop function gives a cycle up at 20 points (%d)", given_up);
    tap_ok(intact == 20, "and nothing is lost");
    tap_ok(white_collect() == SGC_COLLECTED && list_intact(), "a whole one after it");
    answer_after = 1 << 30;
    tap_ok(sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, stop_after) == SGC_COLLECTED && list_intact(),
           "one whose stop function says no is whole");
}

/* Marks that were set before a cycle was given up, in swept pages: the next one must not meet them. */
static void test_marks_given_up(void)
{
    static uintptr_t hidden[NODES];
    long alive = 0, i = 0;

    white_collect();
    sgc_service_do_all(sgc_mutator_self());
    answer_after = 5;
    questions = 0;
    tap_ok(sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, stop_after) == SGC_COLLECT_GIVEN_UP && list_intact(),
           "a cycle is given up in a swept heap");
    for (struct node *n = list; n != NULL; n = n->next)
        hidden[i++] = ~(uintptr_t)n;
    list = NULL;
    white_collect();
    while (i > 0)
        alive += sgc_alloc_bit(sgc_granule_number(~hidden[--i]));
    tap_ok(alive < NODES / 10, "what it has marked is found dead by the next (%ld of %d alive)", alive, NODES);
}

/* ---- the GC lock -------------------------------------------------- */

static sgc_a32_t through;

static void go_through(TEST_UNUSED void *unused)
{
    struct sgc_mutator *self = sgc_mutator_self();

    sgc_gc_lock_acquire(self);
    sgc_a32_add(&through, 1);
    sgc_gc_lock_release();
}

static void collect_limit(TEST_UNUSED void *unused)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (sgc_collect(self, SGC_REASON_LIMIT, NULL) == SGC_COLLECTED)
        sgc_a32_add(&through, 1);
}

static void test_gate(void)
{
    pthread_t thread[4];

    sgc_gc_lock_acquire(sgc_mutator_self());
    white_start_all(thread, 4, go_through);
    sgc_sleep_ns(50 * WHITE_MS);
    tap_ok(sgc_gc_lock_held() && sgc_a32_load(&through) == 0, "one at a time has the gate");
    sgc_gc_lock_release();
    tap_ok(white_reached(&through, 4), "then each of the others");
    white_join_all(thread, 4);
    sgc_a32_store(&through, 0);
    white_start_all(thread, 4, collect_limit);
    white_join_all(thread, 4);
    tap_ok(sgc_a32_load(&through) == 4, "several threads that run out of memory at once all get a collection");
}

/* One marker, so that it is known how many questions the stop function gets. */
int main(void)
{
    setenv("GC_MARKERS", "1", 1);
    white_init();
    sgc_listener_add(&listener);
    return tap_all(test_record, test_nested, test_disabled, test_disabled_late, test_given_up,
                   test_marks_given_up, test_gate);
}
