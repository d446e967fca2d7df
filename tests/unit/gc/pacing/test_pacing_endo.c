/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/pacing.c with SGC_PACING=endo: when a cycle beside the program is asked for, how much who allocates has to mark,
 * and when the memory for that is used up.  The rule itself is gc/pacing/endo_rules.h; here is what numbers it is given.
 *
 * The linker has each question whether a collection is due come by here.  While `deaf` is set, the answer is noted and kept
 * from who asked, so that nothing happens but what the test does: no clock is in what is expected, and no other thread.
 */
#include "gc/collect/concurrent.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/endo_rules.h"
#include "gc/pacing/pacing.h"
#include "gc/pacing/pacing_rules.h"
#include "gc/threads/gc_lock.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

#define MB ((size_t)1 << 20)

/* An object takes pages of its own, so it counts when it is about to be made. */
enum { LIVE = 200, STEP = 2 * SGC_PAGE, ANSWERS = SGC_DUE_NOW + 1, LARGEST = 2000 };

static const size_t BUDGET = 40 * MB;

static bool deaf;
static size_t first[ANSWERS];           /* what was allocated since the last cycle when an answer came first; 0: it did not */

enum sgc_due __real_sgc_pacing_poll(struct sgc_mutator *self, size_t next);
enum sgc_due __wrap_sgc_pacing_poll(struct sgc_mutator *self, size_t next);

/* The last object, too. */
static size_t allocated(void)
{
    sgc_counts_take_spans();
    return sgc_counts_allocated() - sgc_counts_freed();
}

enum sgc_due __wrap_sgc_pacing_poll(struct sgc_mutator *self, size_t next)
{
    enum sgc_due due = __real_sgc_pacing_poll(self, next);

    if (!deaf)
        return due;
    if (first[due] == 0)
        first[due] = allocated() + (due == SGC_DUE_SOON ? 0 : next);
    return SGC_DUE_NOT;
}

/* Allocates until that is the answer; returns what was allocated since the last cycle then. */
static size_t until(enum sgc_due answer)
{
    memset(first, 0, sizeof first);
    for (int i = 0; i < LARGEST && first[answer] == 0; i++)
        sgc_allocate(WHITE_BYTES, WHITE_KIND);
    return first[answer];
}

static bool reached(size_t bytes, size_t wanted)
{
    return bytes >= wanted && bytes < wanted + STEP;
}

static void **live;                     /* static data */

static void make_live(void)
{
    live = sgc_allocate(LIVE * sizeof *live, WHITE_KIND);
    for (int i = 0; i < LIVE; i++)
        live[i] = sgc_allocate(WHITE_BYTES, WHITE_KIND);
}

static void collect_with(size_t budget)
{
    sgc_pacing_set_minimum(budget);
    white_collect();
}

/* ---- the beginning ---- */

/* By hand, from what the documents say: fewer than 15 percent of what lives and the budget are left of the budget. */
static size_t trigger(size_t budget)
{
    return budget - (sgc_counts_live() + budget) * 15 / 100;
}

static void test_begin(void)
{
    size_t bytes;

    collect_with(BUDGET);
    bytes = until(SGC_DUE_SOON);
    tap_ok(reached(bytes, trigger(BUDGET)), "a cycle is asked for when 15 percent of what lives (%zu) and the budget are left: "
           "at %zu of %zu, expected %zu", sgc_counts_live(), bytes, BUDGET, trigger(BUDGET));
    bytes = until(SGC_DUE_LATE);
    tap_ok(reached(bytes, BUDGET), "one that has not begun when the budget is used up is due (at %zu)", bytes);
    collect_with(4 * BUDGET);
    bytes = until(SGC_DUE_SOON);
    tap_ok(reached(bytes, trigger(4 * BUDGET)), "with four times the budget at %zu, expected %zu", bytes, trigger(4 * BUDGET));
}

/* The program's own settings decide about the budget, as with any rule. */
static void test_small_budget(void)
{
    size_t bytes;

    sgc_aw_store(&sgc_client_free_space_divisor, 1000);
    collect_with(0);
    bytes = until(SGC_DUE_SOON);
    tap_ok(reached(bytes, 1), "a budget of less than 15 percent: a cycle is asked for at once (%zu)", bytes);
    sgc_aw_store(&sgc_client_free_space_divisor, 3);
}

static void test_target(void)
{
    size_t bytes;

    sgc_pacing_concurrent(UINT64_C(3600000000000));
    collect_with(BUDGET);
    bytes = until(SGC_DUE_NOW);
    tap_ok(bytes >= BUDGET && first[SGC_DUE_SOON] == 0,
           "a cycle that is shorter than the target is one stop, when the budget is used up (at %zu)", bytes);
    sgc_pacing_concurrent(0);
}

/* ---- beside a mark ---- */

static void begin_mark(void)
{
    sgc_counts_take_spans();            /* as with the world stopped */
    sgc_gc_lock_acquire(sgc_mutator_self());
    sgc_pacing_mark_begins();
    sgc_gc_lock_release();
}

/* The pace is fixed here: of the pages in use `used` bytes, and what is left of the budget. */
static void test_pace(void)
{
    size_t from, left, used, bytes;

    collect_with(BUDGET);
    until(SGC_DUE_SOON);
    from = allocated();
    left = BUDGET - from;
    used = sgc_counts_live() + BUDGET - left;
    begin_mark();
    tap_ok(until(SGC_DUE_ASSIST) <= from + STEP && first[SGC_DUE_ASSIST] > from,
           "nothing is marked: the first who allocates has to help");
    sgc_concurrent_pace_marked(used / 2);
    bytes = until(SGC_DUE_ASSIST) - from;
    tap_ok(reached(bytes, left / 2), "half of what was in use is marked: from half of what was left on (%zu of %zu)", bytes,
           left);
    sgc_concurrent_pace_marked(used / 4 * 3);
    bytes = until(SGC_DUE_ASSIST) - from;
    tap_ok(reached(bytes, left / 4 * 3), "three quarters are: from three quarters on (%zu)", bytes);
    tap_ok(sgc_pacing_poll_again(sgc_mutator_self()) < SGC_DUE_LATE && first[SGC_DUE_NOW] == 0, "there is memory until then");
    sgc_concurrent_pace_round(1);
    bytes = until(SGC_DUE_NOW) - from;
    tap_ok(reached(bytes, left) && first[SGC_DUE_ASSIST] == 0 && sgc_pacing_poll_again(sgc_mutator_self()) >= SGC_DUE_LATE,
           "all is marked: nobody helps, and when the budget is used up everybody waits (%zu of %zu)", bytes, left);
    sgc_concurrent_pace_end();
    white_collect();
}

/* The budget is used up before the mark begins: a little is left, or everybody would stop at once. */
static void test_late(void)
{
    size_t from;

    collect_with(BUDGET);
    from = until(SGC_DUE_LATE);
    begin_mark();
    tap_ok(sgc_pacing_poll_again(sgc_mutator_self()) < SGC_DUE_LATE && reached(until(SGC_DUE_NOW) - from, SGC_PACE_MIN),
           "a mark that begins too late has %u KB", SGC_PACE_MIN >> 10);
    sgc_concurrent_pace_end();
    white_collect();
}

static int rule(void)
{
    setenv("SGC_MODE", "stop", 1);
    white_init();
    make_live();
    sgc_pacing_concurrent(0);
    deaf = true;
    tap_each(test_begin, test_small_budget, test_target, test_pace, test_late);
    return 0;
}

/* ---- cycles ---- */

enum { CYCLES = 6, MOST_MB = 4000 };

static sgc_a32_t ended, early;
static const size_t SMALL = 16 * MB;

static void at_end(TEST_UNUSED void *unused, const struct sgc_cycle_record *r)
{
    if (r->concurrent.earlier_stops != 0)
        sgc_a32_add(&ended, 1);
    if (r->heap.allocated_bytes + STEP < SMALL - (r->heap.live_bytes_after + SMALL) * 2 * SGC_ENDO_THRESHOLD / 100)
        sgc_a32_add(&early, 1);
}

static const struct sgc_listener listener = { .cycle_end = at_end };

/* Each object leads to the one before, and knows its number. */
static bool is_whole(void **chain, uintptr_t count)
{
    for (; chain != NULL && count > 0; chain = *chain, count--)
        if ((uintptr_t)chain[1] != count)
            return false;
    return chain == NULL && count == 0;
}

/* Two thirds of a chain die with each turn. */
static int real_cycles(void)
{
    size_t bytes = 0;

    environment("SGC_MODE=concurrent", "SGC_DIRTY=none", "SGC_VERIFY=marks");
    white_init();
    sgc_pacing_set_minimum(SMALL);
    sgc_listener_add(&listener);
    while (sgc_a32_load(&ended) < CYCLES && bytes < MOST_MB * MB) {
        void **chain = NULL;

        for (uintptr_t n = 1; n <= 20000; n++) {
            void **more = sgc_allocate(48, WHITE_KIND);

            more[0] = chain;
            more[1] = (void *)n;
            chain = more;
            sgc_allocate(96, WHITE_KIND);
            bytes += 144;
        }
        if (!is_whole(chain, 20000))
            return 2;
    }
    return sgc_a32_load(&ended) < CYCLES ? 3 : sgc_a32_load(&early) != 0 ? 4 : 0;
}

int main(void)
{
    environment("SGC_PACING=endo", "GC_PAUSE_TIME_TARGET=0");
    unsetenv("SGC_TORTURE");
    child_ok(real_cycles, "cycles run beside a program, none begins early, and nothing is lost");
    if (rule() != 0)
        return 1;
    return tap_done();
}
