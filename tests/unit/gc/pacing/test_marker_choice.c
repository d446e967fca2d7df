/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/marker_rules.h and gc/pacing/costs.c: how many markers by cost and by the model, on one
 * memory node and on several, and what SGC_MARKER_CHOICE makes of it.
 */
#include "gc/pacing/costs.h"

#include "alloc/pages/homes.h"
#include "gc/config/options.h"
#include "gc/pacing/marker_rules.h"
#include "platform/platform.h"
#include "tests/lib/tap.h"

static const uint64_t MS = 1000000;

static void test_cost(void)
{
    tap_ok(sgc_markers_by_cost(0, 64) == 1 && sgc_markers_by_cost(9 * MS - 1, 64) == 1, "below 9 ms one marker");
    tap_ok(sgc_markers_by_cost(9 * MS, 64) == 10 && sgc_markers_by_cost(20 * MS, 64) == 21, "beyond it one a millisecond");
    tap_ok(sgc_markers_by_cost(1000 * MS, 64) == 64 && sgc_markers_by_cost(1000 * MS, 1) == 1, "at most all");
}

/* 100 ms for 200 MB that lie like this; a node serves so many MB/s. */
static uint32_t by_model(const uint32_t *share, uint32_t nodes, uint64_t node_mb_s, uint32_t most)
{
    struct sgc_marking m = { 100 * MS, 200000000, share, nodes, node_mb_s };

    return sgc_markers_by_model(&m, most);
}

static void test_model(void)
{
    const uint32_t one[] = { 1 }, even[] = { 5, 5, 5, 5 }, uneven[] = { 97, 1, 1, 1 }, empty[] = { 1, 0, 0, 0 };
    uint32_t few = by_model(one, 1, 10000, 64);

    /* The node needs 20 ms, which is a fifth of the work. */
    tap_ok(few >= 3 && few <= 24, "as many as a node can feed: %u", few);
    tap_ok(by_model(one, 1, 100000000, 64) >= 60, "all where memory is never busy, within 5 percent");
    tap_ok(by_model(even, 4, 10000, 64) > 2 * few, "four nodes feed more than one");
    tap_ok(by_model(uneven, 4, 10000, 64) < few + 4, "but not if nearly all is on one");
    tap_ok(by_model(empty, 4, 10000, 64) == few, "a node without any of it is none");
    tap_ok(by_model(one, 1, 1, 64) <= 20 && by_model(one, 1, 10000, 1) == 1,
           "few at a node that serves next to nothing, and one of one");
}

static void test_monotone(void)
{
    const uint32_t one[] = { 1 };
    uint32_t before = 1;
    bool grows = true;

    for (uint64_t rate = 100; rate < 10000000; rate += rate / 2) {
        uint32_t now = by_model(one, 1, rate, 200);

        grows = grows && now >= before && now <= sgc_markers_by_cost(100 * MS, 200);
        before = now;
    }
    tap_ok(grows && before > 90, "quicker nodes feed more markers, never more than are worth it by cost");
}

static void test_option(void)
{
    sgc_options.marker_choice = SGC_MARKERS_ALL;
    tap_ok(sgc_marker_choice(0, 0, 7) == 7, "all are all");
    sgc_options.marker_choice = SGC_MARKERS_COST;
    tap_ok(sgc_marker_choice(12 * MS, 1, 64) == 13, "cost");
    sgc_options.marker_choice = SGC_MARKERS_MODEL;
    tap_ok(sgc_marker_choice(5 * MS, 100000000, 64) == 1, "a mark that is not worth a second marker by cost has one");
    sgc_options.node_mb_s = 10000;
    tap_ok(sgc_marker_choice(100 * MS, 200000000, 64) == (int)by_model((uint32_t[]){ 1 }, 1, 10000, 64),
           "the model, on one node");
}

/* Six arenas: four on the first node, two on the second. */
static void test_homes(void)
{
    static struct sgc_arena arena[8];
    struct sgc_heap before = sgc_heap;

    for (int i = 0; i < 8; i++)
        arena[i].home = (uint8_t)(i < 4 ? 0 : 1);
    sgc_heap.arenas = arena;
    sgc_heap.homes = 2;
    sgc_heap.reserved = 8 * (size_t)SGC_ARENA;
    sgc_aw_store(&sgc_heap.limit, 6 * (size_t)SGC_ARENA);
    tap_ok(sgc_marker_choice(100 * MS, 200000000, 64) == (int)by_model((uint32_t[]){ 4, 2 }, 2, 10000, 64),
           "on several nodes as its arenas are");
    sgc_heap = before;
}

/* The least of many times: less than a thousandth of a mark of 10 ms. */
static void test_time(void)
{
    uint32_t share[SGC_MARK_NODES];
    uint64_t least = UINT64_MAX;

    for (int j = 0; j < SGC_MARK_NODES; j++)
        share[j] = 1;
    for (int i = 0; i < 200; i++) {
        uint64_t begun = sgc_clock_ns(), time;

        by_model(share, 8, 10000, 128);
        time = sgc_clock_ns() - begun;
        least = time < least ? time : least;
    }
    tap_ok(least < 100000, "a choice on 8 nodes takes %u ns", (unsigned)least);
}

int main(void)
{
    return tap_all(test_cost, test_model, test_monotone, test_option, test_homes, test_time);
}
