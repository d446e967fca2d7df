/* SPDX-License-Identifier: MIT */
/*
 * A machine with plain numbers and graphs of known shapes, for tests of the performance model.  Objects are of 64 bytes: with
 * the costs below, one with e edges costs 10 + 1 + 2 + 8 + 4 e nanoseconds, and one that is split more.
 */
#ifndef TESTS_UNIT_PERFMODEL_MODEL_H
#define TESTS_UNIT_PERFMODEL_MODEL_H

#include <string.h>

#include "perfmodel/model/predict.h"
#include "tests/lib/shapes.h"

/* Four nodes of two processors; one cache of eight lines in two sets. */
static const struct sgc_machine plain_machine = {
    .name = "plain",
    .processors = 8,
    .nodes = 4,
    .placement = SGC_PLACED_FIRST_TOUCH,
    .network = SGC_NETWORK_FLAT,
    .nodes_a_router = 1,
    .latency_ns = { [SGC_MISS_READ] = { 100, 200 }, [SGC_MISS_RMW] = { 150, 300 } },
    .occupancy_ns = { 20, 40 },
    .cache = { { 512, 4, 64, 1, 1 } },
    .caches = 1,
    .misses_in_flight = 1,
    .tlb = { .ways = 1, .page_bytes = 4096 },
    .cost = { .object_ns = 10, .word_ns = 1, .edge_ns = 4, .mark_rmw_ns = 1, .push_ns = 1, .pop_ns = 1 },
};

enum { OBJECT_BYTES = 64, OBJECT_NS = 10 + 1 + 2 + 8, EDGE_NS = 4 };

/* Neither is below 0. */
TEST_UNUSED static bool near(double value, double wanted)
{
    if (value - wanted <= 1e-9 * (1 + wanted) && wanted - value <= 1e-9 * (1 + wanted))
        return true;
    tap_diag("%.12g instead of %.12g", value, wanted);
    return false;
}

/* An array that leads to so many objects. */
TEST_UNUSED static struct sgc_graph shape_star(uint32_t points)
{
    return shape_array(points * 8, points, OBJECT_BYTES);
}

#endif
