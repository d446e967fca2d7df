/* SPDX-License-Identifier: MIT */
/* Questions to a graph: snapshot/graph.h. */
#include "snapshot/graph.h"

#include <stdlib.h>
#include <string.h>

#include "platform/sorted.h"

const char *sgc_graph_root_name(enum sgc_graph_root root)
{
    static const char *const names[] = {
        [SGC_GRAPH_STATIC] = "static data", [SGC_GRAPH_ADDED] = "added roots", [SGC_GRAPH_STACK] = "stacks",
        [SGC_GRAPH_THREAD_LOCAL] = "thread-local variables", [SGC_GRAPH_DATE] = "dates",
        [SGC_GRAPH_UNCOLLECTABLE] = "uncollectable objects", [SGC_GRAPH_FINALIZATION] = "finalization",
        [SGC_GRAPH_HOOK] = "a hook", [SGC_GRAPH_PROCEDURE] = "mark procedures",
        [SGC_GRAPH_FINALIZER] = "objects with finalizers", [SGC_GRAPH_DISCLAIM] = "objects with disclaim procedures",
    };

    return (unsigned)root < SGC_GRAPH_ROOTS ? names[root] : "unknown roots";
}

static void release_modules(struct sgc_graph *g)
{
    sgc_assert(g->module != NULL || g->modules == 0);
    for (uint32_t i = 0; i < g->modules; i++) {
        free(g->module[i].path);
        free(g->module[i].segment);
    }
    free(g->module);
}

void sgc_graph_release(struct sgc_graph *g)
{
    release_modules(g);
    free(g->type);
    free(g->type_of);
    free(g->site);
    free(g->frame);
    free(g->site_of);
    free(g->thread);
    free(g->object);
    free(g->edge);
    free(g->aim);
    free(g->range);
    free(g->root);
    free(g->page);
    free(g->node);
    *g = (struct sgc_graph){ .cycle = 0 };
}

/* ---- objects ---- */

/* Some of a page's slots are free: its objects are searched by halves. */
uint32_t sgc_graph_object_at(const struct sgc_graph *g, uint64_t offset)
{
    uint64_t number = offset >> g->geometry.page_log;
    const struct sgc_graph_object *first;
    const struct sgc_graph_page *page;
    uint32_t low;

    if (number >= g->pages)
        return SGC_GRAPH_NONE;
    page = &g->page[number];
    if (page->is == SGC_GRAPH_PAGE_TAIL) {
        sgc_assert(page->pages <= number);
        page -= page->pages;
    }
    first = &g->object[page->first_object];
    low = (uint32_t)sgc_sorted_up_to(&first->offset, page->objects, sizeof *first, offset);
    return low != 0 && offset - first[low - 1].offset < page->object_bytes ? page->first_object + low - 1 : SGC_GRAPH_NONE;
}

/* ---- names ---- */

uint32_t sgc_graph_module_at(const struct sgc_graph *g, uint64_t address)
{
    size_t low = g->modules != 0 ? sgc_sorted_up_to(&g->module->lo, g->modules, sizeof *g->module, address) : 0;

    sgc_assert(low <= g->modules);
    return low != 0 && address - g->module[low - 1].lo < g->module[low - 1].bytes ? (uint32_t)low - 1 : SGC_GRAPH_NONE;
}

const struct sgc_graph_thread *sgc_graph_thread(const struct sgc_graph *g, uint32_t number)
{
    for (uint32_t i = 0; i < g->threads; i++)
        if (g->thread[i].number == number)
            return &g->thread[i];
    return NULL;
}

/* ---- objects that can be reached ---- */

/* Objects wait on a stack that has room for each once. */
struct search {
    const struct sgc_graph *g;
    struct sgc_graph_reach *reach;
    uint32_t *stack;
    uint32_t used;
};

static void reach_object(struct search *s, uint32_t object)
{
    uint64_t bit = UINT64_C(1) << object % 64, *word = &s->reach->seen[object / 64];
    uint64_t bytes = sgc_graph_bytes(s->g, object);

    sgc_assert(s->used <= s->g->objects);
    if ((*word & bit) != 0)
        return;
    *word |= bit;
    s->reach->objects++;
    s->reach->bytes += bytes;
    s->reach->pointer_free += sgc_graph_has_words(s->g, object) ? 0 : bytes;
    s->stack[s->used++] = object;
}

static void follow(struct search *s)
{
    while (s->used != 0) {
        uint32_t object = s->stack[--s->used];
        uint64_t e = s->g->object[object].first_edge, end = s->g->object[object + 1].first_edge;

        sgc_assert(e <= end && end <= s->g->edges);
        s->reach->edges += end - e;
        for (; e < end; e++)
            reach_object(s, s->g->edge[e].target);
    }
}

static void reach_range(struct search *s, const struct sgc_graph_range *range, bool last)
{
    for (uint64_t r = range->first_root; r < range[1].first_root; r++) {
        uint32_t object = s->g->root[r].target;

        sgc_assert(r < s->g->roots && object < s->g->objects);
        if (sgc_graph_keeps_itself_only(s->g, range->root, object) != last)
            continue;
        reach_object(s, object);
        if (last)
            s->used = 0;
    }
    follow(s);
}

/* Objects that keep only themselves come last: other roots may lead to the same object. */
bool sgc_graph_reach(const struct sgc_graph *g, uint32_t roots, struct sgc_graph_reach *reach)
{
    struct search s = { g, reach, malloc(((size_t)g->objects + 1) * sizeof *s.stack), 0 };

    *reach = (struct sgc_graph_reach){ .seen = calloc((size_t)g->objects / 64 + 1, sizeof *reach->seen) };
    for (int last = 0; last < 2 && s.stack != NULL && reach->seen != NULL; last++)
        for (uint32_t i = 0; i < g->ranges; i++)
            if ((roots & SGC_GRAPH_BIT(g->range[i].root)) != 0)
                reach_range(&s, &g->range[i], last != 0);
    free(s.stack);
    return s.stack != NULL && reach->seen != NULL;
}

void sgc_graph_reach_release(struct sgc_graph_reach *reach)
{
    free(reach->seen);
    reach->seen = NULL;
}
