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

/* Was there one of that size? */
static bool was_there(const struct comparing *w, uint32_t before, uint32_t now)
{
    sgc_assert(now < w->newer->g->objects);
    return before < w->older->g->objects && w->older->g->object[before].offset == w->newer->g->object[now].offset &&
           sgc_graph_bytes(w->older->g, before) == sgc_graph_bytes(w->newer->g, now) &&
           sgc_dominators_reached(&w->older->d, before);
}

/* Where its first word points; 0: into no module, or that is not known. */
static uint64_t first_word(const struct sgc_graph *g, uint32_t object)
{
    uint32_t type = g->type_of != NULL ? g->type_of[object] : SGC_GRAPH_NO_TYPE;

    sgc_assert(type < g->types || type == SGC_GRAPH_NO_TYPE);
    return type != SGC_GRAPH_NO_TYPE ? g->module[g->type[type].module].lo + g->type[type].offset : 0;
}

/* Of two of one size at one address, whose groups differ.  A site is an object's from its
 * allocation on. */
static bool is_renamed(const struct comparing *w, uint32_t before, uint32_t now)
{
    uint64_t word = first_word(w->older->g, before), word_now = first_word(w->newer->g, now);

    return sgc_graph_kind_of(w->older->g, before) == sgc_graph_kind_of(w->newer->g, now) &&
           sgc_graph_site_of(w->older->g, before) == sgc_graph_site_of(w->newer->g, now) &&
           (word == word_now || (word_now == 0 && sgc_graph_module_at(w->newer->g, word) == SGC_GRAPH_NONE));
}

static void count_object(struct comparing *w, uint32_t before, uint32_t now)
{
    uint64_t bytes = sgc_graph_bytes(w->newer->g, now);
    struct sgc_growth *growth = &w->c->growth[w->row[w->newer->groups.of[now]]], *old = NULL;

    if (sgc_compare_one_process(w->older->g, w->newer->g) && was_there(w, before, now))
        old = &w->c->growth[w->older_row[w->older->groups.of[before]]];
    add(&growth->now, bytes);
    if (old == growth)
        return;
    if (old != NULL && is_renamed(w, before, now)) {
        add(&growth->came, bytes);
        add(&old->went, bytes);
        add(&w->c->renamed, bytes);
        w->c->old_name = old->name;
        w->c->new_name = growth->name;
        return;
    }
    add(&growth->fresh, bytes);
    sgc_assert(growth->fresh.bytes + growth->came.bytes <= growth->now.bytes);
    w->fresh[now / 64] |= UINT64_C(1) << now % 64;
}

/* Both have their objects in the order of addresses. */
static void count_newer(struct comparing *w)
{
    const struct sgc_view *v = w->newer;
    const struct sgc_graph *older = w->older->g;
    uint32_t before = 0;

    for (uint32_t i = 0; i < v->g->objects; i++) {
        while (before < older->objects && older->object[before].offset < v->g->object[i].offset)
            before++;
        if (sgc_dominators_reached(&v->d, i))
            count_object(w, before, i);
    }
}

/* ---- the order, and roots ---- */

static int by_growth(const void *left, const void *right)
{
    const struct sgc_growth *a = left, *b = right;
    int64_t grown_a = sgc_growth_bytes(a), grown_b = sgc_growth_bytes(b);

    if (grown_a != grown_b)
        return grown_a > grown_b ? -1 : 1;
    return by_name(left, right);
}

static bool find_roots(struct comparing *w, uint32_t first)
{
    struct sgc_comparison *c = w->c;
    size_t holders = sgc_view_holders(w->newer);
    uint32_t count = 0;

    while (count < c->count && count < first && sgc_growth_bytes(&c->growth[count]) > 0)
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
