/* SPDX-License-Identifier: MIT */
/*
 * A machine with plain numbers and graphs of known shapes, for tests of the performance model.  Objects are of 64 bytes: with
 * the costs below, one with e edges costs 10 + 1 + 2 + 8 + 4 e nanoseconds, and one that is split more.
 */
#ifndef TESTS_UNIT_PERFMODEL_MODEL_H
#define TESTS_UNIT_PERFMODEL_MODEL_H

#include <string.h>

#include "perfmodel/model/predict.h"
#include "tests/lib/tap.h"

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

/* Edges are added in ascending order of where they are from. */
struct drawing {
    uint32_t *bytes, *from, *to, root[8];
    struct sgc_graph_arrays arrays;
};

TEST_UNUSED static void draw_begin(struct drawing *d, uint32_t objects, uint64_t edges)
{
    memset(d, 0, sizeof *d);
    d->bytes = calloc(objects, sizeof *d->bytes);
    d->from = calloc(edges + 1, sizeof *d->from);
    d->to = calloc(edges + 1, sizeof *d->to);
    d->arrays = (struct sgc_graph_arrays){
        .objects = objects, .bytes = d->bytes, .from = d->from, .to = d->to, .root = d->root
    };
    for (uint32_t i = 0; i < objects; i++)
        d->bytes[i] = OBJECT_BYTES;
}

TEST_UNUSED static void draw_edge(struct drawing *d, uint32_t from, uint32_t to)
{
    d->from[d->arrays.edges] = from;
    d->to[d->arrays.edges++] = to;
}

TEST_UNUSED static void draw_root(struct drawing *d, uint32_t object)
{
    d->root[d->arrays.roots++] = object;
}

TEST_UNUSED static void draw_end(struct drawing *d, struct sgc_graph *g)
{
    const char *wrong;

    if (!sgc_graph_make(g, &d->arrays))
        tap_bail("no memory");
    wrong = sgc_graph_check(g);
    if (wrong != NULL)
        tap_bail("the graph is wrong: %s", wrong);
    free(d->bytes);
    free(d->from);
    free(d->to);
}

/* 0 leads to 1, and so on. */
TEST_UNUSED static void make_chain(struct sgc_graph *g, uint32_t objects)
{
    struct drawing d;

    draw_begin(&d, objects, objects);
    for (uint32_t i = 0; i + 1 < objects; i++)
        draw_edge(&d, i, i + 1);
    draw_root(&d, 0);
    draw_end(&d, g);
}

/* A complete tree in which each object above the last level leads to two. */
TEST_UNUSED static void make_tree(struct sgc_graph *g, unsigned levels)
{
    uint32_t objects = (UINT32_C(1) << levels) - 1;
    struct drawing d;

    draw_begin(&d, objects, objects);
    for (uint32_t i = 0; 2 * i + 2 < objects; i++) {
        draw_edge(&d, i, 2 * i + 1);
        draw_edge(&d, i, 2 * i + 2);
    }
    draw_root(&d, 0);
    draw_end(&d, g);
}

/* An array that leads to so many objects. */
TEST_UNUSED static void make_star(struct sgc_graph *g, uint32_t points)
{
    struct drawing d;

    draw_begin(&d, points + 1, points);
    d.bytes[0] = points * 8;
    for (uint32_t i = 0; i < points; i++)
        draw_edge(&d, 0, i + 1);
    draw_root(&d, 0);
    draw_end(&d, g);
}

#endif
