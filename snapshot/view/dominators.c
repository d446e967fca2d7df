/* SPDX-License-Identifier: MIT */
/*
 * See snapshot/view/dominators.h.  Semi-NCA: L. Georgiadis, R. E. Tarjan, R. F. Werneck, "Finding
 * dominators in practice", Journal of Graph Algorithms and Applications 10 (2006).
 *
 * A search in depth numbers the nodes.  The semidominator of a node is the lowest number from which
 * a way leads to it over nodes with higher numbers only; nodes are done from the highest number to
 * the lowest, and their parents become a forest of those that are done, whose paths are compressed.
 * Then from the lowest number on, a node's dominator is the first above it in the tree so far whose
 * number is not above its semidominator.
 */
#include "snapshot/view/dominators.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Of a node, by its number; the members are numbers. */
struct found {
    uint32_t parent;                    /* in the search in depth; then in the forest */
    uint32_t semi;                      /* in that search how many pointers of the node are done */
    uint32_t label;                     /* in the forest, of those above that are done, the one with
                                         * the lowest semidominator; before the node is done where
                                         * the pointers to it end in before[] */
    uint32_t dominator;
};

struct work {
    const struct sgc_graph *g;
    const struct sgc_roots *roots;
    struct sgc_dominators *d;
    uint32_t n;                         /* nodes that were reached */
    uint32_t *order, *number;           /* nodes by number, and back; SGC_GRAPH_NONE: not reached */
    struct found *found;
    uint32_t *before;                   /* numbers of nodes that lead to node 0, 1 ... */
    uint32_t begin[SGC_ROOTS_LEVELS];   /* the numbers of the first roots of levels, or of later
                                         * ones */
    uint32_t lonely;                    /* the first number of objects that are kept by themselves:
                                         * they come last */
};

/* Memory is read in no order: what comes soon is asked for ahead. */
enum { AHEAD = 16, AHEAD_EDGES = 8 };

/* ---- the search in depth ---- */

/* The node to which the i-th pointer of the node leads; SGC_GRAPH_NONE: it has no more. */
static inline uint32_t target(const struct work *w, uint32_t node, uint32_t i)
{
    uint32_t objects = w->g->objects, root = node - objects;

    sgc_assert(node < w->d->nodes);
    if (node < objects)
        return w->g->object[node].first_edge + i < w->g->object[node + 1].first_edge
               ? w->g->edge[w->g->object[node].first_edge + i].target : SGC_GRAPH_NONE;
    if (root == w->roots->count)
        return i < root ? objects + i : SGC_GRAPH_NONE;
    return w->roots->first[root] + i < w->roots->first[root + 1]
           ? w->g->root[w->roots->word[w->roots->first[root] + i]].target : SGC_GRAPH_NONE;
}

/* Asks for the numbers of what an object leads to, and for where its pointers are. */
static inline void prefetch_targets(const struct work *w, uint32_t node)
{
    if (node >= w->g->objects)
        return;
    for (uint32_t i = 0; i < AHEAD_EDGES; i++) {
        uint32_t next = target(w, node, i);

        if (next == SGC_GRAPH_NONE)
            break;
        __builtin_prefetch(&w->number[next]);
        __builtin_prefetch(&w->g->object[next]);
    }
}

static uint32_t add_node(struct work *w, uint32_t node, uint32_t parent)
{
    uint32_t k = w->n++;

    sgc_assert(k < w->d->nodes && w->number[node] == SGC_GRAPH_NONE);
    w->order[k] = node;
    w->number[node] = k;
    w->found[k] = (struct found){ .parent = parent, .dominator = parent };
    for (int level = 1; node >= w->g->objects && node != sgc_dominators_top(w->d) && level < SGC_ROOTS_LEVELS; level++)
        if (w->begin[level] == SGC_GRAPH_NONE && node - w->g->objects >= w->roots->begin[level])
            w->begin[level] = k;
    prefetch_targets(w, node);
    return k;
}

/* Leads the pointer, of a root that is the last, only to an object by itself? */
static bool leads_no_further(const struct work *w, uint32_t node, uint32_t i)
{
    uint32_t root = node - w->g->objects;

    if (node < w->g->objects || root < w->roots->begin[SGC_ROOTS_LATE] || root == w->roots->count)
        return false;
    const struct sgc_graph_root_word *word = &w->g->root[w->roots->word[w->roots->first[root] + i]];

    sgc_assert(w->roots->first[root] + i < w->roots->first[root + 1]);
    return sgc_graph_keeps_itself_only(w->g, w->g->range[word->range].root, word->target);
}

/* Is the pointer of number `from` to `to` more than the first way there?  Those of roots lead only
 * to what roots of earlier levels have not reached. */
static inline bool counts(const struct work *w, uint32_t from, uint32_t to)
{
    uint32_t root = w->order[from] - w->g->objects;

    sgc_assert(to < w->n && from != 0);
    return from != to && w->found[to].parent != from &&
           (w->order[from] < w->g->objects || to > w->begin[sgc_roots_level_of(w->roots, root)]);
}

/* Labels count the pointers to a node that count: each pointer is seen once. */
static void number_nodes(struct work *w)
{
    uint32_t at = add_node(w, sgc_dominators_top(w->d), 0);

    for (;;) {
        uint32_t i = w->found[at].semi++, next = target(w, w->order[at], i), k;

        if (next == SGC_GRAPH_NONE) {
            if (at == 0)
                break;
            at = w->found[at].parent;
        } else if (w->number[next] == SGC_GRAPH_NONE) {
            k = add_node(w, next, at);
            if (!leads_no_further(w, w->order[at], i))
                at = k;
            else if (w->lonely == SGC_GRAPH_NONE)
                w->lonely = k;
        } else if (at != 0) {
            w->found[w->number[next]].label += counts(w, at, w->number[next]);
        }
    }
    sgc_assert(w->lonely == SGC_GRAPH_NONE || w->lonely > w->begin[SGC_ROOTS_LATE]);
}

/* ---- pointers backward ---- */

/* Of the nodes that come soon: first their edges, then what these lead to. */
static inline void prefetch_pointers(const struct work *w, uint32_t k)
{
    if (k + 2 * AHEAD >= w->n)
        return;
    if (w->order[k + 2 * AHEAD] < w->g->objects)
        __builtin_prefetch(&w->g->object[w->order[k + 2 * AHEAD]]);
    if (w->order[k + AHEAD] < w->g->objects)
        __builtin_prefetch(&w->g->edge[w->g->object[w->order[k + AHEAD]].first_edge]);
    prefetch_targets(w, w->order[k + AHEAD / 2]);
}

/* Writes each pointer that counts to before[]. */
static void write_pointers(struct work *w)
{
    for (uint32_t k = 1; k < w->n && k < w->lonely; k++) {
        prefetch_pointers(w, k);
        for (uint32_t i = 0, next = target(w, w->order[k], 0); next != SGC_GRAPH_NONE; next = target(w, w->order[k], ++i)) {
            uint32_t to = w->number[next];

            sgc_assert(to != SGC_GRAPH_NONE);
            if (counts(w, k, to))
                w->before[w->found[to].label++] = k;
        }
    }
}

static bool turn_pointers(struct work *w)
{
    uint32_t all = 0;

    for (uint32_t k = 0; k < w->n; k++) {
        uint32_t count = w->found[k].label;

        w->found[k].label = all;
        all += count;
    }
    w->before = malloc(((size_t)all + 1) * sizeof *w->before);
    if (w->before == NULL)
        return false;
    write_pointers(w);
    sgc_assert(w->found[w->n - 1].label == all);
    free(w->number);
    w->number = NULL;
    return true;
}

/* ---- semi-NCA ---- */

/*
 * The lowest semidominator of the nodes on the path up from k that are done, that is, `done` and
 * above.  Then all of them lead to the path's end at once.  On the way up the links are turned
 * round, so that the way back needs no memory.
 */
static uint32_t lowest_above(struct found *found, uint32_t k, uint32_t done)
{
    uint32_t at = k, below = SGC_GRAPH_NONE, end;

    while (found[at].parent >= done) {
        uint32_t up = found[at].parent;

        found[at].parent = below;
        below = at;
        at = up;
    }
    end = found[at].parent;
    while (below != SGC_GRAPH_NONE) {
        uint32_t next = found[below].parent;

        sgc_assert(at < below);
        if (found[found[at].label].semi < found[found[below].label].semi)
            found[below].label = found[at].label;
        found[below].parent = end;
        at = below;
        below = next;
    }
    return found[found[k].label].semi;
}

static void find_semidominators(struct work *w)
{
    struct found *found = w->found;

    for (uint32_t k = w->n - 1; k > 0; k--) {
        uint32_t semi = found[k].parent, begin = found[k - 1].label;

        for (uint32_t i = found[k].label; i > begin; i--) {
            uint32_t from = w->before[i - 1], low = from <= k ? from : lowest_above(found, from, k + 1);

            if (i > AHEAD)
                __builtin_prefetch(&found[w->before[i - AHEAD]], 1);
            semi = low < semi ? low : semi;
        }
        sgc_assert(semi < k);
        found[k].semi = semi;
        found[k].label = k;
    }
}

static void find_dominators(struct work *w)
{
    for (uint32_t k = 1; k < w->n; k++) {
        uint32_t up = w->found[k].dominator;

        while (up > w->found[k].semi)
            up = w->found[up].dominator;
        sgc_assert(up < k);
        w->found[k].dominator = up;
    }
}

/* ---- by nodes ---- */

static bool obtain_result(struct sgc_dominators *d)
{
    size_t bytes = (size_t)d->nodes * sizeof *d->of, bits = ((size_t)d->objects / 64 + 1) * sizeof *d->alone;

    d->of = malloc(bytes);
    d->child = malloc(bytes);
    d->sibling = malloc(bytes);
    d->alone = calloc(1, bits);
    for (int level = 1; level < SGC_ROOTS_LEVELS; level++)
        if ((d->beyond[level] = calloc(1, bits)) == NULL)
            return false;
    if (d->of == NULL || d->child == NULL || d->sibling == NULL || d->alone == NULL)
        return false;
    memset(d->of, 0xff, bytes);
    memset(d->child, 0xff, bytes);
    memset(d->sibling, 0xff, bytes);
    return true;
}

/* The children of a node are in the order of their numbers. */
static bool hand_over(struct work *w)
{
    struct sgc_dominators *d = w->d;

    free(w->before);
    w->before = NULL;
    if (!obtain_result(d))
        return false;
    for (uint32_t k = w->n - 1; k > 0; k--) {
        uint32_t node = w->order[k], up = w->order[w->found[k].dominator];

        if (k > AHEAD)
            __builtin_prefetch(&d->child[w->order[w->found[k - AHEAD].dominator]], 1);
        d->of[node] = up;
        d->sibling[node] = d->child[up];
        d->child[up] = node;
    }
    free(w->found);
    w->found = NULL;
    d->count = calloc(d->nodes, sizeof *d->count);
    d->retained = calloc(d->nodes, sizeof *d->retained);
    return d->count != NULL && d->retained != NULL;
}

/* A dominator has a lower number than what it dominates. */
static void add_up(struct work *w)
{
    struct sgc_dominators *d = w->d;

    for (uint32_t k = w->n - 1; k > 0; k--) {
        uint32_t node = w->order[k];

        if (node < w->g->objects) {
            d->count[node]++;
            d->retained[node] += sgc_graph_bytes(w->g, node);
            for (int level = 1; level < SGC_ROOTS_LEVELS; level++)
                d->beyond[level][node / 64] |= (uint64_t)(k >= w->begin[level]) << node % 64;
            d->alone[node / 64] |= (uint64_t)(k >= w->lonely) << node % 64;
        }
        d->count[d->of[node]] += d->count[node];
        d->retained[d->of[node]] += d->retained[node];
    }
    sgc_assert(d->count[sgc_dominators_top(d)] <= d->objects);
}

/* For free().  In pages of 2 MB, if there are such: it is read in no order. */
static void *obtain(size_t bytes)
{
    enum { HUGE_PAGE = 1 << 21 };
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = bytes < HUGE_PAGE ? malloc(bytes) : aligned_alloc(HUGE_PAGE, whole);

    sgc_assert(bytes != 0);
    if (memory != NULL && bytes >= HUGE_PAGE)
        madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}

static bool get_memory(struct work *w)
{
    size_t nodes = w->d->nodes;

    w->order = obtain(nodes * sizeof *w->order);
    w->number = obtain(nodes * sizeof *w->number);
    w->found = obtain(nodes * sizeof *w->found);
    if (w->number != NULL)
        memset(w->number, 0xff, nodes * sizeof *w->number);
    return w->order != NULL && w->number != NULL && w->found != NULL;
}

bool sgc_dominators_find(struct sgc_dominators *d, const struct sgc_graph *g, const struct sgc_roots *roots)
{
    struct work w = { .g = g, .roots = roots, .d = d, .lonely = SGC_GRAPH_NONE,
                      .begin = { 0, SGC_GRAPH_NONE, SGC_GRAPH_NONE } };
    bool found;

    *d = (struct sgc_dominators){ .objects = g->objects };
    if ((uint64_t)g->objects + roots->count >= SGC_GRAPH_NONE || g->edges + g->roots >= UINT32_MAX)
        return false;
    d->nodes = g->objects + roots->count + 1;
    found = get_memory(&w);
    if (found) {
        number_nodes(&w);
        found = turn_pointers(&w);
    }
    if (found) {
        find_semidominators(&w);
        find_dominators(&w);
        found = hand_over(&w);
    }
    if (found)
        add_up(&w);
    free(w.order);
    free(w.number);
    free(w.found);
    free(w.before);
    return found;
}

void sgc_dominators_release(struct sgc_dominators *d)
{
    free(d->of);
    free(d->child);
    free(d->sibling);
    free(d->count);
    free(d->retained);
    for (int level = 0; level < SGC_ROOTS_LEVELS; level++)
        free(d->beyond[level]);
    free(d->alone);
    *d = (struct sgc_dominators){ .nodes = 0 };
}
