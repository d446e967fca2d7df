/* SPDX-License-Identifier: MIT */
/*
 * Random graphs in the heap of tests/lib/heap.h, and which of their nodes can be reached, found out in another way than
 * the collector's.
 */
#ifndef TESTS_LIB_RANDOM_GRAPH_H
#define TESTS_LIB_RANDOM_GRAPH_H

#include "tests/lib/heap.h"

enum { NODES = 6000, ROOTS = 12, EDGES = 3 };

static struct node {
    char *object;
    size_t words;
    uint32_t kind;
    bool uncollectable;
    int edge[EDGES];
    bool reached;
} node[NODES];

static uintptr_t roots[ROOTS];
static int root_node[ROOTS];
static uint64_t seed;

static size_t random_words(void)
{
    switch (heap_random(&seed, 20)) {
    case 0: return 3000 + heap_random(&seed, 30000);        /* spans, some longer than a piece */
    case 1: return 200 + heap_random(&seed, 2000);
    default: return EDGES + heap_random(&seed, 30);
    }
}

static void make_node(struct node *n)
{
    static const uint32_t kinds[] = { SGC_KIND_CONSERVATIVE, SGC_KIND_CONSERVATIVE, SGC_KIND_CONSERVATIVE,
                                      SGC_KIND_CONSERVATIVE, SGC_KIND_CONSERVATIVE, SGC_KIND_POINTER_FREE };

    n->words = random_words();
    n->kind = kinds[heap_random(&seed, 6)];
    n->uncollectable = heap_random(&seed, 1500) == 0;
    if (n->uncollectable)
        n->kind += n->kind == SGC_KIND_CONSERVATIVE ? 1 : 3;
    n->object = heap_alloc(sgc_self, n->words * 8, n->kind);
    if (n->object == NULL)
        tap_bail("the heap of the test is too small");
    memset(n->object, 0, n->words * 8);
    n->reached = false;
}

/* Edges anywhere in the object, to anywhere in another (when interior pointers count). */
static void make_edges(struct node *n, bool interior)
{
    for (int e = 0; e < EDGES; e++) {
        int to = (int)heap_random(&seed, NODES);
        size_t at = n->words / EDGES * (size_t)e + heap_random(&seed, (uint32_t)(n->words / EDGES));
        uintptr_t word = (uintptr_t)node[to].object;

        if (heap_random(&seed, 3) == 0) {
            n->edge[e] = -1;
            continue;
        }
        n->edge[e] = to;
        if (interior)
            word += heap_random(&seed, (uint32_t)(node[to].words * 8));
        memcpy(n->object + at * 8, &word, sizeof word);
    }
}

static void free_uncollectable(void)
{
    for (int i = 0; i < NODES; i++)
        if (node[i].uncollectable)
            sgc_object_free(sgc_self, node[i].object);
}

static void make_graph(uint64_t from, bool interior)
{
    heap_collect(NULL, 0);
    free_uncollectable();
    heap_sweep_all();
    seed = from;
    for (int i = 0; i < NODES; i++)
        make_node(&node[i]);
    for (int i = 0; i < NODES; i++)
        make_edges(&node[i], interior);
    for (int i = 0; i < ROOTS; i++) {
        root_node[i] = (int)heap_random(&seed, NODES);
        roots[i] = (uintptr_t)node[root_node[i]].object + heap_random(&seed, (uint32_t)node[root_node[i]].words * 8);
    }
}

static void reach(int first)
{
    static int todo[NODES * EDGES + NODES];
    int n = 0;

    todo[n++] = first;
    while (n > 0) {
        struct node *at = &node[todo[--n]];
        if (at->reached)
            continue;
        at->reached = true;
        for (int e = 0; e < EDGES && sgc_kind_has_pointers(at->kind); e++)
            if (at->edge[e] >= 0)
                todo[n++] = at->edge[e];
    }
}

static void reach_all(void)
{
    for (int i = 0; i < NODES; i++)
        node[i].reached = false;
    for (int i = 0; i < ROOTS; i++)
        reach(root_node[i]);
    for (int i = 0; i < NODES; i++)
        if (node[i].uncollectable)
            reach(i);
}

/* Marked but not reachable, or the other way round; counts and bytes, too. */
static int differences(size_t marked_objects, size_t marked_bytes, size_t marked_pointer_free)
{
    int wrong = 0;
    size_t objects = 0, bytes = 0, pointer_free = 0;
    struct sgc_object o;

    for (int i = 0; i < NODES; i++) {
        wrong += heap_marked(node[i].object) != node[i].reached;
        if (node[i].reached && sgc_object_slot((uintptr_t)node[i].object, &o)) {
            objects++;
            bytes += o.bytes;
            pointer_free += sgc_kind_has_pointers(o.kind) ? 0 : o.bytes;
        }
    }
    return wrong + (marked_objects != objects) + (marked_bytes != bytes) + (marked_pointer_free != pointer_free);
}

#endif
