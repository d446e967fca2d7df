/* SPDX-License-Identifier: MIT */
/* Graphs from arrays: sgc_graph_make. */
#include "snapshot/graph.h"

#include <stdlib.h>

enum {
    GRANULE_LOG = 4, PAGE_LOG = 16, ARENA_LOG = 22,
    PAGE = 1 << PAGE_LOG,
    SMALL_MAX = 21840,              /* larger objects have pages of their own */
    KIND_WORDS = 1,
};

static const uint64_t BASE = UINT64_C(1) << 40;

/* Where the next object goes. */
struct place {
    uint32_t page, used;            /* page: 0 before the first, since an offset of 0 is nobody's;
                                       used: bytes of it */
    uint32_t bytes;                 /* of its objects; 0: of a span */
};

static uint32_t pages_of(uint32_t bytes)
{
    return (uint32_t)(((uint64_t)bytes + PAGE - 1) / PAGE);
}

/* The page of the next object; `used` is where it begins there, then where it ends. */
static struct place next_place(struct place at, uint32_t bytes)
{
    sgc_assert(bytes != 0 && bytes % (1 << GRANULE_LOG) == 0);
    if (at.page != 0 && at.bytes == bytes && at.used + bytes <= PAGE)
        return (struct place){ at.page, at.used + bytes, bytes };
    at.page += at.page == 0 ? 1 : pages_of(at.used);
    return (struct place){ at.page, bytes, bytes <= SMALL_MAX ? bytes : 0 };
}

static uint32_t count_pages(const struct sgc_graph_arrays *a)
{
    struct place at = { 0, 0, 0 };

    for (uint32_t i = 0; i < a->objects; i++)
        at = next_place(at, a->bytes[i]);
    return at.page + (at.page == 0 ? 1 : pages_of(at.used));
}

static bool get_memory(struct sgc_graph *g)
{
    g->object = calloc((size_t)g->objects + 1, sizeof *g->object);
    g->edge = calloc((size_t)g->edges + 1, sizeof *g->edge);
    g->range = calloc((size_t)g->ranges + 1, sizeof *g->range);
    g->root = calloc((size_t)g->roots + 1, sizeof *g->root);
    g->page = calloc((size_t)g->pages, sizeof *g->page);
    return g->object != NULL && g->edge != NULL && g->range != NULL && g->root != NULL && g->page != NULL;
}

static void fill_page(struct sgc_graph *g, uint32_t first, uint32_t bytes, uint32_t object)
{
    bool small = bytes <= SMALL_MAX;

    sgc_assert(first + (small ? 1 : pages_of(bytes)) <= g->pages);
    g->page[first] = (struct sgc_graph_page){
        .object_bytes = bytes, .reach = bytes, .first_object = object, .pages = small ? 1 : pages_of(bytes),
        .is = small ? SGC_GRAPH_PAGE_SMALL : SGC_GRAPH_PAGE_SPAN, .kind = KIND_WORDS,
    };
    for (uint32_t i = 1; i < g->page[first].pages; i++)
        g->page[first + i] = (struct sgc_graph_page){
            .pages = i, .first_object = object + 1, .is = SGC_GRAPH_PAGE_TAIL, .kind = KIND_WORDS,
        };
}

static void fill_objects(struct sgc_graph *g, const struct sgc_graph_arrays *a)
{
    struct place at = { 0, 0, 0 };

    for (uint32_t i = 0; i < g->objects; i++) {
        uint32_t before = at.page;

        at = next_place(at, a->bytes[i]);
        if (at.page != before)
            fill_page(g, at.page, a->bytes[i], i);
        g->page[at.page].objects++;
        g->object[i].offset = ((uint64_t)at.page << PAGE_LOG) + at.used - a->bytes[i];
        g->bytes += a->bytes[i];
    }
}

static void fill_edges(struct sgc_graph *g, const struct sgc_graph_arrays *a)
{
    uint64_t e = 0;

    for (uint32_t i = 0; i < g->objects; i++) {
        g->object[i].first_edge = e;
        for (uint32_t word = 0; e < a->edges && a->from[e] == i; e++, word++) {
            sgc_assert(a->to[e] < g->objects && (word + 1) * g->geometry.word <= a->bytes[i]);
            g->edge[e] = (struct sgc_graph_edge){ a->to[e], word };
        }
    }
    sgc_assert(e == a->edges);
    g->object[g->objects].first_edge = e;
}

static void fill_roots(struct sgc_graph *g, const struct sgc_graph_arrays *a)
{
    g->range[0] = (struct sgc_graph_range){ .lo = BASE / 2, .bytes = g->root_bytes, .root = SGC_GRAPH_STATIC };
    g->range[1] = (struct sgc_graph_range){ .first_root = g->roots };
    for (uint32_t r = 0; r < a->roots; r++) {
        sgc_assert(a->root[r] < g->objects);
        g->root[r] = (struct sgc_graph_root_word){ .word = r, .target = a->root[r] };
    }
}

bool sgc_graph_make(struct sgc_graph *g, const struct sgc_graph_arrays *a)
{
    *g = (struct sgc_graph){
        .geometry = { .base = BASE, .word = 8, .granule_log = GRANULE_LOG, .page_log = PAGE_LOG, .arena_log = ARENA_LOG },
        .objects = a->objects, .edges = a->edges, .words = a->edges, .ranges = 1, .roots = a->roots,
        .root_bytes = UINT64_C(8) * a->roots, .pages = count_pages(a), .kinds = 4, .nodes = 1,
        .kind = { [KIND_WORDS] = { .scan = SGC_GRAPH_SCAN_WORDS },
                  [2] = { .scan = SGC_GRAPH_SCAN_WORDS, .uncollectable = true }, [3] = { .uncollectable = true } },
    };
    if (!get_memory(g))
        return false;
    g->geometry.limit = (uint64_t)g->pages << PAGE_LOG;
    g->arenas = (uint32_t)((g->geometry.limit + (1 << ARENA_LOG) - 1) >> ARENA_LOG);
    fill_objects(g, a);
    fill_edges(g, a);
    fill_roots(g, a);
    return true;
}
