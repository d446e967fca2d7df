/* SPDX-License-Identifier: MIT */
/* See bench/cases/shapes.h.  Main thread. */
#include "bench/cases/shapes.h"

#include <stdlib.h>

#include "bench/cases/case.h"

enum { LARGE_WORDS = (256 * 1024 - 16) / sizeof(void *), LARGE_STRIDE = 4 };

static const uint64_t SEED = 88172645463325252u;

static struct node *new_node(size_t number)
{
    struct node *n = obtained(GC_malloc(sizeof *n));

    n->number = number;
    return n;
}

static struct node *tree(size_t nodes)
{
    struct node *n;

    if (nodes == 0)
        return NULL;
    n = new_node(nodes);
    n->edge[0] = tree(nodes / 2);
    n->edge[1] = tree(nodes - 1 - nodes / 2);
    return n;
}

static struct node *list(size_t nodes)
{
    struct node *first = new_node(0), *last = first;

    for (size_t i = 1; i < nodes; i++) {
        last->edge[0] = new_node(i);
        last = last->edge[0];
    }
    return first;
}

static struct node **array(size_t nodes)
{
    struct node **a = obtained(GC_malloc(nodes * sizeof *a));

    for (size_t i = 0; i < nodes; i++)
        a[i] = new_node(i);
    return a;
}

static void shuffle(struct node **n, size_t nodes, uint64_t *state)
{
    for (size_t i = nodes - 1; i > 0; i--) {
        size_t j = random_below(state, i + 1);
        struct node *other = n[i];

        n[i] = n[j];
        n[j] = other;
    }
}

static struct node *graph(size_t nodes)
{
    struct node **n = obtained(malloc(nodes * sizeof *n)), *root;
    uint64_t state = SEED;

    for (size_t i = 0; i < nodes; i++)
        n[i] = new_node(i);
    shuffle(n, nodes, &state);
    for (size_t i = 0; i < nodes; i++) {
        n[i]->edge[0] = n[(i + 1) % nodes];
        for (int e = 1; e < EDGES; e++)
            n[i]->edge[e] = n[random_below(&state, nodes)];
    }
    root = n[0];
    free(n);
    return root;
}

/* The ring is the first word of each object. */
static void **large(size_t objects)
{
    void ***o = obtained(malloc(objects * sizeof *o)), **root;
    uint64_t state = SEED;

    for (size_t i = 0; i < objects; i++)
        o[i] = obtained(GC_malloc(LARGE_WORDS * sizeof(void *)));
    for (size_t i = 0; i < objects; i++) {
        for (size_t w = 0; w < LARGE_WORDS; w += LARGE_STRIDE)
            o[i][w] = o[random_below(&state, objects)];
        o[i][0] = o[(i + 1) % objects];
    }
    root = o[0];
    free(o);
    return root;
}

static size_t at_least_one(size_t n)
{
    return n > 0 ? n : 1;
}

void *build_shape(enum shape shape, size_t bytes, size_t *objects, size_t *edges)
{
    size_t nodes = at_least_one(bytes / NODE_BYTES);
    size_t in_array = at_least_one(bytes / (NODE_BYTES + sizeof(void *)));
    size_t large_objects = at_least_one(bytes / (LARGE_WORDS * sizeof(void *)));

    *objects = shape == ARRAY ? in_array + 1 : shape == LARGE ? large_objects : nodes;
    *edges = shape == GRAPH ? nodes * EDGES : shape == LARGE ? large_objects * (LARGE_WORDS / LARGE_STRIDE)
                                                             : *objects - 1;
    switch (shape) {
    case TREE:
        return tree(nodes);
    case GRAPH:
        return graph(nodes);
    case LIST:
        return list(nodes);
    case ARRAY:
        return array(in_array);
    default:
        return large(large_objects);
    }
}
