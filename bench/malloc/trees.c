/* SPDX-License-Identifier: MIT */
/*
 * Binary trees of 16-byte nodes, freed node by node, on several threads at once.  Each thread does
 * the same whole work: it keeps one tree of the greatest depth, and makes and frees trees of each
 * even depth from 4, of all depths the same number of nodes, which it counts.
 *
 *     trees [THREADS [DEPTH]]
 */
#include "bench/malloc/client.h"
#include "bench/measure.h"

enum { LEAST_DEPTH = 4 };

struct tree {
    struct tree *left, *right;
};

static struct tree *make(long depth)
{
    struct tree *t = malloc(sizeof *t);

    if (t == NULL)
        client_no_memory(sizeof *t);
    *t = (struct tree){ NULL, NULL };
    if (depth > 0) {
        t->left = make(depth - 1);
        t->right = make(depth - 1);
    }
    return t;
}

/* How many nodes there were. */
static size_t destroy(struct tree *t)
{
    size_t nodes = 1;

    if (t->left != NULL)
        nodes += destroy(t->left) + destroy(t->right);
    free(t);
    return nodes;
}

static size_t nodes_of(long depth)
{
    return ((size_t)2 << depth) - 1;
}

static void check(size_t nodes, long depth)
{
    if (nodes != nodes_of(depth))
        client_wrong("a tree does not have all of its nodes");
}

static uint64_t work(void *arg, long i)
{
    long deepest = *(const long *)arg;
    struct tree *kept = make(deepest);
    size_t nodes = nodes_of(deepest);

    (void)i;
    for (long depth = LEAST_DEPTH; depth <= deepest; depth += 2)
        for (size_t n = (size_t)1 << (deepest - depth + LEAST_DEPTH); n > 0; n--) {
            check(destroy(make(depth)), depth);
            nodes += nodes_of(depth);
        }
    check(destroy(kept), deepest);
    return nodes;
}

int main(int argc, char **argv)
{
    long threads = argument(argc, argv, 1, 1, 1, CLIENT_THREADS_MAX);
    long deepest = argument(argc, argv, 2, 16, LEAST_DEPTH, 26);
    struct client_run run;

    client_begin();
    run = client_together(work, &deepest, threads);
    return client_end(run, (double)run.result / (double)threads);
}
