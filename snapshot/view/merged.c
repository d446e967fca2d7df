/* SPDX-License-Identifier: MIT */
/* See snapshot/view/merged.h. */
#include "snapshot/view/merged.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of the dominator tree that are to become one: a list by next[]. */
struct heap_of {
    uint32_t first;
    uint32_t number;
    uint8_t is;
    uint64_t objects, bytes;            /* that they retain */
};

/* Each node of the dominator tree is on one list at a time. */
struct building {
    const struct sgc_view *v;
    struct sgc_merged *m;
    uint64_t smallest;
    uint32_t depth;
    uint32_t *next;
    struct heap_of *scratch;            /* by group; `first` is SGC_GRAPH_NONE in between */
    uint32_t *used, used_count;         /* those of scratch that have something */
};

static bool expand(struct building *b, uint32_t at, uint32_t first);

static uint32_t add_node(struct building *b, uint32_t parent, const struct heap_of *of)
{
    struct sgc_merged *m = b->m;

    if (m->count == m->capacity) {
        uint32_t capacity = m->capacity * 2 + 256;
        struct sgc_merged_node *grown = realloc(m->node, (size_t)capacity * sizeof *grown);

        if (grown == NULL)
            return SGC_GRAPH_NONE;
        m->node = grown;
        m->capacity = capacity;
    }
    m->node[m->count] = (struct sgc_merged_node){
        .parent = parent, .depth = m->count == 0 ? 0 : m->node[parent].depth + 1, .number = of->number, .is = of->is,
        .retained_objects = of->objects, .retained = of->bytes,
    };
    sgc_assert(m->count == 0 || parent < m->count);
    return m->count++;
}

/* ---- children ---- */

static uint32_t group_of(const struct building *b, uint32_t node)
{
    return node < b->v->g->objects ? b->v->groups.of[node] : SGC_GRAPH_NONE;
}

static void put(struct building *b, uint32_t node)
{
    uint32_t group = group_of(b, node);
    struct heap_of *of = &b->scratch[group];

    sgc_assert(group < b->v->groups.count);
    if (of->first == SGC_GRAPH_NONE) {
        *of = (struct heap_of){ .first = SGC_GRAPH_NONE, .number = group, .is = SGC_MERGED_GROUP };
        b->used[b->used_count++] = group;
    }
    b->next[node] = of->first;
    of->first = node;
    of->objects += b->v->d.count[node];
    of->bytes += b->v->d.retained[node];
}

static int compare(const void *left, const void *right)
{
    const struct heap_of *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->is != b->is ? (a->is < b->is ? -1 : 1) : (a->number > b->number) - (a->number < b->number);
}

static bool add_rest(struct building *b, uint32_t parent, const struct heap_of *rest)
{
    uint32_t node;

    if (rest->objects == 0)
        return true;
    node = add_node(b, parent, rest);
    if (node == SGC_GRAPH_NONE)
        return false;
    b->m->node[node].objects = rest->objects;
    b->m->node[node].bytes = rest->bytes;
    return true;
}

/* The largest first, each with all below it. */
static bool add_children(struct building *b, uint32_t parent, struct heap_of *of, uint32_t count)
{
    struct heap_of rest = { .is = SGC_MERGED_REST };
    bool deep = b->m->node[parent].depth >= b->depth;

    qsort(of, count, sizeof *of, compare);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node;

        if (deep || of[i].bytes < b->smallest) {
            rest.objects += of[i].objects;
            rest.bytes += of[i].bytes;
            continue;
        }
        node = add_node(b, parent, &of[i]);
        if (node == SGC_GRAPH_NONE || !expand(b, node, of[i].first))
            return false;
    }
    return add_rest(b, parent, &rest);
}

/* Makes children of all that has been put. */
static bool add_groups(struct building *b, uint32_t parent)
{
    uint32_t count = b->used_count;
    struct heap_of *of = malloc(((size_t)count + 1) * sizeof *of);
    bool added;

    if (of == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        of[i] = b->scratch[b->used[i]];
        b->scratch[b->used[i]].first = SGC_GRAPH_NONE;
    }
    b->used_count = 0;
    added = add_children(b, parent, of, count);
    free(of);
    return added;
}

/* ---- nodes ---- */

/* Objects on the list are the node's, and so are those of its group that they dominate. */
static bool expand(struct building *b, uint32_t at, uint32_t first)
{
    const struct sgc_dominators *d = &b->v->d;
    bool several = b->m->node[at].is == SGC_MERGED_SEVERAL;
    uint32_t group = b->m->node[at].is == SGC_MERGED_GROUP ? b->m->node[at].number : SGC_GRAPH_NONE - 1;

    while (first != SGC_GRAPH_NONE) {
        uint32_t node = first;

        first = b->next[node];
        if (several) {
            put(b, node);
            continue;
        }
        b->m->node[at].objects += node < b->v->g->objects;
        b->m->node[at].bytes += sgc_view_bytes(b->v, node);
        for (uint32_t child = d->child[node]; child != SGC_GRAPH_NONE; child = d->sibling[child]) {
            if (group_of(b, child) == group) {
                b->next[child] = first;
                first = child;
            } else {
                put(b, child);
            }
        }
    }
    sgc_assert(b->m->node[at].bytes <= b->m->node[at].retained);
    return add_groups(b, at);
}

/* A child of the virtual root.  One that several roots lead to goes to the others of its first
 * root, which stand behind that. */
static uint32_t put_top(struct building *b, struct heap_of *of, uint32_t count, uint32_t child, uint32_t holder)
{
    uint32_t roots = b->v->roots.count;
    bool root = holder < roots;

    if (root || of[count - 1].is == SGC_MERGED_ROOT)
        of[count++] = (struct heap_of){ .first = SGC_GRAPH_NONE, .number = root ? holder : holder - roots,
                                        .is = root ? SGC_MERGED_ROOT : SGC_MERGED_SEVERAL };
    sgc_assert(count != 0 && count <= 2 * roots);
    b->next[child] = of[count - 1].first;
    of[count - 1].first = child;
    of[count - 1].objects += b->v->d.count[child];
    of[count - 1].bytes += b->v->d.retained[child];
    return count;
}

static bool expand_top(struct building *b)
{
    const struct sgc_dominators *d = &b->v->d;
    uint32_t count = 0, holder = 0;
    struct heap_of *of = malloc(((size_t)sgc_view_holders(b->v) + 1) * sizeof *of);
    bool made;

    if (of == NULL)
        return false;
    for (uint32_t child = d->child[sgc_dominators_top(d)]; child != SGC_GRAPH_NONE; child = d->sibling[child]) {
        holder = sgc_view_holder(b->v, child, holder);
        count = put_top(b, of, count, child, holder);
    }
    made = add_children(b, 0, of, count);
    free(of);
    return made;
}

bool sgc_merged_make(struct sgc_merged *m, const struct sgc_view *v, uint64_t smallest, uint32_t depth)
{
    uint32_t groups = v->groups.count, top = sgc_dominators_top(&v->d);
    struct building b = { .v = v, .m = m, .smallest = smallest > 0 ? smallest : 1, .depth = depth };
    struct heap_of all = { .is = SGC_MERGED_ALL, .objects = v->d.count[top], .bytes = v->d.retained[top] };
    bool made;

    sgc_assert(depth <= SGC_MERGED_DEPTH);
    *m = (struct sgc_merged){ .v = v };
    b.next = malloc((size_t)v->d.nodes * sizeof *b.next);
    b.scratch = malloc(((size_t)groups + 1) * sizeof *b.scratch);
    b.used = malloc(((size_t)groups + 1) * sizeof *b.used);
    if (b.scratch != NULL)
        memset(b.scratch, 0xff, ((size_t)groups + 1) * sizeof *b.scratch);
    made = b.next != NULL && b.scratch != NULL && b.used != NULL && add_node(&b, 0, &all) == 0 && expand_top(&b);
    free(b.next);
    free(b.scratch);
    free(b.used);
    return made;
}

void sgc_merged_release(struct sgc_merged *m)
{
    free(m->node);
    *m = (struct sgc_merged){ .count = 0 };
}

const char *sgc_merged_name(const struct sgc_merged *m, uint32_t node)
{
    const struct sgc_merged_node *n = &m->node[node];

    sgc_assert(node < m->count);
    if (n->is == SGC_MERGED_ROOT)
        return m->v->roots.name[n->number];
    if (n->is == SGC_MERGED_GROUP)
        return m->v->groups.name[n->number];
    if (n->is == SGC_MERGED_SEVERAL)
        return m->v->roots.with_others[n->number];
    return n->is == SGC_MERGED_ALL ? "all that is reachable" : "the rest";
}
