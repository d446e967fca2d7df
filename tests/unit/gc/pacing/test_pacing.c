/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/pacing.c, gc/pacing/costs.c: when a collection is due, seen by how much can be allocated until it happens.
 */
#include "alloc/free.h"
#include "gc/collect/allocate.h"
#include "gc/events/stats.h"
#include "gc/pacing/budget.h"
#include "gc/pacing/costs.h"
#include "gc/pacing/heap_size.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/pacing.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

enum { PATIENCE_MB = 256 };

static size_t mb(size_t bytes)
{
    return bytes >> 20;
}

/* Bytes that can be allocated until a collection happens by itself. */
static size_t until_collection(size_t bytes, bool freeing)
{
    uint64_t before = sgc_cycles_finished();
    size_t sum = 0;

    while (sgc_cycles_finished() == before && sum < (size_t)PATIENCE_MB << 20) {
        void *object = sgc_allocate(bytes, WHITE_KIND);
        sum += bytes;
        if (freeing)
            sgc_object_free(sgc_self, object);
    }
    return sum;
}

/* As if the last cycles had taken so long. */
static void pretend_cycles(uint64_t ns)
{
    for (int i = 0; i < 2; i++) {
        struct sgc_cycle_record record = { .reason = SGC_REASON_EXPLICIT };

        record.times.request_ns = record.times.stop_begin_ns = sgc_clock_ns();
        record.times.phase_ns[SGC_PHASE_STOP] = ns;
        record.times.stopped_ns = record.times.resumed_ns = record.times.stop_begin_ns + ns;
        SGC_EVENT(cycle_end, &record);
    }
}

static void **live;                 /* static data */

/* Collections while so much is allocated that dies at once. */
static unsigned collections(size_t megabytes)
{
    uint64_t before = sgc_cycles_finished();

    for (size_t i = 0; i < megabytes << 10; i++)
        sgc_allocate(1000, WHITE_KIND);
    return (unsigned)(sgc_cycles_finished() - before);
}

static void make_live(size_t megabytes)
{
    size_t n = megabytes << 10;

    live = sgc_allocate(n * sizeof *live, WHITE_KIND);
    for (size_t i = 0; i < n; i++)
        live[i] = sgc_allocate(1000, WHITE_KIND);
}

static void drop_live(void)
{
    live = NULL;
    white_collect();
}

/* ---- how much ---- */

static void test_budget(void)
{
    size_t small, large;

    white_collect();
    small = until_collection(1000, false);
    white_exact_ok(small >= 250 << 10 && mb(small) <= 17,
                   "an almost empty heap collects after a quarter megabyte or more (%zu KB)", small >> 10);
    make_live(40);
    white_collect();
    large = until_collection(1000, false);
    white_exact_ok(mb(large) >= 15 && mb(large) <= 60, "40 MB of live data: after about half as much (%zu)", mb(large));
    tap_ok(sgc_counts_live() >= (size_t)40 << 20, "the last cycle's live bytes are known (%zu)", mb(sgc_counts_live()));
    tap_ok(until_collection(100000, false) > (size_t)15 << 20, "large objects count as well");
    drop_live();
}

/* In children: the heap's greatest size and the environment are the whole process's. */
static int stay_small(void)
{
    white_init();
    for (int i = 0; i < 4000000; i++)
        sgc_allocate(63, WHITE_KIND);
    return sgc_heap_max() < (size_t)20 << 20 && sgc_cycles_finished() < 512 ? 0 : 1;
}

/* Cycles that the limit itself has called for. */
static uint64_t hits(void)
{
    struct sgc_totals totals;

    sgc_stats_get(&totals);
    return totals.cycle.by_reason[SGC_REASON_LIMIT];
}

static int use_the_limit(void)
{
    uint64_t cycles;

    environment("SGC_PACING=limit", "GC_MAXIMUM_HEAP_SIZE=64m");
    white_init();
    cycles = collections(320);
    return cycles >= 3 && cycles <= 10 && hits() == 0 && sgc_heap_max() > (size_t)56 << 20 &&
           sgc_heap_max() <= (size_t)64 << 20 ? 0 : 1;
}

static int limit_of_the_machine(void)
{
    setenv("SGC_PACING", "limit", 1);
    white_init();
    return sgc_limit_physical_memory() < (size_t)2 << 30 || collections(256) == 0 ? 0 : 1;
}

/* After 60 MB of dead objects and cycles so dear that no budget is too large. */
static size_t budget_when_dear(void)
{
    white_init();
    collections(60);
    white_collect();
    pretend_cycles(UINT64_C(1000000000));
    return mb(until_collection(1000, false));
}

static int dear_below_named_limit(void)
{
    setenv("GC_MAXIMUM_HEAP_SIZE", "100m", 1);
    return budget_when_dear() >= 56 && sgc_heap_max() <= (size_t)100 << 20 ? 0 : 1;
}

static int dear_below_own_limit(void)
{
    white_init();
    sgc_pool_set_limit(sgc_heap_limit((size_t)100 << 20));
    return budget_when_dear() <= 17 ? 0 : 1;
}

/* 40 MB have died beside 20 that live: of that some is used before the next cycle. */
static int dear_with_touched_memory(void)
{
    size_t sum;
    void **kept;

    setenv("SGC_BACKGROUND_THREAD", "off", 1);
    white_init();
    make_live(20);
    kept = live;
    make_live(40);
    live = kept;
    white_collect();
    pretend_cycles(UINT64_C(1000000000));
    sum = mb(until_collection(1000, false));
    return sum >= 15 && sum <= 40 && mb(sgc_heap_max()) <= 64 ? 0 : 1;
}

/* 20 of 60 MB are live: the others are used, in each cycle. */
static int use_what_is_granted(void)
{
    white_init();
    if (!sgc_heap_expand((size_t)60 << 20, sgc_mutator_self()))
        return 1;
    make_live(20);
    white_collect();
    pretend_cycles(UINT64_C(1000000000));
    return mb(until_collection(1000, false)) >= 37 && mb(sgc_heap_max()) <= 64 ? 0 : 2;
}

/* Heap that the program asks for puts off the mark beside it as far as the cycle. */
static int put_off_mark(void)
{
    size_t budget, begin;

    white_init();
    sgc_pacing_concurrent(1);
    make_live(20);
    white_collect();
    sgc_pacing_grant(0, 0);
    budget = sgc_aw_load(&sgc_budget.bytes), begin = sgc_aw_load(&sgc_budget.trigger);
    sgc_pacing_grant(0, (size_t)8 << 20);
    return begin < budget && sgc_aw_load(&sgc_budget.bytes) == budget + ((size_t)8 << 20) &&
                   sgc_aw_load(&sgc_budget.trigger) == begin + ((size_t)8 << 20)
               ? 0 : 1;
}

/* A program of many sizes: batches of one each, of which the last are alive.  Cycles of the second half. */
enum { BATCHES = 16, BATCH = 8192, SIZES = 60, TURNS = 6000 };

static uint64_t cycles_of_sizes(void)
{
    static uintptr_t batch[BATCHES][BATCH / 64];        /* a root */
    uint64_t before = 0;

    for (unsigned turn = 0; turn < TURNS; turn++) {
        size_t bytes = 64 + turn * 7 % SIZES * 32, count = BATCH / bytes;
        uintptr_t *one = batch[turn % BATCHES];

        if (turn == TURNS / 2)
            before = sgc_cycles_finished();
        for (unsigned i = 0; i < BATCH / 64 && one[i] != 0; i++) {
            sgc_drop(sgc_self, &one[i], 1);
            one[i] = 0;
        }
        for (size_t i = 0; i < count; i++)
            one[i] = (uintptr_t)sgc_allocate(bytes - 1, WHITE_KIND);
    }
    return sgc_cycles_finished() - before;
}

/* There is more claimed, of all sizes together, than what lives; it would be claimed anew after each cycle. */
static int many_sizes(void)
{
    white_init();
    return cycles_of_sizes() == 0 ? 0 : 1;
}

static void test_heaps(void)
{
    white_exact_ok(run_in_child(stay_small) == 0, "256 MB of dead 64-byte objects: a few megabytes, far from the limit");
    white_exact_ok(run_in_child(use_the_limit) == 0, "SGC_PACING=limit uses the limit before each collection");
    child_ok(limit_of_the_machine, "and a part of the machine where there is none");
    child_ok(dear_below_named_limit, "if cycles are dear, a limit that is named may be used");
    child_ok(dear_below_own_limit, "not so one that the program has set for itself");
    child_ok(many_sizes, "what is claimed of many sizes calls for no cycle of a program that frees all");
    child_ok(dear_with_touched_memory, "but memory that is touched already is used first");
    child_ok(use_what_is_granted, "and so is the heap that the program has asked for");
    child_ok(put_off_mark, "which puts off a mark beside the program, too");
}

/* ---- explicit frees ---- */

static void test_freed(void)
{
    size_t sum = until_collection(1000, true);

    tap_ok(sum >= (size_t)PATIENCE_MB << 20, "a program that frees what it allocates is not collected");
    sum = until_collection(100000, true);
    tap_ok(sum >= (size_t)PATIENCE_MB << 20, "large objects likewise");
}

static void test_freed_early(void)
{
    size_t sum;

    white_collect();
    for (int i = 0; i < 250; i++)
        sgc_object_free(sgc_self, sgc_allocate(100000, WHITE_KIND));
    sgc_pacing_freed_early((size_t)20 << 20);
    white_collect();
    sum = until_collection(1000, false);
    tap_ok(mb(sum) >= 27, "a cycle that has freed 20 MB in the program's place: the next after these and more (%zu)", mb(sum));
    sum = until_collection(1000, false);
    white_exact_ok(mb(sum) <= 17, "but the one after that as before (%zu)", mb(sum));
    sgc_pacing_freed_early((size_t)20 << 20);
    white_collect();
    sum = until_collection(1000, false);
    white_exact_ok(mb(sum) <= 17, "and so where the program frees nothing (%zu)", mb(sum));
}

/* Allocates 2 MB again and again, and frees what was there, but for so many tenths; then, until the next collection. */
static size_t until_after_waves(unsigned lost)
{
    enum { WAVE = 20, WAVES = 50, BYTES = 100000 };        /* small ones would be used again and count neither way */
    static void *wave[WAVE];            /* a root */

    for (int n = 0; n < WAVES; n++)
        for (unsigned i = 0; i < WAVE; i++) {
            if (wave[i] != NULL && i % 10 >= lost)
                sgc_object_free(sgc_self, wave[i]);
            wave[i] = sgc_allocate(BYTES, WHITE_KIND);
        }
    white_collect();
    pretend_cycles(1);
    return until_collection(1000, false);
}

static void test_own(void)
{
    size_t all = until_after_waves(0), most = until_after_waves(3);

    white_exact_ok(all > most + most / 2, "who frees all has a larger budget than who does not (%zu KB, %zu KB)", all >> 10,
                   most >> 10);
}

/* One thread allocates, another frees, through a ring; the one that frees never comes by the slow path. */
enum { RING = 64 };

static struct {
    sgc_aw_t slot[RING];
    sgc_a32_t over, ready;
} ring;

static void free_all(TEST_UNUSED void *unused)
{
    sgc_a32_store_rel(&ring.ready, 1);
    while (sgc_a32_load_acq(&ring.over) == 0)
        for (int i = 0; i < RING; i++) {
            void *object = (void *)sgc_aw_load_acq(&ring.slot[i]);

            if (object != NULL) {
                sgc_object_free(sgc_self, object);
                sgc_aw_store_rel(&ring.slot[i], 0);
            }
        }
}

static void test_freed_elsewhere(void)
{
    pthread_t thread;
    uint64_t before;

    white_collect();
    thread = white_start(free_all, NULL);
    tap_ok(white_reached(&ring.ready, 1), "a thread that frees is there");
    before = sgc_cycles_finished();
    for (size_t i = 0; i < (64 << 10) && sgc_cycles_finished() == before; i++) {
        while (sgc_aw_load_acq(&ring.slot[i % RING]) != 0)
            sgc_yield();
        sgc_aw_store_rel(&ring.slot[i % RING], (uintptr_t)sgc_allocate(1000, WHITE_KIND));
    }
    tap_ok(sgc_cycles_finished() == before, "what another thread frees is not collected for either");
    sgc_a32_store_rel(&ring.over, 1);
    white_join(thread);
    white_collect();
    tap_ok(sgc_counts_freed_since() < (size_t)1 << 20, "nor does it count for the time after the next collection");
}

/* ---- settings ---- */

static bool too_little(size_t claimed)
{
    static struct sgc_cache cache;

    sgc_aw_store(&cache.claimed, claimed);
    return sgc_pacing_below_batch(&cache);
}

/* A thread adds up what it has claimed before it tells the others: with a large budget more. */
static void test_unseen(void)
{
    sgc_pacing_set_minimum((size_t)512 << 20);
    tap_ok(too_little(100 << 10) && !too_little((1 << 20) + 1),
           "with a large budget 100 KB are too little to look, 1 MB is not");
    sgc_pacing_set_minimum(0);
    white_collect();
    tap_ok(too_little((16 << 10) - 1) && !too_little(512 << 10), "with a small one less than 16 KB is, 512 KB are not");
}

static void test_settings(void)
{
    size_t sum;

    white_collect();
    sgc_pacing_set_minimum(SIZE_MAX);
    sum = until_collection(1000, false);
    tap_ok(sum >= (size_t)PATIENCE_MB << 20, "the least between two collections is as much as there is: never");
    sgc_pacing_set_minimum(0);
    white_collect();
    sgc_pacing_given_up(true);
    sum = until_collection(1000, false);
    white_exact_ok(sum >= 450 << 10 && mb(sum) <= 34, "a cycle that was given up is tried again after as much again (%zu KB)",
                   sum >> 10);
}

static unsigned questions;

static int stop(void)
{
    questions++;
    return 1;
}

static void try_often(enum sgc_reason reason, int times)
{
    while (times-- > 0)
        sgc_collect(sgc_mutator_self(), reason, stop);
}

/* How often the function is asked whether to collect while so much is allocated. */
static unsigned questions_while(size_t megabytes)
{
    questions = 0;
    sgc_aw_store_rel(&sgc_allocate_settings.stop, (uintptr_t)stop);
    collections(megabytes);
    sgc_aw_store_rel(&sgc_allocate_settings.stop, 0);
    return questions;
}

/* The budget of an almost empty heap is less than 17 MB (test_budget). */
static void test_stop_function(void)
{
    size_t usual, sum;
    unsigned asked;

    white_collect();
    usual = until_collection(1000, false);
    try_often(SGC_REASON_EXPLICIT, 50);
    sum = until_collection(1000, false);
    white_exact_ok(sum <= 2 * usual + (1 << 20), "an explicit request that is given up changes no budget (%zu KB, %zu KB)",
                   usual >> 10, sum >> 10);
    white_collect();
    asked = questions_while(128);
    white_exact_ok(asked >= 6 && asked <= (128u << 20) / (SGC_PACE_MIN / 2),
                   "a cycle that allocation asks for, and that is given up, is tried again after a budget each (%u)", asked);
    sum = until_collection(1000, false);
    white_exact_ok(mb(sum) <= 17, "and made when it is not (%zu KB)", sum >> 10);
    sgc_collect_disable();
    collections(64);
    sgc_collect_enable();
    asked = questions_while(1);
    white_exact_ok(asked >= 1 && asked <= 5, "however much was allocated before (%u)", asked);
    white_collect();
}

static void test_counts(void)
{
    size_t before, allocated;

    white_collect();
    before = sgc_counts_allocated_before();
    allocated = sgc_counts_allocated_since();
    sgc_collect_disable();          /* a cycle after half of it would begin the count anew */
    for (int i = 0; i < 1000; i++)
        sgc_allocate(1000, WHITE_KIND);
    sgc_collect_enable();
    tap_ok(sgc_counts_allocated_since() >= allocated + 1000000, "allocated bytes are counted");
    white_collect();
    tap_ok(sgc_counts_allocated_before() >= before + 1000000 && sgc_counts_allocated_since() < 1000,
           "and taken over by the next cycle");
}

/* ---- what is learnt ---- */

static void test_costs(void)
{
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap;

    make_live(20);
    for (int i = 0; i < 3; i++)
        until_collection(1000, false);
    sgc_pacing_costs(&costs, &heap);
    tap_ok(costs.cycle_ns > 1000 && costs.cycle_ns < 10000000000, "a cycle costs something: %zu ns", (size_t)costs.cycle_ns);
    tap_ok(costs.mutator_ps > 10 && costs.mutator_ps < 10000000, "so does allocating a byte: %zu ps", (size_t)costs.mutator_ps);
    tap_ok(heap.roots > 1000, "the roots are known (%zu bytes)", heap.roots);
    drop_live();
}

static void test_markers(void)
{
    drop_live();
    for (int i = 0; i < 5; i++)
        white_collect();
    white_exact_ok(sgc_pacing_markers(64) == 1, "a small heap needs one marker");
    make_live(100);
    white_collect();
    tap_ok(sgc_pacing_markers(64) >= 4, "100 MB need more: %d", sgc_pacing_markers(64));
    tap_ok(sgc_pacing_markers(2) == 2 && sgc_pacing_markers(1) == 1, "but no more than there are");
    sgc_options.marker_choice = SGC_MARKERS_MODEL;
    sgc_options.node_mb_s = 1;
    tap_ok(sgc_pacing_markers(1000) <= 20, "a node that serves 1 MB/s keeps few markers busy, by the model");
    sgc_options.marker_choice = SGC_MARKERS_ALL;
    tap_ok(sgc_pacing_markers(1000) == 1000, "all are all");
    sgc_options.marker_choice = SGC_MARKERS_COST;
    drop_live();
}

/* Cycles at the limit that free nothing, one after the other. */
static void test_limit_pays(void)
{
    int tried = 0;

    make_live(100);
    white_collect();
    tap_ok(sgc_pacing_limit_pays(), "a cycle at the limit is tried");
    while (tried < 100 && sgc_pacing_limit_pays()) {
        sgc_collect(sgc_mutator_self(), SGC_REASON_LIMIT, NULL);
        tried++;
    }
    tap_ok(tried >= SGC_PACE_RATION && tried < 100, "after some that were useless no more (%d)", tried);
    for (int i = 0; i < 10000 && !sgc_pacing_limit_pays(); i++)
        sgc_sleep_ns(WHITE_MS);
    tap_ok(sgc_pacing_limit_pays(), "until the program has run for a while");
    collections(20);
    sgc_collect(sgc_mutator_self(), SGC_REASON_LIMIT, NULL);
    tap_ok(sgc_pacing_limit_pays(), "and from the first useful one on");
    drop_live();
}

int main(void)
{
    setenv("SGC_MODE", "stop", 1);
    unsetenv("SGC_VERIFY");             /* its time would count as the cycle's */
    test_heaps();
    white_init();
    return tap_all(test_budget, test_freed_elsewhere, test_freed, test_freed_early, test_own, test_unseen, test_settings,
                   test_stop_function, test_counts, test_costs, test_markers, test_limit_pays);
}
