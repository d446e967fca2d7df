/* SPDX-License-Identifier: MIT */
/* See snapshot/view/ways.h. */
#include "snapshot/view/ways.h"

#include <stdlib.h>
#include <string.h>

/* ---- a shortest way ---- */

struct search {
    const struct sgc_graph *g;
    const uint64_t *wanted;
    uint64_t *from;                     /* by object: the one before it on the way, or the number of
                                         * objects and that of a root word; UINT64_MAX: not come
                                         * to */
    uint32_t *queue, next, used;
    uint32_t found;                     /* SGC_GRAPH_NONE: none yet */
};

static void come_to(struct search *s, uint32_t object, uint64_t from, bool follow)
{
    sgc_assert(object < s->g->objects && s->used <= s->g->objects);
    if (s->from[object] != UINT64_MAX)
        return;
    s->from[object] = from;
    if (follow)
        s->queue[s->used++] = object;
    if (sgc_ways_wants(s->wanted, object))
        s->found = object;
}

static void follow_roots(struct search *s, uint32_t kinds)
{
    const struct sgc_graph *g = s->g;

    for (uint64_t r = 0; r < g->roots && s->found == SGC_GRAPH_NONE; r++) {
        uint32_t kind = g->range[g->root[r].range].root, target = g->root[r].target;

        if ((kinds & SGC_GRAPH_BIT(kind)) != 0)
            come_to(s, target, g->objects + r, !sgc_graph_keeps_itself_only(g, kind, target));
    }
}

static void follow_objects(struct search *s)
{
    for (; s->next < s->used && s->found == SGC_GRAPH_NONE; s->next++) {
        uint32_t object = s->queue[s->next];

        sgc_assert(s->from[object] != UINT64_MAX);
        for (uint64_t e = s->g->object[object].first_edge; e < s->g->object[object + 1].first_edge; e++) {
            come_to(s, s->g->edge[e].target, object, true);
            if (s->found != SGC_GRAPH_NONE)
                break;
        }
    }
}

/* From the object back. */
static bool trace(const struct search *s, struct sgc_way *way)
{
    uint64_t at;
    uint32_t count = 1;

    sgc_assert(s->found < s->g->objects);
    for (at = s->found; s->from[at] < s->g->objects; at = s->from[at])
        count++;
    way->root = s->from[at] - s->g->objects;
    way->object = malloc(count * sizeof *way->object);
    if (way->object == NULL)
        return false;
    way->count = count;
    for (at = s->found; count > 0; at = s->from[at])
        way->object[--count] = (uint32_t)at;
    sgc_assert(way->root < s->g->roots && way->object[0] == s->g->root[way->root].target);
    return true;
}

bool sgc_way_find(struct sgc_way *way, const struct sgc_graph *g, const uint64_t *wanted)
{
    static const uint32_t turns[] = {
        SGC_GRAPH_MARK_ROOTS & ~SGC_GRAPH_BIT(SGC_GRAPH_DATE), SGC_GRAPH_BIT(SGC_GRAPH_DATE),
        SGC_GRAPH_BIT(SGC_GRAPH_FINALIZER), SGC_GRAPH_BIT(SGC_GRAPH_DISCLAIM),
    };
    struct search s = { .g = g, .wanted = wanted, .found = SGC_GRAPH_NONE };
    size_t objects = (size_t)g->objects + 1;
    bool done;

    *way = (struct sgc_way){ .count = 0 };
    s.from = malloc(objects * sizeof *s.from);
    s.queue = malloc(objects * sizeof *s.queue);
    done = s.from != NULL && s.queue != NULL;
    if (done)
        memset(s.from, 0xff, objects * sizeof *s.from);
    for (size_t i = 0; done && i < sizeof turns / sizeof turns[0] && s.found == SGC_GRAPH_NONE; i++) {
        follow_roots(&s, turns[i]);
        follow_objects(&s);
    }
    done = done && (s.found == SGC_GRAPH_NONE || trace(&s, way));
    free(s.from);
    free(s.queue);
    return done;
}

void sgc_way_release(struct sgc_way *way)
{
    free(way->object);
    *way = (struct sgc_way){ .count = 0 };
}

uint32_t sgc_way_word(const struct sgc_way *way, const struct sgc_graph *g, uint32_t step)
{
    uint64_t e, end;

    sgc_assert(step > 0 && step < way->count);
    e = g->object[way->object[step - 1]].first_edge;
    end = g->object[way->object[step - 1] + 1].first_edge;
    while (e < end && g->edge[e].target != way->object[step])
        e++;
    sgc_assert(e < end);
    return g->edge[e].word;
}

/* ---- which roots lead there ---- */

/* Pointers backward: before[first[i]] and on lead to object i. */
struct backward {
    const struct sgc_graph *g;
    uint64_t *first, *seen;
    uint32_t *before, *stack, used;
};

static bool turn_pointers(struct backward *b)
{
    const struct sgc_graph *g = b->g;

    b->first = calloc((size_t)g->objects + 2, sizeof *b->first);
    b->before = malloc(((size_t)g->edges + 1) * sizeof *b->before);
    if (b->first == NULL || b->before == NULL)
        return false;
    for (uint64_t e = 0; e < g->edges; e++)
        b->first[g->edge[e].target + 2]++;
    for (uint32_t i = 0; i < g->objects; i++)
        b->first[i + 2] += b->first[i + 1];
    for (uint32_t i = 0; i < g->objects; i++)
        for (uint64_t e = g->object[i].first_edge; e < g->object[i + 1].first_edge; e++)
            b->before[b->first[g->edge[e].target + 1]++] = i;
    sgc_assert(b->first[0] == 0 && b->first[g->objects] == g->edges);
    return true;
}

static void add_before(struct backward *b, uint32_t object)
{
    sgc_assert(object < b->g->objects);
    if (sgc_ways_wants(b->seen, object))
        return;
    b->seen[object / 64] |= UINT64_C(1) << object % 64;
    b->stack[b->used++] = object;
}

static void go_back(struct backward *b, const uint64_t *wanted)
{
    sgc_assert(b->used == 0);
    for (uint32_t i = 0; i < b->g->objects; i++)
        if (sgc_ways_wants(wanted, i))
            add_before(b, i);
    while (b->used != 0) {
        uint32_t object = b->stack[--b->used];

        for (uint64_t i = b->first[object]; i < b->first[object + 1]; i++)
            add_before(b, b->before[i]);
    }
}

/* An object that is kept by itself only leads nowhere. */
static bool leads_there(const struct backward *b, const struct sgc_graph_root_word *word, const uint64_t *wanted)
{
    uint32_t kind = b->g->range[word->range].root;

    return sgc_ways_wants(sgc_graph_keeps_itself_only(b->g, kind, word->target) ? wanted : b->seen, word->target);
}

bool sgc_ways_roots(const struct sgc_graph *g, const struct sgc_roots *roots, const uint64_t *wanted, bool late, bool *leads)
{
    struct backward b = { .g = g };
    bool done = turn_pointers(&b);

    b.seen = calloc((size_t)g->objects / 64 + 1, sizeof *b.seen);
    b.stack = malloc(((size_t)g->objects + 1) * sizeof *b.stack);
    done = done && b.seen != NULL && b.stack != NULL;
    if (done)
        go_back(&b, wanted);
    memset(leads, 0, roots->count * sizeof *leads);
    for (uint64_t r = 0; done && r < g->roots; r++)
        if ((late || roots->of[r] < roots->begin[SGC_ROOTS_LATE]) && leads_there(&b, &g->root[r], wanted))
            leads[roots->of[r]] = true;
    free(b.first);
    free(b.before);
    free(b.seen);
    free(b.stack);
    return done;
}
