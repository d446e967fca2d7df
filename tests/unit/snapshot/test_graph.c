/* SPDX-License-Identifier: MIT */
/* snapshot/graph.c, make.c, check.c: graphs from arrays, what is reached in them, and that a wrong one is seen. */
#include "snapshot/graph.h"

#include "tests/lib/tap.h"

/* 0 -> 1 -> 2, 1 -> 3 twice, 4 -> 0; 3 is large; the root is 1. */
static const uint32_t sizes[] = { 32, 32, 32, 100000, 16 };
static const uint32_t from[] = { 0, 1, 1, 1, 4 }, to[] = { 1, 2, 3, 3, 0 }, root[] = { 1 };

static const struct sgc_graph_arrays arrays = {
    .objects = 5, .bytes = sizes, .edges = 5, .from = from, .to = to, .roots = 1, .root = root,
};

static void test_made(struct sgc_graph *g)
{
    tap_ok(sgc_graph_make(g, &arrays) && sgc_graph_check(g) == NULL, "a graph is made from arrays, and its parts fit");
    tap_ok(g->objects == 5 && g->edges == 5 && g->bytes == 100112 && g->roots == 1, "with all that they have");
    tap_ok(sgc_graph_bytes(g, 3) == 100000 && sgc_graph_bytes(g, 4) == 16 && sgc_graph_bytes(g, 2) == 32, "and their sizes");
    tap_ok(sgc_graph_edges_of(g, 1) == 3 && g->edge[g->object[1].first_edge + 2].target == 3 &&
           g->edge[g->object[1].first_edge + 2].word == 2, "edges are in the order of their words");
    tap_ok(sgc_graph_address(g, 1) - sgc_graph_address(g, 0) == 32, "objects of one size lie in one page");
}

static void test_found(const struct sgc_graph *g)
{
    uint64_t second = g->object[1].offset, large = g->object[3].offset;

    tap_ok(sgc_graph_object_at(g, second) == 1 && sgc_graph_object_at(g, second + 31) == 1 &&
           sgc_graph_object_at(g, second + 32) == 2, "an address inside an object is its");
    tap_ok(sgc_graph_object_at(g, second + 64) == SGC_GRAPH_NONE && sgc_graph_object_at(g, 0) == SGC_GRAPH_NONE &&
           sgc_graph_object_at(g, UINT64_MAX) == SGC_GRAPH_NONE, "one behind the last is nobody's, nor is one outside");
    tap_ok(sgc_graph_object_at(g, large + 99999) == 3 && sgc_graph_object_at(g, large + 100000) == SGC_GRAPH_NONE,
           "a large object has all of its pages, and nothing behind its end");
}

static void test_reached(struct sgc_graph *g)
{
    struct sgc_graph_reach reach;

    tap_ok(sgc_graph_reach(g, SGC_GRAPH_ALL_ROOTS, &reach) && reach.objects == 3 && reach.bytes == 100064 && reach.edges == 3,
           "what the root leads to is reached, each object once");
    tap_ok(sgc_graph_seen(&reach, 3) && !sgc_graph_seen(&reach, 0), "and nothing that only leads there");
    sgc_graph_reach_release(&reach);
    g->kind[1].scan = SGC_GRAPH_SCAN_NOTHING;
    sgc_graph_reach(g, SGC_GRAPH_BIT(SGC_GRAPH_STATIC), &reach);
    tap_ok(reach.pointer_free == reach.bytes, "objects of a kind without words are counted");
    sgc_graph_reach_release(&reach);
    g->kind[1].scan = SGC_GRAPH_SCAN_WORDS;
    sgc_graph_reach(g, SGC_GRAPH_BIT(SGC_GRAPH_STACK), &reach);
    tap_ok(reach.objects == 0, "roots of other kinds lead nowhere");
    sgc_graph_reach_release(&reach);
}

/* What keeps an object by itself only must not hide what another root leads to. */
static void test_kept_by_itself(struct sgc_graph *g)
{
    struct sgc_graph_reach reach;

    g->range[0].root = SGC_GRAPH_DISCLAIM;
    g->kind[1].disclaims = true;
    sgc_graph_reach(g, SGC_GRAPH_ALL_ROOTS, &reach);
    tap_ok(reach.objects == 1, "a dead object that is asked about is kept by itself");
    sgc_graph_reach_release(&reach);
    g->kind[1].keeps_contents = true;
    sgc_graph_reach(g, SGC_GRAPH_ALL_ROOTS, &reach);
    tap_ok(reach.objects == 3, "or with what it leads to");
    sgc_graph_reach_release(&reach);
    g->range[0].root = SGC_GRAPH_STATIC;
}

#define SEES(what, field, wrong)                                                                      \
    do {                                                                                              \
        __typeof__(field) right_ = (field);                                                           \
        (field) = (wrong);                                                                            \
        tap_ok(sgc_graph_check(g) != NULL, "the check sees that %s: %s", what,                        \
               sgc_graph_check(g) != NULL ? sgc_graph_check(g) : "no");                               \
        (field) = right_;                                                                             \
    } while (0)

static void test_check(struct sgc_graph *g)
{
    uint32_t small = sgc_graph_page_of(g, 0);

    SEES("an edge leads to nothing", g->edge[2].target, 5);
    SEES("a word lies behind its object", g->edge[2].word, 4);
    SEES("words are in disorder", g->edge[2].word, 0);
    SEES("a word comes behind what is in no word", g->edge[2].word, SGC_GRAPH_NO_WORD);
    SEES("objects overlap", g->object[1].offset, g->object[0].offset + 16);
    SEES("edges overlap", g->object[1].first_edge, 5);
    SEES("an edge is nobody's", g->object[5].first_edge, 4);
    SEES("a root leads to nothing", g->root[0].target, 5);
    SEES("a root is of no kind", g->range[0].root, SGC_GRAPH_ROOTS);
    SEES("a root is of no range", g->range[1].first_root, 0);
    SEES("a page's kind is none", g->page[small].kind, 4);
    SEES("a page has too many objects", g->page[small].objects, 4);
    SEES("the sum is wrong", g->bytes, 1);
    SEES("a tail leads nowhere", g->page[sgc_graph_page_of(g, 3) + 1].pages, 0);
    tap_ok(sgc_graph_check(g) == NULL, "and nothing else");
    g->edge[2].word = g->edge[3].word = SGC_GRAPH_NO_WORD;
    tap_ok(sgc_graph_check(g) == NULL, "edges in no word come last, and any number of them");
    g->edge[2].word = 1;
    g->edge[3].word = 2;
}

int main(void)
{
    struct sgc_graph g;
    const struct sgc_graph_arrays none = { .objects = 0 };

    test_made(&g);
    test_found(&g);
    test_reached(&g);
    test_kept_by_itself(&g);
    test_check(&g);
    sgc_graph_release(&g);
    tap_ok(sgc_graph_make(&g, &none) && sgc_graph_check(&g) == NULL && g.bytes == 0, "there may be no objects");
    sgc_graph_release(&g);
    return tap_done();
}
