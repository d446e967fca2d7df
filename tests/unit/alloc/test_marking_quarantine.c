/* SPDX-License-Identifier: MIT */
/*
 * alloc/marking.c: while a mark goes on beside the program no page in use is swept, taken down or given to the pool, whoever
 * asks for it; what was found empty before is, since nothing was in it.
 */
#include "alloc/large/span.h"
#include "tests/lib/heap.h"

enum { BYTES = 256, PAGES = 3, N = PAGES * SGC_PAGE / BYTES, KIND = SGC_KIND_CONSERVATIVE };

static struct sgc_cache *cache;
static struct sgc_section *self;
static char *object[N];

static void alloc_objects(struct sgc_cache *c)
{
    for (int i = 0; i < N; i++)
        object[i] = heap_small(c, BYTES, KIND);
}

static char *span(size_t pages, uint32_t kind)
{
    char *start = sgc_span_alloc(self, pages * SGC_PAGE, kind, SGC_GRANULE);

    if (start == NULL)
        tap_bail("no span of %zu pages", pages);
    return start;
}

static uint8_t state_of(const char *p)
{
    return sgc_page_state(&sgc_heap.pages[heap_page(p)]);
}

static void empty(const char *name)
{
    heap_empty();
    sgc_span_give_cached(cache->id, self);
    tap_ok(heap_count_allocated() == 0 && heap_in_use() == 0, "%s: nothing is left over", name);
    sgc_heap_check();
}

/* ---- pages of small objects ---- */

static bool sweeps_nothing(void)
{
    uint32_t most = 100;

    return !sgc_sweep_ahead(100, self) && !sgc_sweep_cache(cache, &most, self) && most == 100 && !sgc_span_sweep(100, self) &&
           !sgc_orphan_sweep(100, self);
}

static void test_pages(void)
{
    size_t before, used;
    int small = 0;

    alloc_objects(cache);
    heap_collect(NULL, 0);
    heap_marking_begin();           /* so there is a page to be swept in the epoch that comes */
    alloc_objects(cache);
    before = heap_in_use();
    for (int i = 0; i < N; i++) {
        heap_set_mark(object[i]);
        sgc_object_free(cache, object[i]);
    }
    tap_ok(sweeps_nothing() && heap_in_use() == before, "nothing is left to sweep while a mark goes on");
    used = sgc_policy_free_touched(self);
    for (int i = 0; i < N; i++)
        small += state_of(object[i]) == SGC_PAGE_SMALL;
    tap_ok(small == N && heap_in_use() == before, "pages that became empty stay as they are");
    tap_ok(heap_marking_end() == (size_t)N * BYTES && heap_count_allocated() == 0, "what was in them is gone after the flip");
    tap_ok(sgc_policy_free_touched(self) > used && heap_in_use() == 0, "and then they are found");
    empty("pages");
}

/* ---- orphans ---- */

static void test_orphans(void)
{
    struct sgc_cache *c = heap_cache();
    uint32_t adopted = 0;
    size_t before;

    heap_marking_begin();
    alloc_objects(c);
    for (int i = 0; i < N; i++)
        heap_set_mark(object[i]);
    heap_cache_end(c);
    before = heap_in_use();
    for (int i = 1; i < N; i++)
        sgc_object_free(cache, object[i]);
    tap_ok(sgc_aw_load(&sgc_orphans.count) != 0 && sweeps_nothing(), "orphans are not swept while a mark goes on");
    cache->bin[KIND][sgc_class_for(BYTES / SGC_GRANULE)].size = BYTES;
    adopted = sgc_orphan_adopt(cache, KIND, sgc_class_for(BYTES / SGC_GRANULE), SGC_READY_MAX);
    tap_ok(adopted >= PAGES && sgc_page_owner(heap_page(object[N - 1])) == cache->id && heap_in_use() == before,
           "they are adopted, though some are empty (%u)", adopted);
    tap_ok(heap_marking_end() == (size_t)(N - 1) * BYTES && heap_count_allocated() == 1 && heap_allocated(object[0]),
           "what was freed of them is free after the flip");
    heap_sweep_all();
    tap_ok(heap_in_use() == 1, "and empty ones go");
    empty("orphans");
}

/* ---- spans ---- */

/* One that no thread keeps as a spare one. */
static void test_span_freed(void)
{
    char *a = span(4, SGC_KIND_UNCOLLECTABLE), *b = span(2, SGC_KIND_UNCOLLECTABLE);
    size_t before = heap_in_use();

    heap_marking_begin();
    heap_set_mark(a);
    heap_set_mark(b);
    sgc_span_take_bytes();
    tap_ok(sgc_span_free(self, heap_page(a)) && !heap_allocated(a) && sgc_span_take_bytes().freed == 4 * SGC_PAGE,
           "a span is freed");
    tap_ok(!sgc_span_free(self, heap_page(a)) && sgc_span_take_bytes().freed == 0, "once");
    tap_ok(state_of(a) == SGC_PAGE_SPAN && state_of(a + SGC_PAGE) == SGC_PAGE_SPAN_TAIL && heap_in_use() == before &&
           sweeps_nothing(), "its pages stay as they are while a mark goes on");
    sgc_heap_check();
    tap_ok(heap_marking_end() == 4 * SGC_PAGE && heap_count_allocated() == 1 && heap_allocated(b), "it is gone after the flip");
    heap_sweep_all();
    tap_ok(heap_in_use() == 2, "and so are its pages after the sweep");
    sgc_span_free(self, heap_page(b));
    empty("spans");
}

static void test_spare(void)
{
    char *a, *b;
    size_t before;

    heap_marking_begin();
    a = span(3, KIND);
    before = heap_in_use();
    heap_set_mark(a);
    tap_ok(sgc_span_free(self, heap_page(a)) && sgc_cached_span_pages(cache->id) == 3, "a freed span is kept as a spare one");
    memset(a, 0x5a, 100);
    b = span(3, KIND);
    tap_ok(b == a && heap_allocated(b) && heap_zero(b, 3 * SGC_PAGE) && heap_in_use() == before, "and used again");
    tap_ok(heap_marking_end() == 0 && heap_count_allocated() == 1 && heap_allocated(a), "with the mark that it has");
    empty("spare spans, marked");
    heap_marking_begin();
    a = span(3, KIND);
    sgc_span_free(self, heap_page(a));
    tap_ok(span(3, KIND) == a && heap_marking_end() == 0 && heap_count_allocated() == 0, "or without");
    empty("spare spans");
}

/* Both when its thread ends and when memory runs out. */
static void test_spares_kept(void)
{
    struct sgc_cache *c = heap_cache();
    char *a;
    size_t before;

    heap_marking_begin();
    a = sgc_span_alloc(&c->section, 3 * SGC_PAGE, KIND, SGC_GRANULE);
    before = heap_in_use();
    sgc_span_free(&c->section, heap_page(a));
    sgc_span_give_cached(c->id, &c->section);
    tap_ok(sgc_cached_span_pages(c->id) == 3 && heap_in_use() == before, "spare spans are not given up while a mark goes on");
    heap_cache_end(c);
    tap_ok(heap_in_use() == before && state_of(a) == SGC_PAGE_SPAN && !heap_allocated(a), "nor when their thread ends");
    tap_ok(sgc_cache_open(c, false) && sgc_span_alloc(&c->section, 3 * SGC_PAGE, KIND, SGC_GRANULE) == a,
           "the next thread of its number uses them");
    heap_cache_end(c);
    heap_marking_end();
    empty("spare spans kept");
}

static void test_shrink(void)
{
    char *a = span(5, KIND);
    uint32_t page = heap_page(a);

    memset(a, 0x5a, 5 * SGC_PAGE);
    heap_marking_begin();
    heap_set_mark(a);
    tap_ok(sgc_span_resize(self, page, 2 * SGC_PAGE) && sgc_span_bytes(page) == 2 * SGC_PAGE, "a span becomes smaller");
    tap_ok(heap_in_use() == 5 && state_of(a + 4 * SGC_PAGE) == SGC_PAGE_SPAN_TAIL, "its pages stay while a mark goes on");
    tap_ok(sgc_span_resize(self, page, 5 * SGC_PAGE) && heap_filled(a, 2 * SGC_PAGE, 0x5a) &&
           heap_zero(a + 2 * SGC_PAGE, 3 * SGC_PAGE), "so it can be as large again, zeroed");
    sgc_span_resize(self, page, 2 * SGC_PAGE);
    tap_ok(heap_marking_end() == 0 && heap_in_use() == 5 && heap_allocated(a), "nor do they go by the flip");
    sgc_heap_check();
    tap_ok(sgc_span_resize(self, page, 2 * SGC_PAGE) && heap_in_use() == 2, "but when it is resized again");
    empty("resized spans");
}

static const char *in_hands;            /* begins with this page */

/* A thread under a guard stands still where it has made a page a tail. */
static void begin_at_tail(void)
{
    if (state_of(in_hands) != SGC_PAGE_SPAN_TAIL)
        return;
    sgc_section_hooks.seam = NULL;
    heap_marking_begin();
}

static void test_grow(void)
{
    char *a = span(5, KIND);
    uint32_t page = heap_page(a);

    sgc_span_resize(self, page, 2 * SGC_PAGE);
    in_hands = a + 2 * SGC_PAGE;
    heap_marking_begin();
    heap_set_mark(a);
    tap_ok(!sgc_span_resize(self, page, 3 * SGC_PAGE) && heap_in_use() == 2 && state_of(in_hands) == SGC_PAGE_FREE,
           "a span takes no more pages while a mark goes on");
    heap_marking_end();
    sgc_section_hooks.seam = begin_at_tail;
    tap_ok(!sgc_span_resize(self, page, 3 * SGC_PAGE) && sgc_heap_is_marking() && heap_in_use() == 2 &&
           state_of(in_hands) == SGC_PAGE_FREE, "nor keeps those that are in hand when it begins");
    heap_set_mark(a);
    heap_marking_end();
    sgc_heap_check();
    tap_ok(sgc_span_resize(self, page, 3 * SGC_PAGE) && heap_in_use() == 3 && heap_allocated(a), "afterwards it grows");
    empty("grown spans");
}

/* ---- in a thread's hands when the mark begins ---- */

static uint32_t reserved_from;

/* A thread under a guard stands still where it has just let the lock go. */
static void begin_at_seam(void)
{
    if (state_of(in_hands) == SGC_PAGE_SMALL || (reserved_from == 0 && state_of(in_hands) == SGC_PAGE_SPAN) ||
        (reserved_from != 0 && sgc_heap.records[heap_page(in_hands)].span_pages > reserved_from))
        return;
    sgc_section_hooks.seam = NULL;
    heap_marking_begin();
}

static void free_span(void)
{
    sgc_span_free(self, heap_page(in_hands));
}

static void shrink_span(void)
{
    sgc_span_resize(self, heap_page(in_hands), reserved_from * SGC_PAGE);
}

static void sweep_spans(void)
{
    sgc_span_sweep(1, self);
}

static void sweep_pages(void)
{
    uint32_t most = 1;

    sgc_guard_enter(self);
    sgc_sweep_cache(cache, &most, self);
    sgc_guard_leave(self);
}

/* Pages that held nothing when the mark began are given to the pool, used again, marked and freed, like others. */
static void test_in_hands(char *start, uint32_t keeps, void (*give)(void), const char *name)
{
    size_t before, pages;

    in_hands = start;
    reserved_from = keeps;
    before = heap_in_use();
    sgc_section_hooks.seam = begin_at_seam;
    give();
    tap_ok(sgc_heap_is_marking() && heap_in_use() < before, "%s: pages in hand when a mark begins are given to the pool", name);
    pages = before - heap_in_use();
    before = heap_in_use();
    for (size_t i = 0; i < pages * SGC_PAGE / BYTES; i++)
        object[i] = heap_small(cache, BYTES, KIND);
    heap_set_mark(object[0]);
    heap_set_mark(object[1]);
    sgc_object_free(cache, object[1]);
    tap_ok(state_of(object[0]) == SGC_PAGE_SMALL && heap_in_use() == before + pages, "%s: and used again", name);
    if (keeps != 0)
        heap_set_mark(start);
    tap_ok(heap_marking_end() == BYTES && heap_count_allocated() == 1 + (keeps != 0) && heap_allocated(object[0]),
           "%s: as exactly as others", name);
    empty(name);
}

static char *unswept_span(void)
{
    char *start = span(2, KIND);

    heap_collect(NULL, 0);
    return start;
}

static char *unswept_page(void)
{
    char *start = heap_small(cache, BYTES, KIND);

    heap_collect(NULL, 0);
    return start;
}

static void test_hands(void)
{
    test_in_hands(span(2, SGC_KIND_UNCOLLECTABLE), 0, free_span, "freed");
    test_in_hands(span(3, KIND), 1, shrink_span, "resized");
    test_in_hands(unswept_span(), 0, sweep_spans, "swept");
    test_in_hands(unswept_page(), 0, sweep_pages, "a small page swept");
}

int main(void)
{
    struct sgc_heap_config config = {
        .reserve = (size_t)16 * SGC_ARENA, .interior_pointers = true, .end_byte = true, .spare_pages = 40,
    };

    heap_start_with(&config);
    cache = sgc_self;
    self = &cache->section;
    return tap_all(test_pages, test_orphans, test_span_freed, test_spare, test_spares_kept, test_shrink, test_grow,
                   test_hands);
}
