/* SPDX-License-Identifier: MIT */
/* Graphs of simple shapes, from arrays, for tests of the performance model. */
#ifndef TESTS_LIB_SHAPES_H
#define TESTS_LIB_SHAPES_H

#include "snapshot/graph.h"
#include "tests/lib/tap.h"

struct shape {
    uint32_t objects, *bytes, *from, *to, *root, roots;
    uint64_t edges;
};

/* Room for so many. */
static struct shape shape_make(uint32_t objects, uint64_t edges, uint32_t roots)
{
    struct shape s = {
        .bytes = malloc((objects + 1) * sizeof *s.bytes), .from = malloc((edges + 1) * sizeof *s.from),
        .to = malloc((edges + 1) * sizeof *s.to), .root = malloc((roots + 1) * sizeof *s.root),
    };

    if (s.bytes == NULL || s.from == NULL || s.to == NULL || s.root == NULL)
        tap_bail("no memory for the graph of a test");
    return s;
}

static void shape_edge(struct shape *s, uint32_t from, uint32_t to)
{
    s->from[s->edges] = from;
    s->to[s->edges++] = to;
}

static void shape_root(struct shape *s, uint32_t object)
{
    s->root[s->roots++] = object;
}

/* So many objects of so many bytes each, which nothing leads to yet. */
static struct shape shape_objects(uint32_t objects, uint32_t bytes, uint64_t edges, uint32_t roots)
{
    struct shape s = shape_make(objects, edges, roots);

    while (s.objects < objects)
        s.bytes[s.objects++] = bytes;
    return s;
}

/* The graph; the arrays are given back. */
static struct sgc_graph shape_graph(struct shape *s)
{
    struct sgc_graph_arrays arrays = { s->objects, s->bytes, s->edges, s->from, s->to, s->roots, s->root };
    struct sgc_graph graph;

    if (!sgc_graph_make(&graph, &arrays))
        tap_bail("no memory for the graph of a test");
    if (sgc_graph_check(&graph) != NULL)
        tap_bail("the graph is wrong: %s", sgc_graph_check(&graph));
    free(s->bytes);
    free(s->from);
    free(s->to);
    free(s->root);
    return graph;
}

/* One object after the other. */
TEST_UNUSED static struct sgc_graph shape_list(uint32_t cells, uint32_t bytes)
{
    struct shape s = shape_objects(cells, bytes, cells, 1);

    for (uint32_t i = 0; i + 1 < cells; i++)
        shape_edge(&s, i, i + 1);
    shape_root(&s, 0);
    return shape_graph(&s);
}

/* An object of `bytes`, the first, that leads to all others.  The simulator wants a large one in whole OS pages. */
TEST_UNUSED static struct sgc_graph shape_array(uint32_t bytes, uint32_t leaves, uint32_t leaf_bytes)
{
    struct shape s = shape_objects(leaves + 1, leaf_bytes, leaves, 1);

    s.bytes[0] = bytes;
    for (uint32_t i = 1; i <= leaves; i++)
        shape_edge(&s, 0, i);
    shape_root(&s, 0);
    return shape_graph(&s);
}

/* A complete tree, in breadth-first order. */
TEST_UNUSED static struct sgc_graph shape_tree(uint32_t objects, uint32_t arity, uint32_t bytes)
{
    struct shape s = shape_objects(objects, bytes, objects, 1);

    for (uint32_t i = 0; i < objects; i++)
        for (uint32_t child = i * arity + 1; child <= i * arity + arity && child < objects; child++)
            shape_edge(&s, i, child);
    shape_root(&s, 0);
    return shape_graph(&s);
}

/* Objects of several sizes, each that of a size class or large, that lead anywhere; not all can be reached. */
TEST_UNUSED static struct sgc_graph shape_random(uint32_t objects, uint32_t seed)
{
    static const uint32_t sizes[] = { 16, 32, 64, 128, 256, 21840, 131072 };
    struct shape s = shape_make(objects, (uint64_t)objects * 3, 8);
    uint32_t per_size = objects / 7 + 1;

    for (s.objects = 0; s.objects < objects; s.objects++) {
        uint32_t most = s.objects / per_size == 0 ? 2 : 3;

        s.bytes[s.objects] = sizes[s.objects / per_size] >= 21840 && s.objects % 50 != 0 ? 256 : sizes[s.objects / per_size];
        for (uint32_t e = 0; e < most; e++) {
            seed = seed * UINT32_C(1664525) + UINT32_C(1013904223);
            if (seed >> 30 != 0)
                shape_edge(&s, s.objects, (seed >> 8) % objects);
        }
    }
    while (s.roots < 8)
        s.root[s.roots] = s.roots * 977 % objects, s.roots++;
    return shape_graph(&s);
}

#endif
