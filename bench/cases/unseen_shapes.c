/* SPDX-License-Identifier: MIT */
/* See bench/cases/unseen_shapes.h.  Main thread. */
#include "bench/cases/unseen_shapes.h"

#include <stdlib.h>

#include "bench/cases/case.h"

static const uint64_t SEED = 88172645463325252u;

static void *new_object(struct tally *t, size_t bytes, int kind)
{
    t->objects++;
    return obtained(allocate(bytes, kind));
}

/* A pointer in a word of an object, counted. */
static void lead(struct tally *t, void **from, void *to)
{
    *from = to;
    t->edges++;
}

static size_t at_least(size_t least, size_t n)
{
    return n > least ? n : least;
}

static void **new_array(struct tally *t, size_t words)
{
    return new_object(t, words * sizeof(void *), CONSERVATIVE);
}

/* ---- a hash table ---- */

enum { ENTRY = 24, KEY_LEAST = 16, KEY_SPREAD = 48, ENTRIES_A_BUCKET = 4, ENTRY_BYTES = 86 };

/* The bucket is the cube of what is uniform: the first chains are long. */
static size_t skewed_below(uint64_t *state, size_t bound)
{
    double u = (double)random_below(state, 1 << 30) / (1 << 30);

    return (size_t)(u * u * u * (double)bound);
}

static void *chains(struct tally *t, size_t bytes)
{
    size_t entries = at_least(ENTRIES_A_BUCKET, bytes / ENTRY_BYTES), buckets = entries / ENTRIES_A_BUCKET;
    void **table = new_array(t, buckets);
    uint64_t state = SEED;

    for (size_t i = 0; i < entries; i++) {
        void **entry = new_object(t, ENTRY, CONSERVATIVE), **bucket = &table[skewed_below(&state, buckets)];

        lead(t, &entry[1], new_object(t, KEY_LEAST + random_below(&state, KEY_SPREAD), POINTER_FREE));
        if (*bucket != NULL)
            lead(t, &entry[0], *bucket);
        else
            t->edges++;         /* the table's own, which the next entry of the bucket changes only */
        *bucket = entry;
    }
    return table;
}

/* ---- a trie ---- */

enum { LETTERS = 30, KEY_LETTERS = 12, TRIE_NODE = (LETTERS + 1) * sizeof(void *), TRIE_BYTES = TRIE_NODE + 8 };

/* The less of two: low letters are more frequent. */
static size_t letter(uint64_t *state)
{
    size_t a = random_below(state, LETTERS), b = random_below(state, LETTERS);

    return a < b ? a : b;
}

static void *trie(struct tally *t, size_t bytes)
{
    size_t nodes = at_least(KEY_LETTERS, bytes / TRIE_BYTES);
    void **root = new_object(t, TRIE_NODE, CONSERVATIVE);
    uint64_t state = SEED;

    while (t->objects < nodes) {
        void **node = root;

        for (int i = 0; i < KEY_LETTERS; i++) {
            void **place = &node[letter(&state)];

            if (*place == NULL)
                lead(t, place, new_object(t, TRIE_NODE, CONSERVATIVE));
            node = *place;
        }
    }
    return root;
}

/* ---- a rope ---- */

enum { STRANDS = 512, BACK = 16, ROPE_NODE = 24, TEXT_LEAST = 32, TEXT_SPREAD = 64, TEXT_ONE_IN = 4, ROPE_BYTES = 50 };

/* Another strand's node, up to BACK steps nearer to the beginning; or a text. */
static void *other_part(struct tally *t, void **nodes, size_t step, uint64_t *state)
{
    size_t least = step > BACK ? step - BACK : 0;

    if (step == 0 || random_below(state, TEXT_ONE_IN) == 0)
        return new_object(t, TEXT_LEAST + random_below(state, TEXT_SPREAD), POINTER_FREE);
    return nodes[(least + random_below(state, step - least)) * STRANDS + random_below(state, STRANDS)];
}

static void *rope(struct tally *t, size_t bytes)
{
    size_t steps = at_least(1, bytes / ROPE_BYTES / STRANDS);
    void **nodes = obtained(malloc(steps * STRANDS * sizeof *nodes)), **ends = new_array(t, STRANDS);
    uint64_t state = SEED;

    for (size_t i = 0; i < steps * STRANDS; i++) {
        void **node = new_object(t, ROPE_NODE, CONSERVATIVE);

        if (i >= STRANDS)
            lead(t, &node[0], nodes[i - STRANDS]);
        lead(t, &node[1], other_part(t, nodes, i / STRANDS, &state));
        nodes[i] = node;
    }
    for (size_t i = 0; i < STRANDS; i++)
        lead(t, &ends[i], nodes[(steps - 1) * STRANDS + i]);
    free(nodes);
    return ends;
}

/* ---- a matrix ---- */

enum { ROW_MOST = 16, CELL = 8, ROW_BYTES = 8 + 80 + 136 };

static size_t *random_order(size_t n, uint64_t *state)
{
    size_t *order = obtained(malloc(n * sizeof *order));

    for (size_t i = 0; i < n; i++) {
        size_t j = random_below(state, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static void *sparse(struct tally *t, size_t bytes)
{
    size_t rows = at_least(1, bytes / ROW_BYTES);
    uint64_t state = SEED;
    size_t *order = random_order(rows, &state);
    void **matrix = new_array(t, rows);

    for (size_t i = 0; i < rows; i++) {
        size_t cells = 1 + random_below(&state, ROW_MOST);
        void **row = new_array(t, cells);

        lead(t, &matrix[order[i]], row);
        for (size_t c = 0; c < cells; c++)
            lead(t, &row[c], new_object(t, CELL, POINTER_FREE));
    }
    free(order);
    return matrix;
}

/* ---- a web ---- */

enum { WEB_NODE = 16, LINKS = 3, WEB_BYTES = 32 + 16 + 2 * LINKS * 8 };

/* Ends of all links, the two of a link side by side; how many each node has.  A new node's link leads to the end of an earlier
 * link, so who has many gets more. */
static size_t *link_nodes(size_t nodes, size_t links, size_t *degree)
{
    size_t *ends = obtained(malloc(2 * links * sizeof *ends));
    uint64_t state = SEED;

    for (size_t i = 0; i < links; i++) {
        size_t node = 1 + i / LINKS;

        ends[2 * i] = node;
        ends[2 * i + 1] = i < LINKS ? 0 : ends[random_below(&state, 2 * (node - 1) * LINKS)];
    }
    for (size_t i = 0; i < nodes; i++)
        degree[i] = 0;
    for (size_t i = 0; i < 2 * links; i++)
        degree[ends[i]]++;
    return ends;
}

static void *web(struct tally *t, size_t bytes)
{
    size_t n = at_least(2, bytes / WEB_BYTES), links = (n - 1) * LINKS;
    size_t *degree = obtained(malloc(n * sizeof *degree)), *ends = link_nodes(n, links, degree);
    void ***nodes = obtained(malloc(n * sizeof *nodes)), *root;

    for (size_t i = 0; i < n; i++) {
        nodes[i] = new_object(t, WEB_NODE, CONSERVATIVE);
        lead(t, nodes[i], new_array(t, degree[i]));
    }
    for (size_t i = 0; i < 2 * links; i++) {
        void **neighbours = nodes[ends[i]][0];

        lead(t, &neighbours[--degree[ends[i]]], nodes[ends[i ^ 1]]);
    }
    root = nodes[0];
    free(nodes);
    free(ends);
    free(degree);
    return root;
}

void *build_unseen(enum unseen shape, size_t bytes, struct tally *tally)
{
    static void *(*const build[])(struct tally *, size_t) = { chains, trie, rope, sparse, web };

    *tally = (struct tally){ 0, 0 };
    return build[shape](tally, bytes);
}
