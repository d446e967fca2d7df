/* SPDX-License-Identifier: MIT */
/* The computing of a mark of a graph: perfmodel/model/work.h. */
#include "perfmodel/model/work.h"

#include <stdlib.h>
#include <string.h>

/* How often an object is halved until its pieces are small enough. */
static unsigned count_halvings(uint64_t bytes, uint32_t split_bytes)
{
    unsigned halvings = 0;

    while (split_bytes != 0 && bytes > split_bytes) {
        bytes = (bytes + 1) / 2;
        halvings++;
    }
    return halvings;
}

static double part(uint64_t all, unsigned halvings)
{
    sgc_assert(halvings < 64);
    return (double)((all + (UINT64_C(1) << halvings) - 1) >> halvings);
}

struct sgc_object_cost sgc_object_cost(const struct sgc_machine_costs *c, struct sgc_object_form form, uint32_t split_bytes)
{
    struct sgc_object_cost cost = { c->object_ns + c->mark_rmw_ns, c->object_ns + c->mark_rmw_ns, 0 };
    double stack = c->push_ns + c->pop_ns, call = form.has_procedure ? c->procedure_ns : 0;
    double edge = form.has_procedure && c->procedure_edge_ns > 0 ? c->procedure_edge_ns : c->edge_ns;
    unsigned halvings = count_halvings(form.bytes, form.has_procedure ? 0 : split_bytes);

    sgc_assert(form.word_bytes > 0);
    if (!form.has_words)
        return cost;
    cost.pieces = UINT64_C(1) << halvings;
    cost.all_ns += (double)(2 * cost.pieces - 1) * stack + (double)(form.bytes / form.word_bytes) * c->word_ns +
                   (double)form.edges * edge + call;
    cost.way_ns += (halvings + 1) * stack + part(form.bytes / form.word_bytes, halvings) * c->word_ns +
                   part(form.edges, halvings) * edge + call;
    return cost;
}

/* ---- a queue of objects, the one that is ready first in front ---- */

struct ready {
    double at;
    uint32_t object;
};

struct queue {
    struct ready *entry; /* room for all objects: each is put here once */
    uint64_t count;
};

static void put(struct queue *q, struct ready r)
{
    uint64_t i = q->count++;

    for (; i > 0 && q->entry[(i - 1) / 2].at > r.at; i = (i - 1) / 2)
        q->entry[i] = q->entry[(i - 1) / 2];
    q->entry[i] = r;
}

static struct ready take(struct queue *q)
{
    struct ready first = q->entry[0], last = q->entry[--q->count];
    uint64_t i = 0, child;

    while ((child = 2 * i + 1) < q->count) {
        if (child + 1 < q->count && q->entry[child + 1].at < q->entry[child].at)
            child++;
        if (q->entry[child].at >= last.at)
            break;
        q->entry[i] = q->entry[child];
        i = child;
    }
    q->entry[i] = last;
    return first;
}

/* ---- the shortest ways ---- */

struct measure {
    struct sgc_work *work;
    const struct sgc_homes *homes;
    const struct sgc_graph *graph;
    uint32_t split_bytes;
    double *node_bytes;
    uint64_t *seen;
    struct queue queue;
};

static void count_homes(const struct measure *m, uint32_t object, uint64_t bytes)
{
    uint64_t line = (uint64_t)sgc_machine_last(m->homes->machine)->line_bytes;

    sgc_assert(line > 0);
    for (uint64_t at = 0; at < bytes; at += line)
        m->node_bytes[sgc_home_of_byte(m->homes, object, at)] += (double)(bytes - at < line ? bytes - at : line);
}

/* An edge that is in no word was pushed by a procedure, and comes last. */
static struct sgc_object_form form_of(const struct sgc_graph *g, uint32_t object)
{
    uint64_t edges = sgc_graph_edges_of(g, object);
    bool pushed = edges != 0 && g->edge[g->object[object + 1].first_edge - 1].word == SGC_GRAPH_NO_WORD;

    return (struct sgc_object_form){ sgc_graph_bytes(g, object), edges, g->geometry.word, sgc_graph_has_words(g, object),
                                     pushed };
}

static struct sgc_object_cost count_object(const struct measure *m, uint32_t object)
{
    const struct sgc_graph *g = m->graph;
    struct sgc_object_form form = form_of(g, object);
    struct sgc_object_cost cost = sgc_object_cost(&m->homes->machine->cost, form, m->split_bytes);
    struct sgc_work *w = m->work;

    sgc_assert(form.has_words || form.edges == 0);
    w->objects++;
    w->bytes += form.bytes;
    w->words += form.has_words ? form.bytes / form.word_bytes : 0;
    w->edges += form.edges;
    w->pieces += cost.pieces;
    w->largest = form.has_words && form.bytes > w->largest ? form.bytes : w->largest;
    w->work_ns += cost.all_ns;
    if (m->node_bytes != NULL)
        count_homes(m, object, form.bytes);
    return cost;
}

/* An edge to the object is found at that time.  Objects leave the queue in the order of their
 * times, so the first edge that leads here is the quickest. */
static void reach(struct measure *m, uint32_t object, double at)
{
    uint64_t bit = UINT64_C(1) << object % 64;

    if ((m->seen[object / 64] & bit) != 0)
        return;
    m->seen[object / 64] |= bit;
    sgc_assert(m->queue.count < m->graph->objects);
    put(&m->queue, (struct ready){ at + count_object(m, object).way_ns, object });
}

static void follow(struct measure *m)
{
    const struct sgc_graph *g = m->graph;

    for (uint64_t r = 0; r < g->roots; r++)
        if ((SGC_GRAPH_MARK_ROOTS & SGC_GRAPH_BIT(g->range[g->root[r].range].root)) != 0)
            reach(m, g->root[r].target, 0);
    while (m->queue.count > 0) {
        struct ready first = take(&m->queue);

        sgc_assert(first.at >= m->work->depth_ns);
        m->work->depth_ns = first.at;
        for (uint64_t e = g->object[first.object].first_edge; e < g->object[first.object + 1].first_edge; e++)
            reach(m, g->edge[e].target, first.at);
    }
}

bool sgc_work_measure(struct sgc_work *work, const struct sgc_homes *homes, uint32_t split_bytes, double *node_bytes)
{
    struct measure m = {
        .work = work, .homes = homes, .graph = homes->graph, .split_bytes = split_bytes, .node_bytes = node_bytes
    };
    bool made;

    sgc_assert(homes->graph != NULL && homes->machine != NULL);
    memset(work, 0, sizeof *work);
    if (node_bytes != NULL)
        memset(node_bytes, 0, (size_t)homes->machine->nodes * sizeof *node_bytes);
    m.seen = calloc(homes->graph->objects / 64 + 1, sizeof *m.seen);
    m.queue.entry = malloc(((size_t)homes->graph->objects + 1) * sizeof *m.queue.entry);
    made = m.seen != NULL && m.queue.entry != NULL;
    if (made)
        follow(&m);
    free(m.queue.entry);
    free(m.seen);
    return made;
}
