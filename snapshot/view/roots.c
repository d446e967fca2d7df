/* SPDX-License-Identifier: MIT */
/* See snapshot/view/groups.h: root words by roots. */
#include "snapshot/view/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 160 };

struct making {
    const struct sgc_graph *g;
    const struct sgc_names *names;
    struct sgc_roots *roots;
    const struct sgc_graph_range **range;       /* in the order of their roots */
    uint32_t *named;                    /* by the source's number: the root, or SGC_NAMES_NONE */
};

/* Ranges of data are a root each, those of threads are one for each thread, others of a kind one
 * for all. */
static int compare_ranges(const void *left, const void *right)
{
    const struct sgc_graph_range *a = *(const struct sgc_graph_range *const *)left;
    const struct sgc_graph_range *b = *(const struct sgc_graph_range *const *)right;
    bool data = a->root == SGC_GRAPH_STATIC || a->root == SGC_GRAPH_ADDED;
    bool threads = a->root == SGC_GRAPH_STACK || a->root == SGC_GRAPH_THREAD_LOCAL || a->root == SGC_GRAPH_DATE;

    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (threads && a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (data && a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    return !data || a == b ? 0 : a < b ? -1 : 1;
}

/* ---- names ---- */

static char *range_name(const struct sgc_graph_range *range)
{
    const char *kind = sgc_graph_root_name((enum sgc_graph_root)range->root);
    char text[NAME];

    sgc_assert(range->root < SGC_GRAPH_ROOTS);
    if (range->root == SGC_GRAPH_STATIC || range->root == SGC_GRAPH_ADDED)
        snprintf(text, sizeof text, "%s, %" PRIu64 " bytes at %#" PRIx64, kind, range->bytes, range->lo);
    else if (range->root == SGC_GRAPH_STACK)
        snprintf(text, sizeof text, "stack of thread %" PRIu32, range->thread);
    else if (range->root == SGC_GRAPH_THREAD_LOCAL || (range->root == SGC_GRAPH_DATE && range->thread != 0))
        snprintf(text, sizeof text, "%s of thread %" PRIu32, kind, range->thread);
    else
        snprintf(text, sizeof text, "%s%s", kind, range->root == SGC_GRAPH_DATE ? " of no thread" : "");
    return strdup(text);
}

/* ---- numbers ---- */

static enum sgc_roots_level level_of(const struct sgc_graph_range *range)
{
    sgc_assert(range->root < SGC_GRAPH_ROOTS);
    if (range->root >= SGC_GRAPH_FINALIZER)
        return SGC_ROOTS_LATE;
    return range->root == SGC_GRAPH_STACK ? SGC_ROOTS_STACKS : SGC_ROOTS_LASTING;
}

/* Roots of that level that have names; a word of which none is known keeps SGC_NAMES_NONE. */
static void number_named(struct making *m, enum sgc_roots_level level)
{
    for (uint64_t r = 0; r < m->g->roots; r++) {
        const struct sgc_graph_range *range = &m->g->range[m->g->root[r].range];
        uint32_t number = SGC_NAMES_NONE;

        sgc_assert(m->g->root[r].range < m->g->ranges);
        if (level_of(range) != level)
            continue;
        if (m->names != NULL && m->names->root_of != NULL && range->lo != 0)
            number = m->names->root_of(m->names->context, r);
        sgc_assert(number == SGC_NAMES_NONE || number < m->names->roots);
        if (number != SGC_NAMES_NONE && m->named[number] == SGC_NAMES_NONE)
            m->named[number] = m->roots->count++;
        m->roots->of[r] = number == SGC_NAMES_NONE ? SGC_NAMES_NONE : m->named[number];
    }
}

/* Has it words of which no name is known? */
static bool has_plain(const struct making *m, const struct sgc_graph_range *range)
{
    for (uint64_t r = range->first_root; r < range[1].first_root; r++)
        if (m->roots->of[r] == SGC_NAMES_NONE)
            return true;
    return false;
}

static void number_ranges(struct making *m, enum sgc_roots_level level)
{
    const struct sgc_graph_range *before = NULL;
    uint32_t used = 0;

    for (uint32_t i = 0; i < m->g->ranges; i++)
        if (level_of(&m->g->range[i]) == level && has_plain(m, &m->g->range[i]))
            m->range[used++] = &m->g->range[i];
    qsort(m->range, used, sizeof *m->range, compare_ranges);
    for (uint32_t i = 0; i < used; before = m->range[i++]) {
        m->roots->count += before == NULL || compare_ranges(&before, &m->range[i]) != 0;
        for (uint64_t r = m->range[i]->first_root; r < m->range[i][1].first_root; r++)
            if (m->roots->of[r] == SGC_NAMES_NONE)
                m->roots->of[r] = m->roots->count - 1;
    }
}

static void number_roots(struct making *m)
{
    for (int level = 0; level < SGC_ROOTS_LEVELS; level++) {
        m->roots->begin[level] = m->roots->count;
        number_named(m, (enum sgc_roots_level)level);
        number_ranges(m, (enum sgc_roots_level)level);
    }
}

/* Those that keep only their object come last, in the last root. */
static void sort_words(struct making *m)
{
    const struct sgc_graph *g = m->g;
    struct sgc_roots *roots = m->roots;

    for (uint64_t r = 0; r < g->roots; r++)
        roots->first[roots->of[r] + 1]++;
    for (uint32_t i = 0; i < roots->count; i++)
        roots->first[i + 1] += roots->first[i];
    sgc_assert(roots->first[roots->count] == g->roots);
    for (int last = 0; last < 2; last++)
        for (uint64_t r = 0; r < g->roots; r++)
            if (sgc_graph_keeps_itself_only(g, g->range[g->root[r].range].root, g->root[r].target) == (last != 0))
                roots->word[roots->first[roots->of[r]]++] = r;
    for (uint32_t i = roots->count; i > 0; i--)
        roots->first[i] = roots->first[i - 1];
    roots->first[0] = 0;
}

static bool name_roots(struct making *m)
{
    struct sgc_roots *roots = m->roots;

    for (uint32_t i = 0; m->names != NULL && i < m->names->roots; i++)
        if (m->named[i] != SGC_NAMES_NONE) {
            roots->name[m->named[i]] = strdup(m->names->root_name(m->names->context, i));
            roots->named[m->named[i]] = true;
        }
    for (uint32_t i = 0; i < roots->count; i++) {
        sgc_assert(roots->first[i] < roots->first[i + 1]);
        if (!roots->named[i])
            roots->name[i] = range_name(&m->g->range[m->g->root[roots->word[roots->first[i]]].range]);
        if (roots->name[i] == NULL || asprintf(&roots->with_others[i], "%s, and others", roots->name[i]) < 0)
            return false;
    }
    return true;
}

static bool get_memory(struct making *m)
{
    size_t named = m->names != NULL ? m->names->roots : 0, capacity = named + m->g->ranges;
    struct sgc_roots *roots = m->roots;

    m->range = malloc(((size_t)m->g->ranges + 1) * sizeof(struct sgc_graph_range *));
    m->named = malloc((named + 1) * sizeof *m->named);
    roots->of = malloc(((size_t)m->g->roots + 1) * sizeof *roots->of);
    roots->word = malloc(((size_t)m->g->roots + 1) * sizeof *roots->word);
    roots->first = calloc(capacity + 2, sizeof *roots->first);
    roots->name = calloc(capacity + 1, sizeof *roots->name);
    roots->with_others = calloc(capacity + 1, sizeof *roots->with_others);
    roots->named = calloc(capacity + 1, sizeof *roots->named);
    if (m->named != NULL)
        memset(m->named, 0xff, (named + 1) * sizeof *m->named);
    return m->range != NULL && m->named != NULL && roots->of != NULL && roots->word != NULL && roots->first != NULL &&
           roots->name != NULL && roots->with_others != NULL && roots->named != NULL;
}

bool sgc_roots_make(struct sgc_roots *roots, const struct sgc_graph *g, const struct sgc_names *names)
{
    struct making m = { .g = g, .names = names, .roots = roots };
    bool made;

    *roots = (struct sgc_roots){ .count = 0 };
    made = get_memory(&m);
    if (made) {
        number_roots(&m);
        sort_words(&m);
        made = name_roots(&m);
    }
    free(m.range);
    free(m.named);
    return made;
}

void sgc_roots_release(struct sgc_roots *roots)
{
    for (uint32_t i = 0; roots->name != NULL && roots->with_others != NULL && i < roots->count; i++) {
        free(roots->name[i]);
        free(roots->with_others[i]);
    }
    free(roots->name);
    free(roots->with_others);
    free(roots->named);
    free(roots->of);
    free(roots->first);
    free(roots->word);
    *roots = (struct sgc_roots){ .count = 0 };
}
