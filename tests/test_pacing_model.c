/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing_model.h: tables of what is measured and set, and what follows; and a program that is simulated with it.
 */
#include "gc/pacing_model.h"
#include "tests/tap.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)
#define GB ((size_t)1 << 30)

/* ---- medians ---- */

static uint64_t median_of(const uint64_t *value, uint32_t n)
{
    struct sgc_pace_samples s = { .count = 0 };

    for (uint32_t i = 0; i < n; i++)
        sgc_pace_sample(&s, value[i]);
    return sgc_pace_median(&s, 7);
}

static void test_median(void)
{
    static const uint64_t value[] = { 30, 10, 20, 50, 40, 1000, 1000, 45, 1000 };

    tap_ok(median_of(value, 0) == 7, "nothing measured: what is assumed");
    tap_ok(median_of(value, 1) == 30, "one sample");
    tap_ok(median_of(value, 2) == 10, "the lower of two");
    tap_ok(median_of(value, 3) == 20, "the middle of three");
    tap_ok(median_of(value, 5) == 30, "of five");
    tap_ok(median_of(value, 7) == 50, "the oldest are forgotten, two outliers ignored");
    tap_ok(median_of(value, 9) == 1000, "three are no outliers any more");
}

/* ---- budgets ---- */

/* A common machine: 50 us a cycle, 2 GB/s marked, 1 GB/s allocated. */
#define USUAL { 50000, 500, 1000 }

/* What a row leaves out. */
static struct sgc_pace_bounds usual_settings(struct sgc_pace_bounds b)
{
    b.cache = b.cache != 0 ? b.cache : 4 * MB;
    b.divisor = b.divisor != 0 ? b.divisor : 3;
    b.limit = b.limit != 0 ? b.limit : SIZE_MAX;
    return b;
}

struct budget_row {
    const char *name;
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap;
    struct sgc_pace_bounds bounds;
    size_t least, most;
};

static const struct budget_row budgets[] = {
    { "nothing lives: the cache", USUAL, { 0 }, { 0 }, 4 * MB, 4 * MB },
    { "a larger cache", USUAL, { 0 }, { .cache = 7 * MB }, 7 * MB, 7 * MB },
    { "stopping takes 2 ms: four times as long between cycles", { 2000000, 500, 1000 }, { 0 }, { 0 },
      7900000, 8100000 },
    { "stopping takes a second: still a small heap", { 1000000000, 500, 1000 }, { 0 }, { 0 }, 12 * MB, 12 * MB },
    { "2 MB live at a slow rate of allocation: the cache", { 50000, 500, 10000 }, { .live = 2 * MB }, { 0 },
      4 * MB, 4 * MB },
    { "2 MB live at a high one: a small heap", { 50000, 500, 100 }, { .live = 2 * MB }, { 0 },
      10 * MB, 10 * MB },
    { "a larger divisor makes small heaps smaller", { 50000, 500, 100 }, { .live = 1 * MB }, { .divisor = 6 },
      5 * MB, 5 * MB },
    { "but the cache is used", { 50000, 500, 100 }, { .live = 1 * MB }, { .divisor = 60 }, 4 * MB, 4 * MB },
    { "100 MB live: as much", USUAL, { .live = 100 * MB }, { 0 }, 100 * MB, 100 * MB },
    { "and 100 MB of roots: half of that, too", USUAL, { .live = 100 * MB, .roots = 100 * MB }, { 0 },
      150 * MB, 150 * MB },
    { "divisor 1: three times", USUAL, { .live = 100 * MB }, { .divisor = 1 }, 300 * MB, 300 * MB },
    { "divisor 6: half", USUAL, { .live = 100 * MB }, { .divisor = 6 }, 50 * MB, 50 * MB },
    { "little is allocated: half of it", { 50000, 500, 100000 }, { .live = 100 * MB }, { 0 },
      50 * MB, 50 * MB },
    { "in between: a twentieth of the time", { 50000, 500, 13000 }, { .live = 100 * MB }, { 0 },
      73 * MB, 74 * MB },
    { "64 TB live overflow nothing", { 50000, 500, 1 }, { .live = 64 * GB * 1024 }, { .divisor = 1 },
      192 * GB * 1024, 192 * GB * 1024 },
    { "an impossibly fast program", { 50000, 500, 0 }, { .live = 100 * MB }, { 0 }, 100 * MB, 100 * MB },
    { "initial heap", USUAL, { .live = 10 * MB }, { .initial = 64 * MB }, 54 * MB, 54 * MB },
    { "initial heap, outgrown", USUAL, { .live = 80 * MB }, { .initial = 64 * MB }, 80 * MB, 80 * MB },
    { "the client's minimum", USUAL, { 0 }, { .minimum = 50 * MB }, 50 * MB, 50 * MB },
    { "the client's minimum: never", USUAL, { 0 }, { .minimum = SIZE_MAX }, SGC_PACE_NEVER, SGC_PACE_NEVER },
    { "the client's minimum beats the limit", USUAL, { 0 }, { .minimum = 50 * MB, .limit = 20 * MB }, 50 * MB, 50 * MB },
    { "use the entire heap", USUAL, { .live = 10 * MB, .size = 90 * MB }, { .use_entire_heap = true }, 80 * MB, 80 * MB },
    { "use the entire heap, if it is more", USUAL, { .live = 100 * MB, .size = 150 * MB },
      { .use_entire_heap = true }, 100 * MB, 100 * MB },
    { "do not expand", USUAL, { .live = 100 * MB, .size = 150 * MB }, { .dont_expand = true }, 50 * MB, 50 * MB },
    { "do not expand: yet something", USUAL, { .live = 100 * MB, .size = 100 * MB }, { .dont_expand = true },
      4 * MB, 4 * MB },
    { "the limit is far", USUAL, { .live = 100 * MB }, { .limit = GB }, 100 * MB, 100 * MB },
    { "the limit is near: what there is room for", USUAL, { .live = 100 * MB }, { .limit = 128 * MB }, 24 * MB, 24 * MB },
    { "nearer: a sixteenth", USUAL, { .live = 112 * MB }, { .limit = 112 * MB }, 7 * MB, 7 * MB },
    { "passed", USUAL, { .live = 160 * MB }, { .limit = 80 * MB }, 10 * MB, 10 * MB },
    { "a tiny limit", USUAL, { .live = 0 }, { .limit = 1 * MB }, 31 * MB / 32, MB },
    { "a tiny limit, full", USUAL, { .live = 1 * MB }, { .limit = 1 * MB }, 256 * KB, 256 * KB },
    { "the initial heap is within the limit", USUAL, { 0 }, { .initial = GB, .limit = 64 * MB }, 62 * MB, 62 * MB },
    { "use the limit, nothing live", USUAL, { 0 }, { .use_limit = true, .limit = 640 * MB }, 620 * MB, 620 * MB },
    { "use the limit, 100 MB live", USUAL, { .live = 100 * MB }, { .use_limit = true, .limit = 640 * MB }, 520 * MB, 520 * MB },
    { "use the limit, the divisor has no say", USUAL, { .live = 100 * MB },
      { .use_limit = true, .limit = 640 * MB, .divisor = 100 }, 520 * MB, 520 * MB },
};

static void test_budgets(void)
{
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        const struct budget_row *r = &budgets[i];
        struct sgc_pace_bounds bounds = usual_settings(r->bounds);
        size_t budget = sgc_pace_budget(&r->costs, &r->heap, &bounds);

        tap_ok(budget >= r->least && budget <= r->most, "%s (%zu KB)", r->name, budget >> 10);
    }
    tap_ok(sgc_pace_to_bytes(1e30) == SGC_PACE_NEVER && sgc_pace_to_bytes(1e6) == 1000000, "the impossibly dear: never");
    tap_ok(sgc_pace_in_proportion(MB, 0) == 3 * MB, "a client may assign 0 to the divisor: it counts as 1");
}

/* More alive, never denser cycles; a slower collector, never denser cycles. */
static void test_monotonic(void)
{
    const struct sgc_pace_bounds bounds = usual_settings((struct sgc_pace_bounds){ .cache = 0 });
    size_t wrong = 0;

    for (size_t live = 0; live < GB; live += 3 * MB + 12345)
        for (uint64_t ps = 10; ps < 100000; ps *= 3) {
            struct sgc_pace_costs slow = { 50000, 700, ps }, fast = { 50000, 500, ps };
            struct sgc_pace_heap heap = { .live = live }, more = { .live = live + MB };
            size_t budget = sgc_pace_budget(&fast, &heap, &bounds);

            wrong += sgc_pace_budget(&slow, &heap, &bounds) < budget;
            wrong += live > 12 * MB && sgc_pace_budget(&fast, &more, &bounds) < budget;
            wrong += live + sgc_pace_budget(&fast, &more, &bounds) + MB < live + budget;
        }
    tap_ok(wrong == 0, "no jumps (%zu)", wrong);
}

/* ---- a simulated program ---- */

struct run {
    struct sgc_pace_costs costs;
    struct sgc_pace_bounds bounds;
    size_t allocated, largest;      /* bytes */
    unsigned cycles;
    double collecting_ns;
};

/* Allocates `bytes`, of which `kept` permille stay alive; returns what is alive in the end. */
static size_t simulate(struct run *run, size_t live, size_t bytes, unsigned kept)
{
    size_t found = live;            /* by the last cycle */

    for (size_t done = 0; done < bytes;) {
        struct sgc_pace_heap heap = { .live = found };
        size_t budget = sgc_pace_smaller(sgc_pace_budget(&run->costs, &heap, &run->bounds), bytes - done);

        done += budget;
        run->allocated += budget;
        run->largest = sgc_pace_larger(run->largest, found + budget);
        live += budget / 1000 * kept;
        run->collecting_ns += sgc_pace_cycle_ns(&run->costs, live);
        run->cycles++;
        found = live;
    }
    return live;
}

static double share(const struct run *run)
{
    return run->collecting_ns / (run->collecting_ns + (double)run->allocated * (double)run->costs.mutator_ps / 1000);
}

static struct run fresh_run(void)
{
    return (struct run){ .costs = USUAL, .bounds = usual_settings((struct sgc_pace_bounds){ .cache = 0 }) };
}

static void test_simulated(void)
{
    struct run dead = fresh_run(), growth = fresh_run(), small = fresh_run(), large = fresh_run();

    simulate(&dead, 0, GB, 0);
    tap_ok(dead.largest == 4 * MB && share(&dead) < 0.05, "all die young: %zu MB, %.1f %% of the time", dead.largest >> 20,
           share(&dead) * 100);
    simulate(&growth, 0, GB, 1000);
    tap_ok(growth.cycles <= 11, "1 GB that lives: %u cycles", growth.cycles);
    simulate(&small, 64 * MB, 4 * GB, 0);
    simulate(&large, 256 * MB, 4 * GB, 0);
    tap_ok(small.cycles == 4 * large.cycles, "four times as much alive: a quarter of the cycles (%u, %u)", small.cycles,
           large.cycles);
    tap_ok(small.largest == 128 * MB && large.largest == 512 * MB, "in a heap four times as large");
}

/* ---- at the limit ---- */

static void test_limit(void)
{
    tap_ok(sgc_pace_useless(0, 100 * MB) && sgc_pace_useless(2 * MB - 1, 100 * MB), "less than a fiftieth is useless");
    tap_ok(!sgc_pace_useless(2 * MB, 100 * MB), "as much is not");
    tap_ok(sgc_pace_try(0, 0, 1000) && sgc_pace_try(4, 0, 1000), "a few useless cycles are no reason to give up");
    tap_ok(!sgc_pace_try(5, 0, 1000) && !sgc_pace_try(5, 124, 1000) && !sgc_pace_try(1000, 124, 1000), "more of them are");
    tap_ok(sgc_pace_try(5, 125, 1000), "until the program has run for a while");
}

/* ---- markers ---- */

static void test_markers(void)
{
    tap_ok(sgc_pace_markers(0, 8) == 1 && sgc_pace_markers(299999, 8) == 1, "less than 0.3 ms: alone");
    tap_ok(sgc_pace_markers(300000, 8) == 2 && sgc_pace_markers(900000, 8) == 4, "one more for each");
    tap_ok(sgc_pace_markers(1e12, 8) == 8 && sgc_pace_markers(1e300, 4096) == 4096, "up to all of them");
    tap_ok(sgc_pace_markers(1e12, 1) == 1 && sgc_pace_markers(1e12, 0) == 1 && sgc_pace_markers(0, -1) == 1, "at least one");
}

int main(void)
{
    tap_plan(0);
    test_median();
    test_budgets();
    test_monotonic();
    test_simulated();
    test_limit();
    test_markers();
    return tap_done();
}
