/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/pacing_rules.h: tables of what is measured and set, and what follows; and a program that is simulated with it.
 */
#include "gc/pacing/pacing_rules.h"
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

/* A program that does nothing but allocate. */
#define DEAR { 50000, 500, 250 }

/* What a row leaves out. */
static struct sgc_pace_bounds usual_settings(struct sgc_pace_bounds b)
{
    b.cache = b.cache != 0 ? b.cache : 4 * MB;
    b.near = b.near != 0 ? b.near : b.cache;
    b.divisor = b.divisor != 0 ? b.divisor : 3;
    b.limit = b.limit != 0 ? b.limit : SIZE_MAX;
    return b;
}

static struct sgc_pace_heap usual_heap(struct sgc_pace_heap h)
{
    h.allocated = h.allocated != 0 ? h.allocated : 64 * GB;
    return h;
}

struct budget_row {
    const char *name;
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap;
    struct sgc_pace_bounds bounds;
    size_t least, most;
};

static const struct budget_row budgets[] = {
    { "nothing lives: a twentieth of the time", USUAL, { 0 }, { 0 }, 949000, 951000 },
    { "before the first cycle: little", DEAR, { .allocated = 1 }, { 0 }, 256 * KB, 256 * KB },
    { "after it as much as the program has allocated so far", { 1000000000, 500, 1000 }, { .allocated = 2 * MB }, { 0 },
      2 * MB, 2 * MB },
    { "then what the near cache holds", { 1000000000, 500, 1000 }, { .allocated = 10 * MB }, { 0 }, 4 * MB, 4 * MB },
    { "a larger cache", { 1000000000, 500, 1000 }, { .allocated = 10 * MB }, { .cache = 7 * MB }, 7 * MB, 7 * MB },
    { "beside what lives", { 50000, 4000, 500 }, { .live = 256 * KB, .allocated = 10 * MB }, { .near = 1 * MB },
      768 * KB, 768 * KB },
    { "but no more than all caches hold", { 1000000000, 500, 1000 }, { .allocated = 10 * MB }, { .near = 8 * MB },
      4 * MB, 4 * MB },
    { "more lives than the near cache holds: it doubles", { 50000, 500, 5000 }, { .live = 2 * MB, .allocated = 10 * MB },
      { .near = 1 * MB }, 2 * MB, 2 * MB },
    { "more than 3.75 MB: 80 percent of that", { 50000, 500, 5000 }, { .live = 4 * MB, .allocated = 10 * MB },
      { .near = 1 * MB }, 16 * MB / 5 - KB, 16 * MB / 5 },
    { "what has no words to scan counts a fifth", { 50000, 500, 5000 },
      { .live = 8 * MB, .pointer_free = 4 * MB, .allocated = 10 * MB }, { .near = 1 * MB }, 96 * MB / 25 - KB, 96 * MB / 25 },
    { "if it is all there is: as a small heap", { 50000, 500, 5000 }, { .live = 8 * MB, .pointer_free = 8 * MB, .allocated = 10 * MB },
      { .near = 512 * KB }, 9 * MB / 4, 9 * MB / 4 },
    { "of what finalizers do not keep alone", { 50000, 500, 5000 },
      { .live = 12 * MB, .pointer_free = 6 * MB, .finalizable = 4 * MB, .allocated = 10 * MB }, { .near = 1 * MB },
      96 * MB / 25 - KB, 96 * MB / 25 },
    { "more than lives, as freeing may make it look", { 50000, 500, 5000 },
      { .live = 8 * MB, .pointer_free = 9 * MB, .allocated = 10 * MB }, { .near = 512 * KB }, 9 * MB / 4, 9 * MB / 4 },
    { "no more though cycles take most of the time", { 50000, 4000, 500 },
      { .live = 2 * MB, .allocated = 10 * MB }, { .near = 1 * MB }, 2 * MB, 2 * MB },
    { "by the divisor", { 50000, 4000, 500 }, { .live = 2 * MB, .allocated = 10 * MB }, { .near = 1 * MB, .divisor = 6 },
      1 * MB, 1 * MB },
    { "but as much as the roots take", { 3000000, 500, 1500 }, { .live = 4 * MB, .roots = 256 * KB, .allocated = 50 * MB },
      { .near = 1 * MB, .cache = 8 * MB }, 3635 * KB, 3636 * KB },
    { "of large roots a quarter of a megabyte", { 3000000, 500, 1500 },
      { .live = 4 * MB, .roots = 4 * MB, .allocated = 50 * MB }, { .near = 1 * MB, .cache = 8 * MB }, 4679 * KB, 4680 * KB },
    { "less if cycles take less than a tenth of the time", { 100000, 500, 300 }, { .allocated = 64 * MB }, { .near = 8 * MB },
      2999000, 3001000 },
    { "cheap cycles in a slow program: little", { 22000, 500, 6000 }, { .allocated = 64 * MB }, { 0 }, 256 * KB, 256 * KB },
    { "cycles that are just not noticed: what they need for that", { 22000, 500, 2695 }, { .allocated = 64 * MB }, { 0 },
      400 * 1000, 400 * 1000 },
    { "cycles that may be noticed: half a megabyte", { 22000, 500, 1000 }, { .allocated = 64 * MB }, { 0 }, 512 * KB, 512 * KB },
    { "but not at once", { 22000, 500, 1000 }, { .allocated = 300 * KB }, { 0 }, 300 * KB, 300 * KB },
    { "stopping takes 0.1 ms: 19 times as long between cycles", { 100000, 500, 1000 }, { 0 }, { 0 }, 1899000, 1901000 },
    { "0.4 ms: less than a tenth of the time, so within the caches", { 400000, 500, 1000 }, { 0 }, { 0 }, 4 * MB, 4 * MB },
    { "0.5 ms: a little more than they hold", { 500000, 500, 1000 }, { 0 }, { 0 }, 9000000 - 4 * MB, 9000000 - 4 * MB },
    { "0.5 ms and larger caches: 19 times as long", { 500000, 500, 1000 }, { 0 }, { .cache = 16 * MB, .near = 1 * MB },
      9499000, 9501000 },
    { "stopping takes a second: still a small heap", { 1000000000, 500, 1000 }, { 0 }, { 0 }, 16 * MB, 16 * MB },
    { "but a 128th of what the program has allocated so far", { 1000000000, 500, 1000 }, { .allocated = 800 * MB }, { 0 },
      6 * MB, 6 * MB },
    { "nothing of the first 32 MB", { 1000000000, 500, 1000 }, { .allocated = 33 * MB }, { .near = 0, .cache = 64 * KB },
      64 * KB, 64 * KB },
    { "2 MB live at a slow rate of allocation: a twentieth of the time", { 50000, 500, 5000 }, { .live = 2 * MB }, { 0 },
      4160000, 4180000 },
    { "at a very slow one: its growth all the same", { 50000, 500, 100000 }, { .live = 2 * MB }, { 0 }, 2 * MB, 2 * MB },
    { "2 MB live at a high one: a small heap", { 50000, 500, 100 }, { .live = 2 * MB }, { 0 },
      14 * MB, 14 * MB },
    { "a larger divisor makes small heaps smaller", { 50000, 500, 100 }, { .live = 1 * MB }, { .divisor = 6 },
      7 * MB, 7 * MB },
    { "but the near cache is used", { 50000, 500, 100 }, { .live = 1 * MB }, { .divisor = 60 }, 3 * MB, 3 * MB },
    { "100 MB live: 35 percent and 2.5 MB", USUAL, { .live = 100 * MB }, { 0 }, 37 * MB, 75 * MB / 2 },
    { "and 100 MB of roots: a fifth of most of that, too", USUAL, { .live = 100 * MB, .roots = 100 * MB }, { 0 },
      44 * MB, 46 * MB },
    { "not what finalizers alone keep", USUAL, { .live = 100 * MB, .finalizable = 60 * MB }, { 0 }, 16 * MB, 17 * MB },
    { "divisor 2: one and a half times", USUAL, { .live = 100 * MB }, { .divisor = 2 }, 56 * MB, 57 * MB },
    { "divisor 1: doubled at most", USUAL, { .live = 100 * MB }, { .divisor = 1 }, 100 * MB, 100 * MB },
    { "divisor 6: twice what lives, divided by it", USUAL, { .live = 100 * MB }, { .divisor = 6 }, 33 * MB, 34 * MB },
    { "divisor 12: the same", USUAL, { .live = 100 * MB }, { .divisor = 12 }, 16 * MB, 17 * MB },
    { "divisor 4: no more than with 3", USUAL, { .live = 100 * MB }, { .divisor = 4 }, 37 * MB, 75 * MB / 2 },
    { "a small heap: three times its growth, divided by it", USUAL, { .live = 4 * MB, .allocated = 1 * MB },
      { .divisor = 12, .near = 0, .cache = 1 * MB }, 819 * KB, 820 * KB },
    { "little is allocated: the same", { 50000, 500, 100000 }, { .live = 100 * MB }, { 0 }, 37 * MB, 75 * MB / 2 },
    { "64 TB live overflow nothing", { 50000, 500, 1 }, { .live = 64 * GB * 1024 }, { .divisor = 1 },
      64 * GB * 1024, 64 * GB * 1024 },
    { "an impossibly fast program", { 50000, 500, 0 }, { .live = 100 * MB }, { 0 }, 37 * MB, 75 * MB / 2 },
    { "initial heap", USUAL, { .live = 10 * MB }, { .initial = 64 * MB }, 54 * MB, 54 * MB },
    { "initial heap, outgrown", USUAL, { .live = 80 * MB }, { .initial = 64 * MB }, 30 * MB, 31 * MB },
    { "the client's minimum", USUAL, { 0 }, { .minimum = 50 * MB }, 50 * MB, 50 * MB },
    { "the client's minimum: never", USUAL, { 0 }, { .minimum = SIZE_MAX }, SGC_PACE_NEVER, SGC_PACE_NEVER },
    { "the client's minimum beats the limit", USUAL, { 0 }, { .minimum = 50 * MB, .limit = 20 * MB }, 50 * MB, 50 * MB },
    { "use the entire heap", USUAL, { .live = 10 * MB, .size = 90 * MB }, { .use_entire_heap = true }, 80 * MB, 80 * MB },
    { "use the entire heap, if it is more", USUAL, { .live = 100 * MB, .size = 130 * MB },
      { .use_entire_heap = true }, 37 * MB, 75 * MB / 2 },
    { "do not expand", USUAL, { .live = 100 * MB, .size = 150 * MB }, { .dont_expand = true }, 50 * MB, 50 * MB },
    { "do not expand: yet something", USUAL, { .live = 100 * MB, .size = 100 * MB }, { .dont_expand = true },
      4 * MB, 4 * MB },
    { "a limit the client has named, and dear cycles: all there is", DEAR, { .live = 4 * MB, .allocated = GB },
      { .limit = 64 * MB, .declared = true }, 58 * MB, 58 * MB },
    { "but no more than the program has allocated so far", DEAR, { .live = 4 * MB, .allocated = 20 * MB },
      { .limit = 64 * MB, .declared = true }, 20 * MB, 20 * MB },
    { "a little in any case", DEAR, { .live = 1 * MB, .allocated = 512 * KB }, { .limit = 64 * MB, .declared = true },
      4 * MB, 4 * MB },
    { "less if cycles are cheap then", USUAL, { .live = 4 * MB, .allocated = GB }, { .limit = 64 * MB, .declared = true },
      32 * MB, 33 * MB },
    { "nothing lives: the cache, whatever the limit", USUAL, { .allocated = GB }, { .limit = 64 * MB, .declared = true },
      4 * MB, 4 * MB },
    { "100 MB live and 1 GB allowed: a heap of it", USUAL, { .live = 100 * MB, .allocated = 4 * GB },
      { .limit = GB, .declared = true }, 890 * MB, 900 * MB },
    { "a larger divisor makes that smaller, too", DEAR, { .live = 4 * MB, .allocated = GB },
      { .limit = 64 * MB, .declared = true, .divisor = 6 }, 28 * MB, 28 * MB },
    { "a limit of another's is no permission", DEAR, { .live = 4 * MB, .allocated = 2 * GB }, { .limit = 64 * MB },
      12 * MB, 12 * MB },
    { "the limit is far", USUAL, { .live = 100 * MB }, { .limit = GB }, 37 * MB, 75 * MB / 2 },
    { "the limit is near: what there is room for", USUAL, { .live = 100 * MB }, { .limit = 128 * MB }, 24 * MB, 24 * MB },
    { "nearer: a sixteenth", USUAL, { .live = 112 * MB }, { .limit = 112 * MB }, 7 * MB, 7 * MB },
    { "passed", USUAL, { .live = 160 * MB }, { .limit = 80 * MB }, 10 * MB, 10 * MB },
    { "a tiny limit", DEAR, { .live = 0 }, { .limit = 1 * MB }, 31 * MB / 32, MB },
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
        struct sgc_pace_heap heap = usual_heap(r->heap);
        size_t budget = sgc_pace_budget(&r->costs, &heap, &bounds);

        tap_ok(budget >= r->least && budget <= r->most, "%s (%zu KB)", r->name, budget >> 10);
    }
    tap_ok(sgc_pace_to_bytes(1e30) == SGC_PACE_NEVER && sgc_pace_to_bytes(1e6) == 1000000, "the impossibly dear: never");
    tap_ok(sgc_pace_in_proportion(MB, 0) == 3 * MB, "a client may assign 0 to the divisor: it counts as 1");
}

/* More alive, never denser cycles while the limit is far, and never a smaller heap; a slower collector, never denser
 * cycles; more allocated so far, never denser cycles. */
static size_t breaches(const struct sgc_pace_bounds *b, size_t live, uint64_t ps)
{
    const struct sgc_pace_costs slow = { 50000, 700, ps }, fast = { 50000, 500, ps };
    const struct sgc_pace_heap heap = { .live = live, .allocated = 2 * GB };
    const struct sgc_pace_heap more = { .live = live + MB, .allocated = 2 * GB };
    const struct sgc_pace_heap young = { .live = live, .allocated = 100 * MB };
    size_t budget = sgc_pace_budget(&fast, &heap, b);

    return (sgc_pace_budget(&slow, &heap, b) < budget) + (sgc_pace_budget(&fast, &young, b) > budget) +
           (!b->declared && live > 16 * MB && sgc_pace_budget(&fast, &more, b) < budget) +
           (live + sgc_pace_budget(&fast, &more, b) + MB < live + budget);
}

static void test_monotonic(void)
{
    const struct sgc_pace_bounds free = usual_settings((struct sgc_pace_bounds){ .cache = 0 });
    const struct sgc_pace_bounds named = usual_settings((struct sgc_pace_bounds){ .declared = true, .limit = 4 * GB });
    size_t wrong = 0;

    for (size_t live = 0; live < GB; live += 3 * MB + 12345)
        for (uint64_t ps = 10; ps < 100000; ps *= 3)
            wrong += breaches(&free, live, ps) + breaches(&named, live, ps);
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
        struct sgc_pace_heap heap = { .live = found, .allocated = done };
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
    tap_ok(dead.largest < MB && share(&dead) < 0.055, "all die young: %zu KB, %.1f %% of the time", dead.largest >> 10,
           share(&dead) * 100);
    simulate(&growth, 0, GB, 1000);
    tap_ok(growth.cycles <= 22, "1 GB that lives: %u cycles", growth.cycles);
    simulate(&small, 64 * MB, 4 * GB, 0);
    simulate(&large, 256 * MB, 4 * GB, 0);
    tap_ok(small.cycles > 3 * large.cycles && small.cycles < 4 * large.cycles,
           "four times as much alive: more than a quarter of the cycles (%u, %u)", small.cycles, large.cycles);
    tap_ok(small.largest < 96 * MB && large.largest < 384 * MB, "in a heap that is larger by less than a half");
}

/* 4 MB live, all else dies at once, and the program does nothing but allocate. */
static struct run simulate_named(size_t limit, size_t bytes)
{
    struct run run = fresh_run();

    run.costs = (struct sgc_pace_costs)DEAR;
    run.bounds.limit = limit;
    run.bounds.declared = limit != SIZE_MAX;
    simulate(&run, 4 * MB, bytes, 0);
    return run;
}

static void test_simulated_named(void)
{
    struct run unnamed = simulate_named(SIZE_MAX, 2 * GB), tight = simulate_named(64 * MB, GB);
    struct run wide = simulate_named(GB, 4 * GB), brief = simulate_named(GB, 24 * MB);

    tap_ok(share(&unnamed) > 0.3 && unnamed.largest == 16 * MB, "4 MB live, no limit: %.0f %% of the time in 16 MB",
           share(&unnamed) * 100);
    tap_ok(share(&tight) < 0.15 && tight.largest == 62 * MB, "in the 64 MB the client has named: %.0f %%", share(&tight) * 100);
    tap_ok(share(&wide) < 0.065 && wide.largest < 180 * MB, "in 1 GB: %.0f %%, and it is not used up (%zu MB)",
           share(&wide) * 100, wide.largest >> 20);
    tap_ok(brief.largest <= 28 * MB, "a brief program takes little of it (%zu MB)", brief.largest >> 20);
}

/* ---- memory that is touched already ---- */

static void test_reuse(void)
{
    tap_ok(sgc_pace_may_reuse(4 * MB, 10 * MB, 2 * MB), "memory that is touched is used before the cycle after all");
    tap_ok(!sgc_pace_may_reuse(4 * MB, 3 * MB, 2 * MB) && !sgc_pace_may_reuse(4 * MB, 4 * MB, SIZE_MAX),
           "not if cycles are cheap");
    tap_ok(!sgc_pace_may_reuse(4 * MB, 10 * MB, MB), "nor for too little");
    tap_ok(!sgc_pace_may_reuse(SGC_PACE_NEVER, SGC_PACE_NEVER, SIZE_MAX), "never stays never");
    tap_ok(sgc_pace_reuses(MB, 512 * KB, 9 * MB, 9 * MB), "it is used as long as there is some");
    tap_ok(!sgc_pace_reuses(511 * KB, 512 * KB, 9 * MB, 9 * MB), "but for what is to be left");
    tap_ok(!sgc_pace_reuses(MB, 512 * KB, 9 * MB + 1, 9 * MB), "and the heap does not grow meanwhile");
    tap_ok(sgc_pace_reuses(1, 0, 9 * MB, 9 * MB) && !sgc_pace_reuses(0, 0, 9 * MB, 9 * MB), "nothing is nothing to use");
    tap_ok(sgc_pace_left(0) == 512 * KB && sgc_pace_left(240) == 512 * KB, "half a megabyte is left");
    tap_ok(sgc_pace_left(248) == 256 * KB && sgc_pace_left(256) == 0 && sgc_pace_left(300) == 0, "less where little dies");
}

static size_t most_reused(struct sgc_pace_costs costs, size_t live, struct sgc_pace_bounds bounds)
{
    const struct sgc_pace_heap heap = usual_heap((struct sgc_pace_heap){ .live = live });

    bounds = usual_settings(bounds);
    return sgc_pace_most_reused(&costs, &heap, &bounds);
}

static void test_most_reused(void)
{
    const struct sgc_pace_costs dear = { 1000000000, 500, 1000 }, cheap = { 50000, 0, 1000 };
    const struct sgc_pace_costs bearable = { 400000, 0, 1000 };

    tap_ok(most_reused(dear, 100 * MB, (struct sgc_pace_bounds){ 0 }) / MB == 112, "dear cycles: up to three budgets");
    tap_ok(most_reused(cheap, 100 * MB, (struct sgc_pace_bounds){ 0 }) < MB, "cheap ones: what they cost");
    tap_ok(most_reused(bearable, 0, (struct sgc_pace_bounds){ 0 }) == 4 * MB, "bearable ones: no more than the caches hold");
    tap_ok(most_reused(dear, 100 * MB, (struct sgc_pace_bounds){ .limit = 200 * MB }) <= 100 * MB, "within the limit");
    tap_ok(most_reused(dear, 100 * MB, (struct sgc_pace_bounds){ .dont_expand = true }) == 0 &&
           most_reused(dear, 100 * MB, (struct sgc_pace_bounds){ .use_limit = true, .limit = GB }) == 0,
           "nothing where the budget is all there is");
}

/* The budget of a program whose heap has touched so much already, of which all that is not counted is free. */
static size_t budget_with(const struct run *run, const struct sgc_pace_heap *h, size_t touched)
{
    size_t budget = sgc_pace_budget(&run->costs, h, &run->bounds), most = sgc_pace_most_reused(&run->costs, h, &run->bounds);

    if (!sgc_pace_may_reuse(budget, most, sgc_pace_less(touched, h->live + budget)))
        return budget;
    return sgc_pace_smaller(most, touched - h->live - sgc_pace_left(0));
}

/* Builds `tooth` bytes, all of which live, drops them, and so on. */
static struct run simulate_teeth(size_t tooth, size_t bytes, bool reuse)
{
    struct run run = fresh_run();

    for (size_t at = 0; at < bytes;) {
        struct sgc_pace_heap heap = { .live = at % tooth, .allocated = at };
        size_t budget = budget_with(&run, &heap, reuse ? run.largest : 0);

        run.largest = sgc_pace_larger(run.largest, heap.live + budget);
        run.cycles++;
        at += budget;
    }
    return run;
}

static void test_teeth(void)
{
    size_t largest = 0, plainly = 0, cycles = 0, without = 0;

    for (size_t tooth = 20 * MB; tooth < 200 * MB; tooth += 7 * MB) {
        struct run reusing = simulate_teeth(tooth, 10 * tooth, true), plain = simulate_teeth(tooth, 10 * tooth, false);

        largest += reusing.largest;
        plainly += plain.largest;
        cycles += reusing.cycles;
        without += plain.cycles;
    }
    tap_ok(largest <= plainly, "built and dropped again and again: no larger heaps by using what is touched (%zu, %zu MB)",
           largest >> 20, plainly >> 20);
    tap_ok(cycles * 4 < without * 3, "with a fourth of the cycles less (%zu, %zu)", cycles, without);
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
    tap_ok(sgc_pace_markers(0, 8) == 1 && sgc_pace_markers(8999999, 8) == 1, "less than nine milliseconds: alone");
    tap_ok(sgc_pace_markers(9000000, 16) == 10 && sgc_pace_markers(9000000, 4) == 4, "else one for each, and one more");
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
    test_simulated_named();
    test_reuse();
    test_most_reused();
    test_teeth();
    test_limit();
    test_markers();
    return tap_done();
}
