/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/pacing.c, gc/pacing/costs.c: how often cycles beside the program begin.  One that has been fast while it built what
 * lives, and allocates little from then on, has no more cycles for that than a quarter of a budget each asks for.
 */

#include "gc/collect/concurrent.h"
#include "gc/events/events.h"
#include "gc/pacing/costs.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/pacing.h"
#include "tests/lib/white.h"

enum { LIVE_MB = 20, REQUESTS = 320, REQUESTS_MAX = 6400, REQUEST = 50, BYTES = 1000, CYCLES = 3 };

/* Of the cycles since the program allocates little; and of those that ran beside it, that had less than there should be. */
static sgc_a32_t cycles, beside, early;

/* The budget is at least a third of what the cycle before left alive: what is allocated has no pointer-free part. */
static void on_cycle_end(TEST_UNUSED void *context, const struct sgc_cycle_record *record)
{
    sgc_a32_add(&cycles, 1);
    if (record->concurrent.earlier_stops == 0)
        return;
    sgc_a32_add(&beside, 1);
    if (record->heap.allocated_bytes < (record->heap.live_bytes_before - record->heap.allocated_bytes) / 12)
        sgc_a32_add(&early, 1);
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

static void **live;                 /* static data */

static void make_live(void)
{
    size_t n = (size_t)LIVE_MB << 10;

    live = sgc_allocate(n * sizeof *live, WHITE_KIND);
    for (size_t i = 0; i < n; i++)
        live[i] = sgc_allocate(BYTES, WHITE_KIND);
    white_collect();
}

/* As if it had allocated a terabyte since the last cycle: whoever does so needs a cycle at once. */
static void pretend_fast(void)
{
    for (int i = 0; i < 2; i++)
        sgc_pacing_costs_learn_mutator((size_t)1 << 40);
    sgc_pacing_reconsider();
}

/* Some of each request stays, in the place of what was there.  Where the machine is busy, a cycle may take long.  Returns the
 * megabytes. */
static size_t serve(void)
{
    size_t i;

    for (i = 0; i < REQUESTS || (i < REQUESTS_MAX && sgc_a32_load(&beside) < CYCLES); i++) {
        for (size_t k = 0; k < REQUEST; k++)
            live[(i * REQUEST + k) % 2048] = sgc_allocate(BYTES, WHITE_KIND);
        sgc_sleep_ns(WHITE_MS);
    }
    return i * REQUEST * BYTES >> 20;
}

/* A cycle's samples count from the second on. */
static bool slowness_is_known(void)
{
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap;

    sgc_pacing_costs(&costs, &heap);
    return costs.mutator_ps > 1000;
}

int main(void)
{
    size_t served;

    setenv("SGC_MODE", "concurrent", 1);
    setenv("GC_PAUSE_TIME_TARGET", "0", 1);
    white_init();
    if (!sgc_concurrent_enabled())
        tap_skip_all("nothing tells written pages here");
    make_live();
    pretend_fast();
    sgc_verify(sgc_listener_add(&listener));
    served = serve();
    tap_ok(sgc_a32_load(&beside) >= CYCLES && sgc_a32_load(&early) == 0,
           "%u cycles ran beside a program that is slow after it was fast, %u began before a quarter of a budget",
           sgc_a32_load(&beside), sgc_a32_load(&early));
    tap_ok(sgc_a32_load(&cycles) <= served * 12 / LIVE_MB + 1, "%u cycles for %zu MB beside %d", sgc_a32_load(&cycles), served,
           LIVE_MB);
    tap_ok(slowness_is_known(), "that it is slow is known then");
    return tap_done();
}
