/* SPDX-License-Identifier: MIT */
/*
 * How long a program that allocates all the time is kept waiting: by stops, by its own slow paths, by faults.  So many
 * megabytes live in a tree; the program makes small objects, keeps some in a window, and now and then stores one into an old
 * node.  After each few of these it looks at the clock; what took longer than the least worth counting is a gap.
 *
 * "control" does the same with memory of malloc and no collector: what the system takes.
 *
 *     latency [MEGABYTES [MILLIONS-OF-OBJECTS [gc|control]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum {
    NODE = 64,
    WINDOW = 4096,              /* of the new objects, so many are reachable */
    AT_ONCE = 16,               /* objects between two looks at the clock */
    STORE_EVERY = 32,           /* looks between two stores into old nodes */
    LEAST_NS = 20000,           /* a shorter gap is none */
    MOST_GAPS = 4 << 20,
};

struct node {
    struct node *left, *right;
    void *extra;
    char rest[NODE - 3 * sizeof(void *)];
};

static struct node **old;       /* some of the tree's nodes, an object itself */
static size_t old_count;
static void *window[WINDOW];
static double *gap;             /* of malloc: no root */
static size_t gaps;
static uint64_t state = 88172645463325252u;
static int with_gc;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void *make(size_t bytes)
{
    return with_gc ? GC_malloc(bytes) : calloc(1, bytes);
}

/* A tree of so many nodes, balanced; every 64th is among the old ones. */
static struct node *build(size_t count, size_t *made)
{
    struct node *n;

    if (count == 0)
        return NULL;
    n = obtained(make(sizeof *n));
    if ((*made)++ % 64 == 0)
        old[old_count++] = n;
    n->left = build((count - 1) / 2, made);
    n->right = build(count - 1 - (count - 1) / 2, made);
    return n;
}

static void work(size_t look)
{
    for (int i = 0; i < AT_ONCE; i++) {
        size_t at = random_number() % WINDOW;

        if (!with_gc)
            free(window[at]);
        window[at] = make(NODE);
    }
    if (look % STORE_EVERY == 0)
        old[random_number() % old_count]->extra = with_gc ? window[random_number() % WINDOW] : NULL;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(double seconds, size_t looks)
{
    qsort(gap, gaps, sizeof *gap, ascending);
    figure("gaps", (double)gaps, "number");
    figure("gap_median_ms", gaps != 0 ? gap[gaps / 2] : 0, "ms");
    figure("gap_p99_ms", gaps != 0 ? gap[gaps - 1 - gaps / 100] : 0, "ms");
    figure("gap_p999_ms", gaps != 0 ? gap[gaps - 1 - gaps / 1000] : 0, "ms");
    figure("gap_longest_ms", gaps != 0 ? gap[gaps - 1] : 0, "ms");
    figure("ns_per_object", seconds * 1e9 / ((double)looks * AT_ONCE), "ns");
}

int main(int argc, char **argv)
{
    size_t nodes = (size_t)argument(argc, argv, 1, 128, 1, 1 << 20) * ((1 << 20) / NODE), made = 0, looks = 0;
    size_t most = (size_t)argument(argc, argv, 2, 60, 1, 1000000) * 1000000 / AT_ONCE;
    uint64_t began, last;
    static struct node *volatile root;

    with_gc = choice(argc, argv, 3, "gc|control") == 0;
    if (with_gc)
        case_begin();
    gap = obtained(malloc(MOST_GAPS * sizeof *gap));
    old = obtained(make((nodes / 64 + 1) * sizeof *old));
    root = build(nodes, &made);
    began = last = now_ns();
    while (looks < most) {
        uint64_t now;

        work(looks++);
        now = now_ns();
        if (now - last >= LEAST_NS && gaps < MOST_GAPS)
            gap[gaps++] = (double)(now - last) / 1e6;
        last = now;
    }
    report((double)(last - began) / 1e9, looks);
    if (with_gc)
        case_end();
    return root == NULL;
}
