/* SPDX-License-Identifier: MIT */
/*
 * mark/edge.c: which edges into large objects mark them, and that those are left out whose spans are marked, where
 * there are many, without losing any other.
 */
#include "mark/edge.h"
#include "tests/lib/heap.h"

enum { SPANS = 48, PAGES = 4, BYTES = PAGES * SGC_PAGE - 1000, REPEATED = 4096 };

static char *span[SPANS];

static void make_spans(void)
{
    for (int i = 0; i < SPANS; i++)
        span[i] = heap_alloc(sgc_self, BYTES, SGC_KIND_POINTER_FREE);
    heap_retire();
}

static uintptr_t edge_to(const void *p)
{
    return (uintptr_t)p - sgc_heap.base;
}

static size_t marked_spans(void)
{
    size_t n = 0;

    for (int i = 0; i < SPANS; i++)
        n += heap_marked(span[i]);
    return n;
}

/* Marks what a conservative object leads to that has these words. */
static void mark_words(void *const *words, size_t count, const struct sgc_mark_config *config)
{
    void **object = heap_alloc(sgc_self, count * sizeof *words, SGC_KIND_CONSERVATIVE);

    memcpy(object, words, count * sizeof *words);
    heap_retire();
    heap_mark(config, &object, 1);
}

static void test_where(void)
{
    void *inside[] = { span[0], span[1] + 5, span[2] + SGC_PAGE, span[3] + BYTES - 1 };
    void *outside[] = { span[4] + PAGES * SGC_PAGE - 1 };

    mark_words(outside, 1, &HEAP_MARK);
    tap_ok(marked_spans() == 0, "behind the last byte: nothing is marked");
    heap_unmark();
    mark_words(inside, 4, &HEAP_MARK);
    tap_ok(marked_spans() == 4 && heap_marked(span[2]) && heap_marked(span[3]), "anywhere inside: %zu of 4", marked_spans());
    heap_unmark();
}

static void test_first_bytes(const struct sgc_mark_config *config)
{
    static void *words[REPEATED];

    heap_marker_end();
    for (int i = 0; i < REPEATED; i++)
        words[i] = i % 2 == 0 ? span[0] + i / 32 * 8 : span[1] + 8;
    mark_words(words, REPEATED, config);
    tap_ok(heap_marked(span[0]) && marked_spans() == 1, "interior pointers off: only first bytes count");
    heap_unmark();
}

/* Three edges a span, of which every third is marked. */
static void test_sift(void)
{
    uintptr_t edge[SPANS * 3], expected[SPANS * 3];
    size_t n = 0, left, wanted = 0, wrong = 0;
    struct sgc_marker *marker;

    sgc_team_begin(heap_alone(&HEAP_MARK), 1);
    marker = heap_marker();
    for (int i = 0; i < SPANS; i += 3)
        sgc_mark_span_at(marker, edge_to(span[i]), NULL);
    for (int i = 0; i < SPANS; i++) {
        size_t before = n;

        edge[n++] = edge_to(span[i]);
        edge[n++] = edge_to(span[i] + SGC_PAGE - 1);
        edge[n++] = edge_to(span[i] + SGC_PAGE);
        for (size_t k = i % 3 == 0 ? before + 2 : before; k < n; k++)
            expected[wanted++] = edge[k];
    }
    left = sgc_drop_marked_spans(marker, edge, n);
    for (size_t i = 0; i < left && i < wanted; i++)
        wrong += edge[i] != expected[i];
    tap_ok(left == wanted && wrong == 0, "sifted: %zu of %zu edges are left, %zu expected, in order", left, n, wanted);
    tap_ok(marker->drops_marked_spans, "many were left out: the next ones are sifted, too");
    left = sgc_drop_marked_spans(marker, edge, SGC_SPANS_MANY - 1);
    tap_ok(!marker->drops_marked_spans, "of few edges few can be left out: no longer sifted");
    sgc_team_mark(heap_alone(&HEAP_MARK), NULL);
    heap_unmark();
}

/* Words that lead to one span again and again, then to all others and to small objects, each to a page of its own in turn. */
static void test_none_is_lost(const struct sgc_mark_config *config, bool inside, const char *name)
{
    static void *words[REPEATED + 3 * SPANS];
    char *small[SPANS];
    size_t n = 0, small_marked = 0, spans, sifted;

    heap_marker_end();
    for (int i = 0; i < SPANS; i++)
        small[i] = heap_alloc(sgc_self, 40, SGC_KIND_POINTER_FREE);
    for (; n < REPEATED; n++)
        words[n] = span[0] + (inside ? n % SGC_PAGE : 0);
    for (int i = 1; i < SPANS; i++) {
        words[n++] = span[i] + (inside ? i % PAGES * (int)SGC_PAGE : 0);
        words[n++] = small[i];
        words[n++] = span[0];
    }
    mark_words(words, REPEATED, config);
    sifted = heap_marker()->drops_marked_spans;
    heap_unmark();
    mark_words(words, n, config);
    for (int i = 0; i < SPANS; i++)
        small_marked += heap_marked(small[i]);
    spans = marked_spans();
    tap_ok(sifted && spans == SPANS && small_marked == SPANS - 1 && heap_marker()->objects == 2 * SPANS,
           "%s: %zu spans, %zu small objects and the array are marked, each once (%zu)", name, spans, small_marked,
           heap_marker()->objects);
    heap_unmark();
}

static void test_small_only(void)
{
    void *words[REPEATED / 64];
    bool before;

    for (int i = 0; i < REPEATED / 64; i++)
        words[i] = heap_alloc(sgc_self, 40, SGC_KIND_POINTER_FREE);
    mark_words((void *[]){ span[0] }, 1, &HEAP_MARK);
    before = heap_marker()->drops_marked_spans;
    heap_unmark();
    heap_marker()->drops_marked_spans = true;
    mark_words(words, REPEATED / 64, &HEAP_MARK);
    tap_ok(!before && !heap_marker()->drops_marked_spans, "where no spans are met, nothing is sifted for long");
    heap_unmark();
}

int main(void)
{
    struct sgc_mark_config no_interior = HEAP_MARK;

    no_interior.interior_pointers = false;
    heap_start((size_t)2 << 30, 0, false);
    make_spans();
    tap_each(test_where, test_sift);
    test_none_is_lost(&HEAP_MARK, true, "pointers into all pages");
    test_first_bytes(&no_interior);
    test_none_is_lost(&no_interior, false, "interior pointers off");
    heap_marker_end();
    test_small_only();
    sgc_heap_check();
    return tap_done();
}
