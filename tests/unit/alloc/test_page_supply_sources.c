/* SPDX-License-Identifier: MIT */
/*
 * The policies on the heap: in which order PS, AL and LPS(k) ask the sources for a page, onto whose list a page
 * goes back and when it leaves it, and that nobody is refused a page while somebody has a free one.  Each case has
 * a heap of its own, in a child.
 */
#include "alloc/pages/pool.h"
#include "alloc/pages/live_pages.h"
#include "alloc/page_supply.h"
#include "tests/lib/child.h"
#include "tests/lib/heap.h"

enum { MOST = 64, BYTES = 21840 };

static struct sgc_cache *a, *b, *c;
static struct sgc_page_figures figures;

/* Three owners on a heap of 64 arenas under a rule. */
static void start(enum sgc_page_policy policy, uint32_t k, size_t limit)
{
    heap_start((size_t)64 * SGC_ARENA, limit * SGC_PAGE, false);
    sgc_heap.config.page_rule = (struct sgc_page_rule){ policy, k };
    a = sgc_self;
    b = heap_cache();
    c = heap_cache();
    a->max_pages = b->max_pages = c->max_pages = 1;      /* so that each is one that has been asked for */
}

/* A page, and something is written to it. */
static uint32_t take(struct sgc_cache *cache)
{
    struct sgc_taken taken;

    if (sgc_policy_take_singles(cache, 1, &taken) != 1)
        return SGC_NO_PAGE;
    sgc_heap.records[taken.page].zero_from = 1;
    return taken.page;
}

static void take_all(struct sgc_cache *cache, uint32_t *page, int n)
{
    for (int i = 0; i < n; i++)
        page[i] = take(cache);
}

static void give_all(const struct sgc_cache *owner, const uint32_t *page, int n)
{
    sgc_pool_give_singles(page, (uint32_t)n, owner->id, &a->section);
}

/* Takes n pages and says by letters where they came from. */
static const char *sources(struct sgc_cache *cache, int n)
{
    static const char letters[] = "-ONAOF";         /* as enum sgc_page_source, but others in lower case */
    static char text[MOST + 1];
    size_t before[SGC_SOURCES];

    memset(text, 0, sizeof text);
    for (int i = 0; i < n; i++) {
        sgc_policy_figures(&figures);
        memcpy(before, figures.taken, sizeof before);
        if (take(cache) == SGC_NO_PAGE)
            text[i] = '-';
        sgc_policy_figures(&figures);
        for (int s = 1; s < SGC_SOURCES; s++)
            if (figures.taken[s] != before[s])
                text[i] = s == SGC_SOURCE_OTHERS ? 'o' : letters[s];
    }
    sgc_pool_check();
    return text;
}

/* A has 3 free pages, B 1, nobody 2. */
static void scatter(void)
{
    uint32_t mine[4], yours[3];
    bool zero;
    uint32_t run = sgc_pool_take(2, &a->section, &zero);

    take_all(a, mine, 4);
    take_all(b, yours, 3);
    give_all(a, mine, 3);
    give_all(b, yours, 1);
    sgc_pool_give(run, 2, &a->section);
}

/* What a live page more does to l. */
static void make_live(uint32_t pages)
{
    while (pages-- > 0)
        sgc_live_pages_count(a->id);
}

static bool is(const char *got, const char *expected)
{
    if (strcmp(got, expected) != 0)
        fprintf(stderr, "sources: %s, not %s\n", got, expected);
    return strcmp(got, expected) == 0;
}

/* ---- the order of each ---- */

/* With the scattered pages, nine of which are in use or have contents, and so many live ones besides: where b gets its next. */
static const struct order {
    const char *name, *sources;
    enum sgc_page_policy policy;
    uint32_t k, live, limit;
    uint64_t remote;
} orders[] = {
    { "PS: whatever has contents, the lowest address first, then fresh pages", "AAAAAAFF", SGC_POLICY_PS, 0, 1000, 0, 3 },
    { "LPS(1): own, nobody's, other threads', then fresh pages", "ONNoooFF", SGC_POLICY_LPS, SGC_K_ONE, 9, 0, 3 },
    { "AL: own, nobody's, then fresh pages; another thread's list is left alone", "ONNFFFFF", SGC_POLICY_AL, 0, 0, 0, 0 },
    { "LPS(3): own, nobody's, fresh ones up to 3 l, other threads', then fresh ones again", "ONNFFFoooFF", SGC_POLICY_LPS,
      3 * SGC_K_ONE, 4, 0, 3 },
    { "LPS(1.5): fresh ones up to 1.5 l, rounded up", "ONNFFoooFF", SGC_POLICY_LPS, SGC_K_ONE * 3 / 2, 7, 0, 3 },
    { "LPS before anything is known of l: as LPS(1)", "ONNoooFF", SGC_POLICY_LPS, 3 * SGC_K_ONE, 0, 0, 3 },
    { "AL at the heap limit: other threads' pages before NULL", "ONNFFFooo-", SGC_POLICY_AL, 0, 0, 12, 3 },
    { "LPS at the heap limit: the same", "ONNFFFooo-", SGC_POLICY_LPS, 100 * SGC_K_ONE, 12, 12, 3 },
    { "PS at the heap limit: all there are before NULL", "AAAAAAF-", SGC_POLICY_PS, 0, 0, 10, 3 },
};

static const struct order *current;

static int in_order(void)
{
    start(current->policy, current->k, current->limit);
    scatter();
    make_live(current->live);
    if (!is(sources(b, (int)strlen(current->sources)), current->sources))
        return 1;
    if (figures.remote != current->remote || figures.max_live != current->live)
        return 2;                               /* its own and nobody's are not remote */
    if (current->limit != 0 && figures.max_consumed != current->limit)
        return 3;
    return sgc_free_list_count(a->id) == (current->remote == 0 ? 3 : 0) ? 0 : 4;
}

static int spans_apart(void)
{
    bool zero;

    start(SGC_POLICY_LPS, 3 * SGC_K_ONE, 0);
    scatter();
    make_live(4);
    if (sgc_pool_take(500, &a->section, &zero) == SGC_NO_PAGE)
        return 1;
    return is(sources(b, 6), "ONNFFF") ? 0 : 2;
}

/* ---- nobody is refused while somebody has free pages ---- */

/* The only empty pages are the last that sweeping comes to. */
static int unswept_at_the_limit(void)
{
    static char *object[3 * 64];

    start(SGC_POLICY_LPS, SGC_K_ONE, 64);
    for (int i = 0; i < 3 * 64; i++)
        object[i] = heap_small(b, BYTES, SGC_KIND_CONSERVATIVE);
    heap_collect(object + 6, 3 * 62);
    return heap_small(c, 64, SGC_KIND_CONSERVATIVE) != NULL && sgc_free_list_count(b->id) == 1 ? 0 : 1;
}

/* A span needs 12 pages; what is free is on lists, and in bits. */
static int span_at_the_limit(void)
{
    uint32_t page[12];

    start(SGC_POLICY_AL, 0, 12);
    take_all(a, page, 12);
    give_all(a, page, 12);
    void *span = heap_alloc(b, 12 * SGC_PAGE - SGC_GRANULE, SGC_KIND_CONSERVATIVE);
    sgc_heap_check();
    return span != NULL && sgc_free_list_total() == 0 && heap_alloc(b, 16, 1) == NULL ? 0 : 1;
}

/* ---- several pages at once ---- */

/* Three of ten pages are in use, so that there are seven. */
static int several_at_once(void)
{
    struct sgc_taken taken[10];
    size_t from[SGC_SOURCES];

    start(SGC_POLICY_LPS, SGC_K_ONE, 10);
    scatter();
    sgc_policy_figures(&figures);
    memcpy(from, figures.taken, sizeof from);
    if (sgc_policy_take_singles(b, 10, taken) != 7)
        return 1;
    sgc_policy_figures(&figures);
    for (int i = 0; i < 7; i++)
        if (taken[i].zero != (i == 6))
            return 2;
    sgc_pool_check();
    return figures.taken[SGC_SOURCE_OWN] == from[SGC_SOURCE_OWN] + 1 &&
           figures.taken[SGC_SOURCE_NOBODYS] == from[SGC_SOURCE_NOBODYS] + 2 &&
           figures.taken[SGC_SOURCE_OTHERS] == from[SGC_SOURCE_OTHERS] + 3 &&
           figures.taken[SGC_SOURCE_FRESH] == from[SGC_SOURCE_FRESH] + 1 ? 0 : 3;
}

/* ---- lists ---- */

static int victims(void)
{
    uint32_t mine[1], yours[30], its[10];

    start(SGC_POLICY_LPS, SGC_K_ONE, 0);
    take_all(a, mine, 1);
    take_all(b, yours, 30);
    take_all(c, its, 10);
    give_all(b, yours, 9);
    give_all(c, its, 3);
    if (take(a) != yours[8] || sgc_free_list_count(b->id) != 8)
        return 1;                               /* from the end of the longest list */
    give_all(b, yours + 9, 21);
    while (sgc_free_list_count(b->id) > 3)
        if (take(a) == SGC_NO_PAGE || sgc_free_list_count(c->id) != 3)
            return 2;
    return is(sources(a, 7), "ooooooF") && figures.remote == 33 ? 0 : 3;
}

static int lowest_first(void)
{
    uint32_t page[8];

    start(SGC_POLICY_LPS, SGC_K_ONE, 0);
    take_all(a, page, 8);
    give_all(a, page + 4, 4);
    give_all(a, page, 4);
    if (take(a) != page[0])
        return 1;
    for (int i = 7; i > 0; i--)
        if (take(a) == SGC_NO_PAGE || sgc_free_list_count(a->id) != (uint32_t)i - 1)
            return 2;
    give_all(a, page + 3, 1);
    give_all(a, page + 1, 1);
    give_all(a, page + 2, 1);
    return take(a) == page[1] && sgc_free_list_count(a->id) == 2 ? 0 : 3;
}

/* It is on nobody's list, costs no memory, and is without contents for who takes it next. */
static int untouched(void)
{
    struct sgc_taken taken;
    uint32_t page[2];

    start(SGC_POLICY_LPS, 2 * SGC_K_ONE, 0);
    take_all(a, page, 2);
    sgc_heap.records[page[0]].zero_from = 0;
    give_all(a, page, 2);
    sgc_pool_check();
    if (sgc_free_list_count(a->id) != 1 || sgc_pool_used_bytes() != SGC_PAGE || sgc_pool_in_use_bytes() != 0)
        return 1;
    if (sgc_policy_take_singles(a, 1, &taken) != 1 || taken.page != page[1] || taken.zero)
        return 2;
    return sgc_policy_take_singles(a, 1, &taken) == 1 && taken.page == page[0] && taken.zero ? 0 : 3;
}

/* The list of a thread that has all free pages is in no order that matters: the lowest comes first. */
static int lowest_of_all(void)
{
    uint32_t page[4];

    start(SGC_POLICY_LPS, 2 * SGC_K_ONE, 0);
    take_all(a, page, 4);
    give_all(a, page + 1, 1);
    give_all(a, page + 3, 1);
    give_all(a, page + 2, 1);
    if (take(a) != page[1])
        return 1;
    return take(a) == page[2] && take(a) == page[3] ? 0 : 2;
}

/* More listed pages than are taken off their lists at one time. */
static int span_over_lists(void)
{
    enum { N = 10 * SGC_ARENA_PAGES };
    static uint32_t page[N];
    bool zero;

    start(SGC_POLICY_LPS, 2 * SGC_K_ONE, 0);
    take_all(a, page, N);
    for (int i = 0; i < N; i++)
        sgc_pool_give_singles(&page[i], 1, i % 2 ? b->id : c->id, &a->section);
    if (sgc_free_list_total() != N)
        return 1;
    uint32_t first = sgc_pool_take(N - 1, &a->section, &zero);
    sgc_pool_check();
    if (first != page[0] || zero || sgc_free_list_total() > 1)
        return 2;
    sgc_pool_give(first, N - 1, &a->section);
    sgc_pool_check();
    return is(sources(a, 2), "NN") ? 0 : 3;
}

static int owner_ends(void)
{
    enum { N = 200 };
    static uint32_t page[N];

    start(SGC_POLICY_AL, 0, 0);
    take_all(b, page, N);
    give_all(b, page, N);
    heap_cache_end(b);
    if (sgc_free_list_count(b->id) != 0 || sgc_free_list_total() != 0)
        return 1;
    return is(sources(a, 3), "NNN") && figures.remote == 0 ? 0 : 2;
}

static int decayed(void)
{
    uint32_t page[6];

    start(SGC_POLICY_LPS, SGC_K_ONE, 0);
    take_all(a, page, 6);
    give_all(a, page, 5);
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, &a->section);
    if (sgc_free_list_total() != 0)
        return 1;
    return is(sources(a, 1), "F") ? 0 : 2;
}

/* ---- who was the first to use a page ---- */

static size_t foreign(void)
{
    sgc_policy_figures(&figures);
    return figures.foreign;
}

/* Four pages of a go to b, and back: there a was the first again, though b had them last. */
static int first_users(void)
{
    uint32_t page[4];

    start(SGC_POLICY_LPS, SGC_K_ONE, 0);
    take_all(a, page, 4);
    if (foreign() != 0)
        return 1;
    give_all(a, page, 4);
    take_all(b, page, 4);
    if (foreign() != 4)
        return 2;
    give_all(b, page, 4);
    take_all(a, page, 4);
    if (foreign() != 4 || figures.remote != 8)
        return 3;
    give_all(a, page, 4);
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, &a->section);
    take_all(b, page, 4);
    give_all(b, page, 4);
    take_all(b, page, 4);
    sgc_pool_check();
    return foreign() == 4 && figures.taken[SGC_SOURCE_FRESH] == 8 ? 0 : 4;
}

static int never_used(void)
{
    struct sgc_taken taken;

    start(SGC_POLICY_LPS, SGC_K_ONE, 0);
    if (sgc_policy_take_singles(b, 1, &taken) != 1)
        return 1;
    sgc_heap.records[taken.page].zero_from = 0;
    sgc_pool_give_singles(&taken.page, 1, b->id, &b->section);
    sgc_pool_check();
    if (take(a) != taken.page || foreign() != 0)
        return 2;
    give_all(a, &taken.page, 1);
    return take(b) == taken.page && foreign() == 1 ? 0 : 3;
}

/* Of six pages of a dead span one was b's before. */
static int pages_of_spans(void)
{
    uint32_t page[2], span;
    bool zero;

    start(SGC_POLICY_LPS, SGC_K_ONE, 0);
    take_all(a, page, 1);
    take_all(b, page + 1, 1);
    give_all(b, page + 1, 1);
    span = sgc_policy_take_pages(6, &a->section, &zero);
    if (span != page[1] || zero || foreign() != 0)
        return 1;
    sgc_pool_give(span, 6, &a->section);
    return is(sources(b, 6), "NNNNNN") && foreign() == 5 ? 0 : 2;
}

/* ---- what the sweeper finds empty ---- */

static int swept_by_another(void)
{
    start(SGC_POLICY_LPS, 2 * SGC_K_ONE, 0);
    for (int i = 0; i < 3 * 10; i++)
        heap_small(b, BYTES, SGC_KIND_CONSERVATIVE);
    heap_collect(NULL, 0);
    while (sgc_sweep_ahead(64, &c->section))
        continue;
    if (sgc_free_list_count(b->id) != 10 || sgc_free_list_count(c->id) != 0 || sgc_free_list_total() != 10)
        return 1;
    return is(sources(b, 2), "OO") && figures.listed == 8 ? 0 : 2;
}

static int swept_orphans(void)
{
    start(SGC_POLICY_AL, 0, 0);
    for (int i = 0; i < 3 * 5; i++)
        heap_small(b, BYTES, SGC_KIND_CONSERVATIVE);
    heap_cache_end(b);
    heap_collect(NULL, 0);
    while (sgc_sweep_ahead(64, &c->section))
        continue;
    if (sgc_free_list_total() != 0 || sgc_pool_in_use_bytes() != 0)
        return 1;
    return is(sources(a, 5), "NNNNN") ? 0 : 2;
}

static int own_swept_first(void)
{
    start(SGC_POLICY_LPS, 2 * SGC_K_ONE, 0);
    for (int i = 0; i < 3 * 20; i++)
        heap_small(b, BYTES, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < 3 * 20; i++)
        heap_small(c, BYTES, SGC_KIND_CONSERVATIVE);
    heap_collect(NULL, 0);
    if (!is(sources(c, 3), "OOO"))
        return 1;
    return sgc_free_list_count(b->id) == 0 && sgc_free_list_count(c->id) == 13 ? 0 : 2;
}

/* PS knows of nobody's own. */
static int lowest_number_swept_first(void)
{
    start(SGC_POLICY_PS, 0, 0);
    for (int i = 0; i < 3 * 20; i++)
        heap_small(b, BYTES, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < 3 * 20; i++)
        heap_small(c, BYTES, SGC_KIND_CONSERVATIVE);
    heap_collect(NULL, 0);
    if (!is(sources(c, 1), "A"))
        return 1;
    return sgc_free_list_count(b->id) == 15 && sgc_free_list_count(c->id) == 0 && foreign() == 1 ? 0 : 2;
}

/* ---- l and the u_i ---- */

static int maxima(void)
{
    static char *keep[3 * 12];

    start(SGC_POLICY_LPS, 2 * SGC_K_ONE, 0);
    for (int i = 0; i < 3 * 8; i++)
        keep[i] = heap_small(b, BYTES, SGC_KIND_CONSERVATIVE);
    for (int i = 0; i < 3 * 4; i++)
        keep[24 + i] = heap_small(c, BYTES, SGC_KIND_CONSERVATIVE);
    heap_collect(keep, 36);
    sgc_policy_figures(&figures);
    if (figures.max_live != 0)
        return 1;                               /* nothing swept, nothing known */
    heap_sweep_all();
    heap_collect(keep, 12);                     /* b keeps 4 pages, c none */
    heap_sweep_all();
    sgc_policy_figures(&figures);
    if (figures.max_live != 12 || figures.max_live_of_owners != 12 || sgc_free_list_count(b->id) != 4)
        return 2;
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, &a->section);
    sgc_policy_figures(&figures);
    if (figures.max_live != 4 || figures.max_live_of_owners != 4)
        return 3;                               /* they start anew with what lives */
    heap_cache_end(b);
    heap_sweep_all();
    sgc_policy_figures(&figures);
    return figures.max_live == 4 ? 0 : 4;      /* orphans are not counted twice */
}

static int maxima_in_turns(void)
{
    static char *keep[3 * 6];

    start(SGC_POLICY_LPS, 2 * SGC_K_ONE, 0);
    for (int turn = 0; turn < 4; turn++) {
        memset(keep, 0, sizeof keep);
        for (int i = 0; i < 3 * 6; i++)
            keep[i] = heap_small(turn % 2 ? b : c, BYTES, SGC_KIND_CONSERVATIVE);
        heap_collect(keep, 18);
        heap_sweep_all();
    }
    sgc_policy_figures(&figures);
    return figures.max_live == 6 && figures.max_live_of_owners == 12 ? 0 : 1;
}

static void after_cycles(void)
{
    child_ok(own_swept_first, "who needs a page sweeps its own pages first");
    child_ok(lowest_number_swept_first, "but under PS, where anybody's will do");
    child_ok(maxima, "l and the u_i: counted by sweeping, kept as maxima, anew when memory is given back");
    child_ok(maxima_in_turns, "threads in turns: the u_i add up to twice l");
}

int main(void)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        current = &orders[i];
        child_ok(in_order, "%s", current->name);
    }
    child_ok(spans_apart, "pages of spans do not count toward k l");
    child_ok(unswept_at_the_limit, "at the heap limit all is swept before NULL");
    child_ok(span_at_the_limit, "a span finds the pages on the lists");
    child_ok(several_at_once, "several pages at once come from where they come one by one, as many as there are");
    child_ok(victims, "pages come from the end of the longest list, within a factor of two");
    child_ok(lowest_first, "of its own pages a thread gets the lowest first");
    child_ok(lowest_of_all, "and in order, while no other thread has any");
    child_ok(untouched, "a page that was made ready and never used goes back without contents");
    child_ok(span_over_lists, "a long run takes its pages off many lists");
    child_ok(owner_ends, "the free pages of an ended thread are nobody's");
    child_ok(decayed, "pages that went back to the system are on no list");
    child_ok(first_users, "foreign pages: those that another thread was the first to use since they have contents");
    child_ok(never_used, "a page that was never used has no first user");
    child_ok(pages_of_spans, "the first user of a span's pages is its thread, but for pages that had contents");
    child_ok(swept_by_another, "a page emptied by another thread's sweeping goes to its owner's list");
    child_ok(swept_orphans, "empty orphans are nobody's");
    if (SGC_TRACES)
        after_cycles();
    return tap_done();
}
