/* SPDX-License-Identifier: MIT */
/*
 * Binary trees, on several threads at once.  Each thread does the same whole work by itself: it keeps one tree of the
 * greatest depth, and makes, counts and drops trees of each even depth from 4, of all depths the same number of nodes.
 * So with as many processors as threads, and a perfect collector, the time stays that of one thread.
 *
 *     trees [THREADS [DEPTH]]
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { LEAST_DEPTH = 4 };

struct tree {
    struct tree *left, *right;
};

static atomic_ulong lost;

static struct tree *make(long depth)
{
    struct tree *t = obtained(GC_malloc(sizeof *t));

    if (depth > 0) {
        t->left = make(depth - 1);
        t->right = make(depth - 1);
    }
    return t;
}

static size_t count(const struct tree *t)
{
    return t->left == NULL ? 1 : 1 + count(t->left) + count(t->right);
}

static size_t nodes_of(long depth)
{
    return ((size_t)2 << depth) - 1;
}

static void run(void *arg, long i)
{
    long deepest = *(long *)arg;
    struct tree *kept = make(deepest);
    size_t missing = 0;

    (void)i;
    for (long depth = LEAST_DEPTH; depth <= deepest; depth += 2)
        for (size_t n = (size_t)1 << (deepest - depth + LEAST_DEPTH); n > 0; n--)
            missing += nodes_of(depth) - count(make(depth));
    missing += nodes_of(deepest) - count(kept);
    atomic_fetch_add(&lost, missing);
}

int main(int argc, char **argv)
{
    long threads = argument(argc, argv, 1, 1, 1, 10000);
    long deepest = argument(argc, argv, 2, 16, LEAST_DEPTH, 28);
    double ns;

    case_begin();
    ns = together_ns(NULL, run, &deepest, threads);
    if (atomic_load(&lost) != 0) {
        fprintf(stderr, "trees: nodes are lost\n");
        return 1;
    }
    figure("time_ms", ns / 1e6, "ms");
    case_end();
    return 0;
}
