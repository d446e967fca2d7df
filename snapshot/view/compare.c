/* SPDX-License-Identifier: MIT */
/* See snapshot/view/compare.h. */
#include "snapshot/view/compare.h"

#include <stdlib.h>
#include <string.h>

struct comparing {
    const struct sgc_view *older, *newer;
    struct sgc_comparison *c;
    uint32_t *row;                      /* growth's number, by groups of the newer one, */
    uint32_t *older_row;                /* and of the older one */
    uint64_t *fresh;                    /* a bit an object of the newer one */
};

bool sgc_compare_one_process(const struct sgc_graph *older, const struct sgc_graph *newer)
{
    return older->process == newer->process && older->geometry.base == newer->geometry.base;
}

/* ---- groups by names ---- */

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct sgc_growth *)left)->name, ((const struct sgc_growth *)right)->name);
}

static uint32_t number_of(const struct sgc_comparison *c, const char *name)
{
    struct sgc_growth key = { .name = name };
    const struct sgc_growth *found = bsearch(&key, c->growth, c->count, sizeof key, by_name);

    sgc_assert(found != NULL);
    return (uint32_t)(found - c->growth);
}

/* One for each name that there is; of several groups of one name any. */
static void join_names(struct comparing *w)
{
    struct sgc_comparison *c = w->c;
    uint32_t all = 0, count = 0;

    for (uint32_t i = 0; i < w->newer->groups.count; i++)
        c->growth[all++] = (struct sgc_growth){ .name = w->newer->groups.name[i], .group = i };
    for (uint32_t i = 0; i < w->older->groups.count; i++)
        c->growth[all++] = (struct sgc_growth){ .name = w->older->groups.name[i], .group = SGC_NAMES_NONE };
    qsort(c->growth, all, sizeof *c->growth, by_name);
    for (uint32_t i = 0; i < all; i++) {
        if (count != 0 && strcmp(c->growth[count - 1].name, c->growth[i].name) == 0) {
            if (c->growth[i].group != SGC_NAMES_NONE)
                c->growth[count - 1] = c->growth[i];
        } else {
            c->growth[count++] = c->growth[i];
        }
    }
    sgc_assert(count <= all);
    c->count = count;
    for (uint32_t i = 0; i < w->newer->groups.count; i++)
        w->row[i] = number_of(c, w->newer->groups.name[i]);
    for (uint32_t i = 0; i < w->older->groups.count; i++)
        w->older_row[i] = number_of(c, w->older->groups.name[i]);
}

/* ---- objects ---- */

static void add(struct sgc_held_sum *sum, uint64_t bytes)
{
    sgc_assert(bytes != 0);
    sum->objects++;
    sum->bytes += bytes;
}

static void count_older(struct comparing *w)
{
    const struct sgc_view *v = w->older;

    for (uint32_t i = 0; i < v->g->objects; i++)
        if (sgc_dominators_reached(&v->d, i))
            add(&w->c->growth[w->older_row[v->groups.of[i]]].before, sgc_graph_bytes(v->g, i));
}

static bool is_same(const struct comparing *w, uint32_t before, uint32_t now)
{
    sgc_assert(now < w->newer->g->objects);
    return before < w->older->g->objects && w->older->g->object[before].offset == w->newer->g->object[now].offset &&
           sgc_graph_bytes(w->older->g, before) == sgc_graph_bytes(w->newer->g, now) &&
           w->older_row[w->older->groups.of[before]] == w->row[w->newer->groups.of[now]] &&
           sgc_dominators_reached(&w->older->d, before);
}

/* Both have their objects in the order of addresses. */
static void count_newer(struct comparing *w)
{
    const struct sgc_view *v = w->newer;
    const struct sgc_graph *older = w->older->g;
    bool one_process = sgc_compare_one_process(older, v->g);
    uint32_t before = 0;

    for (uint32_t i = 0; i < v->g->objects; i++) {
        struct sgc_growth *growth = &w->c->growth[w->row[v->groups.of[i]]];

        while (before < older->objects && older->object[before].offset < v->g->object[i].offset)
            before++;
        if (!sgc_dominators_reached(&v->d, i))
            continue;
        add(&growth->now, sgc_graph_bytes(v->g, i));
        if (one_process && is_same(w, before, i))
            continue;
        add(&growth->fresh, sgc_graph_bytes(v->g, i));
        sgc_assert(growth->fresh.bytes <= growth->now.bytes);
        w->fresh[i / 64] |= UINT64_C(1) << i % 64;
    }
}

/* ---- the order, and roots ---- */

static int by_growth(const void *left, const void *right)
{
    const struct sgc_growth *a = left, *b = right;
    int64_t grown_a = (int64_t)(a->now.bytes - a->before.bytes), grown_b = (int64_t)(b->now.bytes - b->before.bytes);

    if (grown_a != grown_b)
        return grown_a > grown_b ? -1 : 1;
    return by_name(left, right);
}

static bool find_roots(struct comparing *w, uint32_t first)
{
    struct sgc_comparison *c = w->c;
    size_t holders = sgc_view_holders(w->newer);
    uint32_t count = 0;

    while (count < c->count && count < first && c->growth[count].now.bytes > c->growth[count].before.bytes)
        count++;
    sgc_assert(count <= c->count);
    c->held = calloc(count * holders + 1, sizeof *c->held);
    if (c->held == NULL)
        return false;
    memset(w->row, 0xff, ((size_t)w->newer->groups.count + 1) * sizeof *w->row);
    for (uint32_t i = 0; i < count; i++)
        c->growth[i].held = c->held + i * holders;
    for (uint32_t group = 0; group < w->newer->groups.count; group++)
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(c->growth[i].name, w->newer->groups.name[group]) == 0)
                w->row[group] = i;
    sgc_view_held(w->newer, w->fresh, w->row, c->held);
    return true;
}

bool sgc_compare(struct sgc_comparison *c, const struct sgc_view *older, const struct sgc_view *newer, uint32_t first)
{
    struct comparing w = { .older = older, .newer = newer, .c = c };
    bool done;

    *c = (struct sgc_comparison){ .count = 0 };
    c->growth = calloc((size_t)older->groups.count + newer->groups.count + 1, sizeof *c->growth);
    w.row = malloc(((size_t)newer->groups.count + 1) * sizeof *w.row);
    w.older_row = malloc(((size_t)older->groups.count + 1) * sizeof *w.older_row);
    w.fresh = calloc((size_t)newer->g->objects / 64 + 1, sizeof *w.fresh);
    done = c->growth != NULL && w.row != NULL && w.older_row != NULL && w.fresh != NULL;
    if (done) {
        join_names(&w);
        count_older(&w);
        count_newer(&w);
        qsort(c->growth, c->count, sizeof *c->growth, by_growth);
        done = find_roots(&w, first);
    }
    free(w.row);
    free(w.older_row);
    free(w.fresh);
    return done;
}

void sgc_comparison_release(struct sgc_comparison *c)
{
    free(c->growth);
    free(c->held);
    *c = (struct sgc_comparison){ .count = 0 };
}
