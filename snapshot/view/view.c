/* SPDX-License-Identifier: MIT */
/* See snapshot/view/view.h. */
#include "snapshot/view/view.h"

#include <stdlib.h>

bool sgc_view_make(struct sgc_view *v, const struct sgc_graph *g, const struct sgc_names *names)
{
    *v = (struct sgc_view){ .g = g };
    return sgc_groups_make(&v->groups, g, names) && sgc_roots_make(&v->roots, g, names) &&
           sgc_dominators_find(&v->d, g, &v->roots);
}

void sgc_view_release(struct sgc_view *v)
{
    sgc_groups_release(&v->groups);
    sgc_roots_release(&v->roots);
    sgc_dominators_release(&v->d);
}

/* ---- sums by groups ---- */

/* How many objects of each group are dominators of the node, itself included. */
static void enter(const struct sgc_view *v, uint32_t node, uint32_t *open, struct sgc_group_sum *sum)
{
    uint32_t group;

    if (node >= v->g->objects)
        return;
    group = v->groups.of[node];
    sgc_assert(group < v->groups.count);
    sum[group].objects++;
    sum[group].bytes += sgc_graph_bytes(v->g, node);
    if (open[group]++ == 0)
        sum[group].retained += v->d.retained[node];
}

static void leave(const struct sgc_view *v, uint32_t node, uint32_t *open)
{
    if (node >= v->g->objects)
        return;
    sgc_assert(open[v->groups.of[node]] != 0);
    open[v->groups.of[node]]--;
}

static void add_up(const struct sgc_view *v, uint32_t *open, struct sgc_group_sum *sum)
{
    const struct sgc_dominators *d = &v->d;
    uint32_t top = sgc_dominators_top(d), at = top;

    for (;;) {
        enter(v, at, open, sum);
        if (d->child[at] != SGC_GRAPH_NONE) {
            at = d->child[at];
            continue;
        }
        while (at != top && d->sibling[at] == SGC_GRAPH_NONE) {
            leave(v, at, open);
            at = d->of[at];
        }
        if (at == top)
            return;
        leave(v, at, open);
        at = d->sibling[at];
    }
}

struct sgc_group_sum *sgc_view_sums(const struct sgc_view *v)
{
    struct sgc_group_sum *sum = calloc((size_t)v->groups.count + 1, sizeof *sum);
    uint32_t *open = calloc((size_t)v->groups.count + 1, sizeof *open);

    for (uint32_t i = 0; sum != NULL && i < v->groups.count; i++)
        sum[i].group = i;
    if (sum != NULL && open != NULL)
        add_up(v, open, sum);
    if (open == NULL) {
        free(sum);
        sum = NULL;
    }
    free(open);
    return sum;
}

/* ---- sums by roots ---- */

void sgc_view_held(const struct sgc_view *v, const uint64_t *wanted, const uint32_t *row, struct sgc_held_sum *sums)
{
    const struct sgc_dominators *d = &v->d;
    uint32_t objects = v->g->objects, holder = 0;

    for (uint32_t top = d->child[sgc_dominators_top(d)]; top != SGC_GRAPH_NONE; top = d->sibling[top]) {
        holder = sgc_view_holder(v, top, holder);
        for (uint32_t at = top; at != SGC_GRAPH_NONE; at = sgc_dominators_next(d, at, top, true)) {
            struct sgc_held_sum *sum;

            if (at >= objects || (wanted != NULL && (wanted[at / 64] >> at % 64 & 1) == 0) ||
                row[v->groups.of[at]] == SGC_NAMES_NONE)
                continue;
            sum = &sums[(size_t)row[v->groups.of[at]] * sgc_view_holders(v) + holder];
            if (sum->objects++ == 0)
                sum->first = at;
            sum->bytes += sgc_graph_bytes(v->g, at);
        }
    }
}
