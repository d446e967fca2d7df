/* SPDX-License-Identifier: MIT */
/*
 * The work of GCBench, a benchmark of collectors that everybody knows, in words of our own: beside a tree and an
 * array that live long, binary trees of growing depth are made and dropped, half of them from the root down, half from
 * the leaves up; of each depth so many that each depth allocates about the same.
 *
 *     gcbench [DEPTH]      of the tree that lives long and of the deepest short-lived ones
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { LEAST_DEPTH = 4, ARRAY_NUMBERS = 500000 };

struct node {
    struct node *left, *right;
    int i, j;
};

static struct node *long_lived;
static double *numbers;

static struct node *new_node(struct node *left, struct node *right)
{
    struct node *n = obtained(GC_malloc(sizeof *n));

    n->left = left;
    n->right = right;
    return n;
}

static struct node *leaves_first(long depth)
{
    struct node *left, *right;

    if (depth == 0)
        return new_node(NULL, NULL);
    left = leaves_first(depth - 1);
    right = leaves_first(depth - 1);
    return new_node(left, right);
}

static void grow(struct node *n, long depth)
{
    if (depth == 0)
        return;
    n->left = new_node(NULL, NULL);
    n->right = new_node(NULL, NULL);
    grow(n->left, depth - 1);
    grow(n->right, depth - 1);
}

static struct node *root_first(long depth)
{
    struct node *root = new_node(NULL, NULL);

    grow(root, depth);
    return root;
}

static size_t nodes_of(long depth)
{
    return ((size_t)2 << depth) - 1;
}

static size_t count(const struct node *n)
{
    return n == NULL ? 0 : 1 + count(n->left) + count(n->right);
}

static void check(const struct node *n, long depth)
{
    size_t found = count(n);

    if (found == nodes_of(depth))
        return;
    fprintf(stderr, "gcbench: a tree of depth %ld has %zu nodes\n", depth, found);
    exit(1);
}

/* As many trees of this depth as make twice the nodes of the first, dropped tree. */
static void short_lived(long depth, long deepest)
{
    size_t trees = 2 * nodes_of(deepest + 2) / nodes_of(depth);

    for (size_t i = 0; i < trees; i++)
        check(root_first(depth), depth);
    for (size_t i = 0; i < trees; i++)
        check(leaves_first(depth), depth);
}

int main(int argc, char **argv)
{
    long deepest = argument(argc, argv, 1, 16, LEAST_DEPTH, 28);
    uint64_t began;

    case_begin();
    began = now_ns();
    check(leaves_first(deepest + 2), deepest + 2);
    long_lived = root_first(deepest);
    numbers = obtained(GC_malloc_atomic(ARRAY_NUMBERS * sizeof *numbers));
    for (long i = 0; i < ARRAY_NUMBERS; i++)
        numbers[i] = 1.0 / (double)(i + 1);
    for (long depth = LEAST_DEPTH; depth <= deepest; depth += 2)
        short_lived(depth, deepest);
    check(long_lived, deepest);
    figure("time_ms", (double)(now_ns() - began) / 1e6, "ms");
    figure("array_end", numbers[ARRAY_NUMBERS - 1] * ARRAY_NUMBERS, "number");
    case_end();
    return 0;
}
