/* SPDX-License-Identifier: MIT */
/*
 * See snapshot/view/dominators.h.  Semi-NCA: L. Georgiadis, R. E. Tarjan, R. F. Werneck, "Finding
 * dominators in practice", Journal of Graph Algorithms and Applications 10 (2006).
 *
 * A search in depth numbers the nodes.  The semidominator of a node is the lowest number from which
 * a way leads to it over nodes with higher numbers only; nodes are done from the highest number to
 * the lowest, and `parent` becomes a forest of those that are done, whose paths are compressed.
 * Then from the lowest number on, a node's dominator is the first above it in the tree so far whose
 * number is not above its semidominator.
 */
#include "snapshot/view/dominators.h"

#include <stdlib.h>
#include <string.h>

/* All but `order` and `number` hold numbers, by numbers. */
struct work {
    const struct sgc_graph *g;
    const struct sgc_roots *roots;
    struct sgc_dominators *d;
    uint32_t n;                         /* nodes that were reached */
    uint32_t *order, *number;           /* nodes by number, and back; SGC_GRAPH_NONE: not reached */
    uint32_t *parent, *semi, *label, *dominator;        /* of the search in depth `semi` has how
                                         * many pointers of the node are done */
    uint32_t *first, *before;           /* before[first[k]] and on lead to k */
    uint32_t late, lonely;              /* the first numbers of late roots, and of objects that are
                                         * kept by themselves; both come last */
};

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

static uint32_t add_node(struct work *w, uint32_t node, uint32_t parent)
{
    uint32_t k = w->n++;

    sgc_assert(k < w->d->nodes && w->number[node] == SGC_GRAPH_NONE);
    w->order[k] = node;
    w->number[node] = k;
    w->parent[k] = parent;
    w->semi[k] = 0;
    if (w->late == SGC_GRAPH_NONE && node >= w->g->objects + w->roots->late && node != sgc_dominators_top(w->d))
        w->late = k;
    return k;
}

/* Leads the pointer, of a root that is the last, only to an object by itself? */
static bool leads_no_further(const struct work *w, uint32_t node, uint32_t i)
{
    uint32_t root = node - w->g->objects;

    if (node < w->g->objects || root < w->roots->late || root == w->roots->count)
        return false;
    const struct sgc_graph_root_word *word = &w->g->root[w->roots->word[w->roots->first[root] + i]];

    sgc_assert(w->roots->first[root] + i < w->roots->first[root + 1]);
    return sgc_graph_keeps_itself_only(w->g, w->g->range[word->range].root, word->target);
}

static void number_nodes(struct work *w)
{
    uint32_t at = add_node(w, sgc_dominators_top(w->d), 0);

    for (;;) {
        uint32_t i = w->semi[at]++, next = target(w, w->order[at], i), k;

        if (next == SGC_GRAPH_NONE) {
            if (at == 0)
                break;
            at = w->parent[at];
        } else if (w->number[next] == SGC_GRAPH_NONE) {
            k = add_node(w, next, at);
            if (!leads_no_further(w, w->order[at], i))
                at = k;
            else if (w->lonely == SGC_GRAPH_NONE)
                w->lonely = k;
        }
    }
    sgc_assert(w->lonely == SGC_GRAPH_NONE || w->lonely > w->late);
}

/* ---- pointers backward ---- */

/* Is the pointer of number `from` to `to` more than the first way there?  Those of late roots lead
 * only to what the others have not reached. */
static inline bool counts(const struct work *w, uint32_t from, uint32_t to)
{
    sgc_assert(to < w->n);
    return from != to && w->parent[to] != from &&
           (from < w->late || w->order[from] < w->g->objects || to > w->late);
}

/* Counts the pointers that count in first[], or writes them to before[]. */
static void each_pointer(struct work *w, bool fill)
{
    for (uint32_t k = 1; k < w->n && k < w->lonely; k++)
        for (uint32_t i = 0, next = target(w, w->order[k], 0); next != SGC_GRAPH_NONE; next = target(w, w->order[k], ++i)) {
            uint32_t to = w->number[next];

            sgc_assert(to != SGC_GRAPH_NONE);
            if (!counts(w, k, to))
                continue;
            if (fill)
                w->before[w->first[to]++] = k;
            else
                w->first[to + 1]++;
        }
}

static bool turn_pointers(struct work *w)
{
    w->first = calloc((size_t)w->n + 1, sizeof *w->first);
    if (w->first == NULL)
        return false;
    each_pointer(w, false);
    for (uint32_t k = 0; k < w->n; k++)
        w->first[k + 1] += w->first[k];
    w->before = malloc(((size_t)w->first[w->n] + 1) * sizeof *w->before);
    if (w->before == NULL)
        return false;
    each_pointer(w, true);
    memmove(w->first + 1, w->first, (size_t)w->n * sizeof *w->first);
    w->first[0] = 0;
    return true;
}

/* ---- semi-NCA ---- */

/*
 * Of the nodes on the path up from k that are done, that is, `done` and above, the one with the
 * lowest semidominator.  Then all of them lead to the path's end at once.  On the way up the links
 * are turned round, so that the way back needs no memory.
 */
static uint32_t lowest_above(struct work *w, uint32_t k, uint32_t done)
{
    uint32_t at = k, below = SGC_GRAPH_NONE, end;

    while (w->parent[at] >= done) {
        uint32_t up = w->parent[at];

        w->parent[at] = below;
        below = at;
        at = up;
    }
    end = w->parent[at];
    while (below != SGC_GRAPH_NONE) {
        uint32_t next = w->parent[below];

        sgc_assert(at < below);
        if (w->semi[w->label[at]] < w->semi[w->label[below]])
            w->label[below] = w->label[at];
        w->parent[below] = end;
        at = below;
        below = next;
    }
    return w->label[k];
}

static void find_semidominators(struct work *w)
{
    for (uint32_t k = 0; k < w->n; k++)
        w->semi[k] = w->label[k] = k;
    memcpy(w->dominator, w->parent, (size_t)w->n * sizeof *w->dominator);
    for (uint32_t k = w->n - 1; k > 0; k--) {
        uint32_t semi = w->parent[k];

        for (uint32_t i = w->first[k]; i < w->first[k + 1]; i++) {
            uint32_t low = w->semi[lowest_above(w, w->before[i], k + 1)];

            semi = low < semi ? low : semi;
        }
        sgc_assert(semi < k);
        w->semi[k] = semi;
    }
}

static void find_dominators(struct work *w)
{
    for (uint32_t k = 1; k < w->n; k++) {
        uint32_t up = w->dominator[k];

        while (up > w->semi[k])
            up = w->dominator[up];
        sgc_assert(up < k);
        w->dominator[k] = up;
    }
}

/* ---- by nodes ---- */

/* Arrays that are not needed any more become those that are. */
static bool hand_over(struct work *w)
{
    struct sgc_dominators *d = w->d;

    free(w->first);
    free(w->before);
    free(w->parent);
    w->first = w->before = w->parent = NULL;
    d->retained = calloc(d->nodes, sizeof *d->retained);
    d->late = calloc((size_t)w->g->objects / 64 + 1, sizeof *d->late);
    d->alone = calloc((size_t)w->g->objects / 64 + 1, sizeof *d->alone);
    d->of = w->semi;
    d->child = w->label;
    d->sibling = w->number;
    w->semi = w->label = w->number = NULL;
    memset(d->of, 0xff, (size_t)d->nodes * sizeof *d->of);
    memset(d->child, 0xff, (size_t)d->nodes * sizeof *d->child);
    memset(d->sibling, 0xff, (size_t)d->nodes * sizeof *d->sibling);
    for (uint32_t k = w->n - 1; k > 0; k--) {
        uint32_t node = w->order[k], up = w->order[w->dominator[k]];

        d->of[node] = up;
        d->sibling[node] = d->child[up];
        d->child[up] = node;
    }
    d->count = w->dominator;
    w->dominator = NULL;
    return d->retained != NULL && d->late != NULL && d->alone != NULL;
}

/* A dominator has a lower number than what it dominates. */
static void add_up(struct work *w)
{
    struct sgc_dominators *d = w->d;

    memset(d->count, 0, (size_t)d->nodes * sizeof *d->count);
    for (uint32_t k = w->n - 1; k > 0; k--) {
        uint32_t node = w->order[k];

        if (node < w->g->objects) {
            d->count[node]++;
            d->retained[node] += sgc_graph_bytes(w->g, node);
            d->late[node / 64] |= (uint64_t)(k >= w->late) << node % 64;
            d->alone[node / 64] |= (uint64_t)(k >= w->lonely) << node % 64;
        }
        d->count[d->of[node]] += d->count[node];
        d->retained[d->of[node]] += d->retained[node];
    }
    sgc_assert(d->count[sgc_dominators_top(d)] <= d->objects);
}

static bool get_memory(struct work *w)
{
    size_t bytes = (size_t)w->d->nodes * sizeof *w->order;

    w->order = malloc(bytes);
    w->number = malloc(bytes);
    w->parent = malloc(bytes);
    w->semi = malloc(bytes);
    w->label = malloc(bytes);
    w->dominator = malloc(bytes);
    if (w->number != NULL)
        memset(w->number, 0xff, bytes);
    return w->order != NULL && w->number != NULL && w->parent != NULL && w->semi != NULL && w->label != NULL &&
           w->dominator != NULL;
}

static void release(struct work *w)
{
    uint32_t *const all[] = { w->order, w->number, w->parent, w->semi, w->label, w->dominator, w->first, w->before };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
}

bool sgc_dominators_find(struct sgc_dominators *d, const struct sgc_graph *g, const struct sgc_roots *roots)
{
    struct work w = { .g = g, .roots = roots, .d = d, .late = SGC_GRAPH_NONE, .lonely = SGC_GRAPH_NONE };
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
    release(&w);
    return found;
}

void sgc_dominators_release(struct sgc_dominators *d)
{
    free(d->of);
    free(d->child);
    free(d->sibling);
    free(d->count);
    free(d->retained);
    free(d->late);
    free(d->alone);
    *d = (struct sgc_dominators){ .nodes = 0 };
}
