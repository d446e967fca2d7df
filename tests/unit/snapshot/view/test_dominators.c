/* SPDX-License-Identifier: MIT */
/*
 * snapshot/view/dominators.c: the dominators of small random graphs are what is found by removing each node, with roots of all
 * kinds; those of large ones of simple shapes are what they must be, without a deep stack.
 */
#include "snapshot/view/view.h"

#include <string.h>

#include "tests/lib/random.h"
#include "tests/lib/shapes.h"

enum { GRAPHS = 20000, OBJECTS = 10, RANGES = 5, NODES = OBJECTS + RANGES + 1 };

static uint64_t seed = 4711;

/* ---- graphs ---- */

/* The root words are put into ranges of these kinds, in ascending order. */
static const uint32_t kinds_of_roots[] = {
    SGC_GRAPH_STATIC, SGC_GRAPH_STATIC, SGC_GRAPH_STACK, SGC_GRAPH_UNCOLLECTABLE, SGC_GRAPH_FINALIZER, SGC_GRAPH_DISCLAIM,
};

static void divide_roots(struct sgc_graph *g)
{
    uint32_t ranges = 1 + random_below(&seed, RANGES), kind = 0;

    free(g->range);
    g->range = calloc(ranges + 1, sizeof *g->range);
    if (g->range == NULL)
        tap_bail("no memory for ranges");
    for (uint32_t i = 0; i < ranges; i++) {
        kind = kind < 6 ? kind + random_below(&seed, 6 - kind) : kind;
        g->range[i] = (struct sgc_graph_range){ .lo = 4096 * (i + 1), .root = kinds_of_roots[kind], .thread = i,
                                                .first_root = g->roots * i / ranges };
    }
    g->range[ranges].first_root = g->roots;
    g->ranges = ranges;
    for (uint32_t i = 0; i < ranges; i++)
        for (uint64_t r = g->range[i].first_root; r < g->range[i + 1].first_root; r++)
            g->root[r].range = i;
    g->kind[1].keeps_contents = random_below(&seed, 2) != 0;
}

static struct sgc_graph random_graph(void)
{
    uint32_t objects = 1 + random_below(&seed, OBJECTS), edges = random_below(&seed, 3 * objects);
    struct shape s = shape_objects(objects, 64, edges + 1, RANGES + 2);
    struct sgc_graph g;

    for (uint32_t i = 0, e = 0; i < objects; i++)
        for (uint32_t own = 0; own < 8 && e < edges && (random_below(&seed, 3) != 0); own++, e++)
            shape_edge(&s, i, random_below(&seed, objects));
    for (uint32_t i = 1 + random_below(&seed, RANGES + 1); i > 0; i--)
        shape_root(&s, random_below(&seed, objects));
    g = shape_graph(&s);
    divide_roots(&g);
    return g;
}

/* ---- by removing nodes ---- */

/* Pointers between nodes, the virtual root's included. */
static bool leads[NODES][NODES];
static uint32_t nodes;

static void reach_from(uint32_t node, uint32_t without, bool reached[NODES])
{
    if (node == without || reached[node])
        return;
    reached[node] = true;
    for (uint32_t to = 0; to < nodes; to++)
        if (leads[node][to])
            reach_from(to, without, reached);
}

static void reach(uint32_t without, bool reached[NODES])
{
    memset(reached, 0, NODES * sizeof reached[0]);
    reach_from(nodes - 1, without, reached);
}

static enum sgc_roots_level level_of(uint32_t kind)
{
    return kind >= SGC_GRAPH_FINALIZER ? SGC_ROOTS_LATE : kind == SGC_GRAPH_STACK ? SGC_ROOTS_STACKS : SGC_ROOTS_LASTING;
}

/* The roots of a level lead only to what those before have not reached. */
static void add_roots(const struct sgc_view *v, enum sgc_roots_level level, const bool reached[NODES])
{
    for (uint64_t r = 0; r < v->g->roots; r++) {
        uint32_t to = v->g->root[r].target, kind = v->g->range[v->g->root[r].range].root;

        if (level_of(kind) == level && !reached[to])
            leads[v->g->objects + v->roots.of[r]][to] = true;
    }
}

/* What only a disclaim procedure is asked about leads nowhere; what leads there counts all the same. */
static void remove_lonely(const struct sgc_view *v)
{
    bool with[NODES];
    bool kept[NODES][NODES];

    memcpy(kept, leads, sizeof kept);
    for (uint64_t r = 0; r < v->g->roots; r++)
        if (sgc_graph_keeps_itself_only(v->g, v->g->range[v->g->root[r].range].root, v->g->root[r].target))
            leads[v->g->objects + v->roots.of[r]][v->g->root[r].target] = false;
    reach(SGC_GRAPH_NONE, with);
    memcpy(leads, kept, sizeof leads);
    for (uint32_t i = 0; i < v->g->objects; i++)
        if (!with[i])
            memset(leads[i], 0, sizeof leads[i]);
}

static void write_pointers(const struct sgc_view *v)
{
    bool reached[NODES] = { false };

    nodes = v->d.nodes;
    memset(leads, 0, sizeof leads);
    for (uint32_t i = 0; i < v->g->objects; i++)
        for (uint64_t e = v->g->object[i].first_edge; e < v->g->object[i + 1].first_edge; e++)
            leads[i][v->g->edge[e].target] = true;
    for (uint32_t root = 0; root < v->roots.count; root++)
        leads[nodes - 1][v->g->objects + root] = true;
    for (int level = 0; level < SGC_ROOTS_LEVELS; level++) {
        add_roots(v, (enum sgc_roots_level)level, reached);
        reach(SGC_GRAPH_NONE, reached);
    }
    remove_lonely(v);
}

/* Is the second one dominated by the first one? */
static bool dominates(const struct sgc_dominators *d, uint32_t node, uint32_t other)
{
    while (other != node && other != SGC_GRAPH_NONE)
        other = d->of[other];
    return other == node;
}

static bool node_is_right(const struct sgc_view *v, uint32_t node, const bool all[NODES])
{
    bool rest[NODES];
    uint64_t bytes = 0;
    uint32_t objects = 0;

    reach(node, rest);
    for (uint32_t i = 0; i < nodes; i++) {
        if (all[i] && dominates(&v->d, node, i) != !rest[i])
            return false;
        if (all[i] && !rest[i] && i < v->g->objects) {
            bytes += sgc_graph_bytes(v->g, i);
            objects++;
        }
    }
    return !all[node] || (v->d.retained[node] == bytes && v->d.count[node] == objects);
}

static bool is_right(const struct sgc_graph *g)
{
    struct sgc_view v;
    bool all[NODES], right = sgc_view_make(&v, g, NULL);

    if (right) {
        write_pointers(&v);
        reach(SGC_GRAPH_NONE, all);
    }
    for (uint32_t i = 0; right && i < nodes; i++)
        right = all[i] == sgc_dominators_reached(&v.d, i) && node_is_right(&v, i, all);
    sgc_view_release(&v);
    return right;
}

static void test_random(void)
{
    uint32_t wrong = 0;

    for (int i = 0; i < GRAPHS; i++) {
        struct sgc_graph g = random_graph();

        wrong += !is_right(&g);
        sgc_graph_release(&g);
    }
    tap_ok(wrong == 0, "in %d random graphs dominators, and what they retain, are as if each node were removed (%u wrong)",
           GRAPHS, wrong);
}

/* ---- totals ---- */

/* What the virtual root's children retain is what is reachable. */
static bool adds_up(const struct sgc_view *v)
{
    struct sgc_graph_reach reached;
    uint64_t bytes = 0, objects = 0;
    bool right = sgc_graph_reach(v->g, SGC_GRAPH_ALL_ROOTS, &reached);

    for (uint32_t child = v->d.child[v->d.nodes - 1]; child != SGC_GRAPH_NONE; child = v->d.sibling[child]) {
        bytes += v->d.retained[child];
        objects += v->d.count[child];
    }
    right = right && bytes == reached.bytes && objects == reached.objects && v->d.retained[v->d.nodes - 1] == bytes;
    sgc_graph_reach_release(&reached);
    return right;
}

static void test_shape(struct sgc_graph g, const char *name, bool (*more)(const struct sgc_view *v))
{
    struct sgc_view v;
    bool made = sgc_view_make(&v, &g, NULL);

    tap_ok(made && adds_up(&v) && (more == NULL || more(&v)), "%s", name);
    sgc_view_release(&v);
    sgc_graph_release(&g);
}

static bool is_list(const struct sgc_view *v)
{
    for (uint32_t i = 0; i < v->g->objects; i++)
        if (v->d.of[i] != (i == 0 ? v->g->objects : i - 1) || v->d.count[i] != v->g->objects - i)
            return false;
    return true;
}

static bool is_tree(const struct sgc_view *v)
{
    for (uint32_t i = 1; i < v->g->objects; i++)
        if (v->d.of[i] != (i - 1) / 3)
            return false;
    return v->d.retained[0] == v->g->bytes;
}

/* A list whose every cell leads to the first one, too, and to the last: paths are compressed. */
static struct sgc_graph list_with_ways_back(uint32_t cells)
{
    struct shape s = shape_objects(cells, 64, 3 * (uint64_t)cells, 1);

    for (uint32_t i = 0; i < cells; i++) {
        if (i + 1 < cells)
            shape_edge(&s, i, i + 1);
        shape_edge(&s, i, 0);
        shape_edge(&s, i, i / 2);
    }
    shape_root(&s, 0);
    return shape_graph(&s);
}

/* From the last cell's end ways lead into the middle of a list. */
static struct sgc_graph list_with_shortcuts(uint32_t cells)
{
    struct shape s = shape_objects(cells, 64, 2 * (uint64_t)cells, 1);

    for (uint32_t i = 0; i < cells; i++) {
        if (i + 1 < cells)
            shape_edge(&s, i, i + 1);
        if (i + 2 < cells)
            shape_edge(&s, i, i + 2);
    }
    shape_root(&s, 0);
    return shape_graph(&s);
}

static bool is_flat(const struct sgc_view *v)
{
    for (uint32_t i = 2; i < v->g->objects; i++)
        if (v->d.of[i] != (i == 2 ? 0 : v->d.of[i - 1]))
            return false;
    return true;
}

int main(void)
{
    test_random();
    test_shape(shape_list(1000000, 32), "a long list: each cell keeps all behind it", is_list);
    test_shape(shape_tree(300000, 3, 64), "a tree: each node keeps what is below it", is_tree);
    test_shape(list_with_ways_back(300000), "ways back change nothing", is_list);
    test_shape(list_with_shortcuts(300000), "where each cell can be passed by, the first one keeps all", is_flat);
    test_shape(shape_random(50000, 1), "of a random graph all adds up", NULL);
    test_shape(shape_random(1, 1), "and of a graph of one object", NULL);
    return tap_done();
}
