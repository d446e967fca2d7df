/* SPDX-License-Identifier: MIT */
/* See snapshot/tools/snapshot_stats.h. */
#include "snapshot/tools/snapshot_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 48 };                    /* powers of two */

static void print(const char *name, uint64_t value)
{
    printf("%s %" PRIu64 "\n", name, value);
}

/* ---- what is reached ---- */

static void print_reach(const char *name, const struct sgc_graph_reach *reach)
{
    sgc_assert(reach->pointer_free <= reach->bytes);
    printf("%s_objects %" PRIu64 "\n%s_bytes %" PRIu64 "\n%s_pointer_free_bytes %" PRIu64 "\n%s_edges %" PRIu64 "\n", name,
           reach->objects, name, reach->bytes, name, reach->pointer_free, name, reach->edges);
}

static bool print_reached(const struct sgc_graph *g, const char *name, uint32_t roots, struct sgc_graph_reach *reach)
{
    bool done = sgc_graph_reach(g, roots, reach);

    sgc_assert(!done || reach->objects <= g->objects);
    if (done)
        print_reach(name, reach);
    return done;
}

/* ---- sizes, of what is reached ---- */

static void print_sizes(const struct sgc_graph *g, const struct sgc_graph_reach *reach)
{
    uint64_t objects[SIZES] = { 0 }, bytes[SIZES] = { 0 }, largest = 0;

    for (uint32_t i = 0; i < g->objects; i++) {
        uint64_t size = sgc_graph_bytes(g, i);
        int log = 63 - __builtin_clzll(size);

        if (!sgc_graph_seen(reach, i))
            continue;
        sgc_assert(size != 0 && log < SIZES);
        objects[log]++;
        bytes[log] += size;
        largest = size > largest ? size : largest;
    }
    print("largest_object", largest);
    for (int log = 0; log < SIZES; log++)
        if (objects[log] != 0)
            printf("size_from_%" PRIu64 " %" PRIu64 " objects, %" PRIu64 " bytes\n", UINT64_C(1) << log, objects[log],
                   bytes[log]);
}

/* ---- roots ---- */

static void print_roots(const struct sgc_graph *g)
{
    uint64_t ranges[SGC_GRAPH_ROOTS] = { 0 }, bytes[SGC_GRAPH_ROOTS] = { 0 }, words[SGC_GRAPH_ROOTS] = { 0 };

    for (uint32_t i = 0; i < g->ranges; i++) {
        const struct sgc_graph_range *range = &g->range[i];

        sgc_assert(range->root < SGC_GRAPH_ROOTS);
        ranges[range->root]++;
        bytes[range->root] += range->bytes;
        words[range->root] += range[1].first_root - range->first_root;
    }
    for (int root = 0; root < SGC_GRAPH_ROOTS; root++)
        if (ranges[root] != 0)
            printf("roots %s: %" PRIu64 " ranges, %" PRIu64 " bytes, %" PRIu64 " lead to objects\n",
                   sgc_graph_root_name((enum sgc_graph_root)root), ranges[root], bytes[root], words[root]);
}

/* ---- pages ---- */

/* By the thread that was the first to use them; [Endo] takes a page's node to be that thread's. */
static bool print_homes(const struct sgc_graph *g)
{
    uint64_t *pages = calloc(UINT16_MAX + 1, sizeof *pages), foreign = 0, used = 0;

    if (pages == NULL)
        return false;
    for (uint32_t i = 0; i < g->pages; i++) {
        const struct sgc_graph_page *page = &g->page[i];

        if (page->is == SGC_GRAPH_PAGE_NONE)
            continue;
        used++;
        pages[page->home]++;
        foreign += page->is == SGC_GRAPH_PAGE_SMALL && page->owner != page->home;
    }
    print("pages", used);
    print("pages_of_other_homes", foreign);
    for (uint32_t home = 0; home <= UINT16_MAX; home++)
        if (pages[home] != 0)
            printf("home_%" PRIu32 " %" PRIu64 " pages\n", home, pages[home]);
    free(pages);
    return true;
}

bool sgc_snapshot_print_stats(const struct sgc_graph *g)
{
    struct sgc_graph_reach marked = { .seen = NULL }, kept = { .seen = NULL };
    bool done;

    print("objects", g->objects);
    print("bytes", g->bytes);
    print("edges", g->edges);
    print("words_to_nothing", g->words - g->edges);
    print("root_bytes", g->root_bytes);
    done = print_reached(g, "mark", SGC_GRAPH_MARK_ROOTS, &marked) && print_reached(g, "cycle", SGC_GRAPH_ALL_ROOTS, &kept);
    if (done) {
        print_sizes(g, &marked);
        print_roots(g);
        done = print_homes(g);
    }
    sgc_graph_reach_release(&marked);
    sgc_graph_reach_release(&kept);
    return done;
}
