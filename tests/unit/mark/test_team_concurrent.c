/* SPDX-License-Identifier: MIT */
/*
 * mark/team/team_concurrent.c: a mark that is interrupted again and again marks what one marks that
 * is not, with the same totals;
 * it comes out soon, whatever it scans; helpers may finish it; it can be given up in any state; behind a limit that was not
 * renewed it sees nothing.
 */

#include "mark/edge.h"
#include "mark/mark_procs.h"
#include "mark/mark_roots.h"
#include "tests/unit/mark/teams.h"

enum { HELPERS = 3, MB = 1 << 20 };

/* ---- a team with helpers, for ever ---- */

static struct sgc_team helped;

static void make_helped(void)
{
    struct sgc_team_config config = {
        .mark = HEAP_MARK, .max_markers = HELPERS + 1, .balance = true, .markbit = SGC_MARKBIT_OR,
    };

    start_team(&helped, &config, HELPERS);
}

/* What is left after a stop waits for the next call; the program runs in between, and writes nothing. */
static void go_on_to_the_end(struct sgc_team *team, struct stops *stops)
{
    sgc_team_program_runs(team);
    while (!sgc_team_go_on(team, stop, stops))
        continue;
    sgc_team_program_stopped(team);
    while (!sgc_team_go_on_flagged(team, stop, stops))
        continue;
}

static void finish(struct sgc_team *team, const void *words, size_t count, uint32_t want)
{
    sgc_team_finish_begin(team, want);
    push_roots(team, words, count);
    if (!sgc_team_mark(team, NULL) || !sgc_team_rescan(team, NULL))
        tap_bail("a mark gave up though nobody asked it to");
    sgc_team_check(team);
}

/* ---- graphs ---- */

static const struct {
    const char *name;
    uint32_t edges;
    size_t split, stack;
} variants[] = {
    { "pieces of 128 KB", 64, 128 << 10, 16 << 20 },
    { "pieces of 512 bytes", 16, 512, 16 << 20 },
    { "not split", 64, 0, 16 << 20 },
    { "one by one", 0, 0, 16 << 20 },
    { "a stack of 64 KB", 64, 0, 64 << 10 },
};

static struct sgc_team *team_of(int variant)
{
    struct sgc_mark_config config = HEAP_MARK;

    config.edges = variants[variant].edges;
    config.split_bytes = variants[variant].split;
    config.stack_bytes = variants[variant].stack;
    heap_marker_end();
    return heap_alone(&config);
}

static void test_graph(int variant, int every)
{
    struct sgc_team *team = team_of(variant);
    struct stops stops = { .every = every };
    size_t split = sgc_team_first(team)->split_bytes;
    int wrong;

    begin(team, roots, ROOTS);
    go_on_to_the_end(team, &stops);
    wrong = wrong_marks(team);
    tap_ok(wrong == 0 && stops.said > 0, "%s, out every %d: the same marks and totals (%d wrong; out %d times)",
           variants[variant].name, every, wrong, stops.said);
    finish(team, roots, ROOTS, 1);
    wrong = wrong_marks(team);
    tap_ok(wrong == 0 && sgc_team_first(team)->split_bytes == split, "and in the last stop nothing more (%d wrong)", wrong);
    heap_unmark();
}

static void test_graphs(void)
{
    make_graph(21, true);
    reach_all();
    for (int v = 0; v < 5; v++)
        for (int every = 1; every <= 5; every += 2)
            test_graph(v, every);
}

/* ---- shapes ---- */

enum { CELLS = 200000, WIDE = 60000, LISTS = 300, IN_A_LIST = 600, BRANCHES = 20, FLAGGED = 60 };

static uintptr_t top;

/* Each node of a batch leads to so many that a stack of 64 KB has no room, though it is scanned in small pieces. */
static uintptr_t make_bush(int depth)
{
    uintptr_t *inner = heap_alloc(sgc_self, BRANCHES * sizeof *inner, SGC_KIND_CONSERVATIVE);

    for (int i = 0; depth > 0 && i < BRANCHES; i++)
        inner[i] = make_bush(depth - 1);
    return (uintptr_t)inner;
}

/* An array of arrays, some of which lead to lists: every stack is too small for it that is limited. */
static void make_wide(void)
{
    uintptr_t *array = heap_alloc(sgc_self, WIDE * sizeof *array, SGC_KIND_CONSERVATIVE);

    for (int i = 0; i < WIDE; i++) {
        uintptr_t *one = heap_alloc(sgc_self, 300, SGC_KIND_CONSERVATIVE);

        array[i] = (uintptr_t)one;
        one[30] = (uintptr_t)heap_alloc(sgc_self, 32, SGC_KIND_POINTER_FREE);
        if (i % (WIDE / LISTS) == 0)
            one[20] = heap_list(IN_A_LIST);
    }
    top = (uintptr_t)array;
}

/* By the bitmap of their kind the first and the third word may be pointers. */
static void make_described(void)
{
    uint32_t kind = heap_kind((uintptr_t)5 << 61 | SGC_DS_BITMAP, false);

    top = 0;
    for (int i = 0; i < CELLS / 2; i++) {
        uintptr_t *cell = heap_alloc(sgc_self, 40, kind);

        cell[0] = (uintptr_t)heap_alloc(sgc_self, 16, SGC_KIND_CONSERVATIVE);
        cell[1] = (uintptr_t)heap_alloc(sgc_self, 16, SGC_KIND_CONSERVATIVE);
        cell[2] = top;
        top = (uintptr_t)cell;
    }
}

static void test_shape(const char *name, int variant)
{
    struct sgc_team *team = team_of(variant);
    struct stops stops = { .every = 1 };
    struct sgc_team_totals before, after;

    heap_retire();
    heap_mark_by(team, 1, &top, 1);
    before = totals_of(team);
    heap_unmark();
    begin(team, &top, 1);
    go_on_to_the_end(team, &stops);
    after = totals_of(team);
    tap_ok(before.objects == after.objects && before.bytes == after.bytes && before.pointer_free == after.pointer_free &&
               stops.said > 10,
           "%s, %s: as many marked as without interruption (%zu of %zu; out %d times)", name, variants[variant].name,
           after.objects, before.objects, stops.said);
    drop_mark(team);
}

static void test_shapes(void)
{
    size_t bush_rescans = 0;

    for (int v = 0; v < 5; v += 2) {
        heap_empty();
        top = heap_list(CELLS);
        test_shape("a list", v);
        heap_empty();
        top = heap_tree(16);
        test_shape("a tree", v);
        heap_empty();
        top = make_bush(4);
        test_shape("a bush", v);
        bush_rescans = sgc_team_first(heap_alone(&HEAP_MARK))->rescans;
        heap_empty();
        make_wide();
        test_shape("an array of arrays", v);
        heap_empty();
        make_described();
        test_shape("described objects", v);
    }
    tap_ok(bush_rescans > 0, "with little room pages are scanned again (%zu)", bush_rescans);
}

/* ---- coming out soon ---- */

/* Nothing new is found in it: how often is the stop function asked meanwhile? */
static void test_soon(const char *name, uint32_t kind, size_t bytes, int least)
{
    for (int v = 0; v < 4; v += 2) {
        struct sgc_team *team = team_of(v);
        struct stops stops = { .every = 1 };
        uintptr_t object;

        heap_empty();
        object = (uintptr_t)heap_alloc(sgc_self, bytes, kind);
        begin(team, &object, 1);
        go_on_to_the_end(team, &stops);
        tap_ok(stops.said >= least && totals_of(team).objects == 1, "%s, %s: out %d times, %d expected at least", name,
               variants[v].name, stops.said, least);
        drop_mark(team);
    }
}

static void test_large(void)
{
    test_soon("64 MB without pointers", SGC_KIND_CONSERVATIVE, (size_t)64 * MB, 256);
    test_soon("64 MB by a length", heap_kind(0, true), (size_t)64 * MB, 256);
}

/* ---- interrupted in the middle of a flagged page ---- */

static void test_flagged_page(void)
{
    struct sgc_team *team = team_of(0);
    struct stops stops = { .every = 1 };
    uintptr_t *object[FLAGGED];
    int wrong = 0;

    heap_empty();
    for (int i = 0; i < FLAGGED; i++) {
        object[i] = heap_alloc(sgc_self, 64, SGC_KIND_CONSERVATIVE);
        object[i][2] = heap_list(IN_A_LIST);
    }
    begin(team, NULL, 0);
    for (int i = 0; i < FLAGGED; i++) {
        heap_set_mark(object[i]);
        sgc_mark_later(heap_marker(), (uintptr_t)object[i]);
    }
    while (!sgc_team_go_on_flagged(team, stop, &stops))
        continue;
    for (int i = 0; i < FLAGGED; i++)
        for (uintptr_t *cell = (uintptr_t *)object[i][2]; cell != NULL; cell = (uintptr_t *)*cell)
            wrong += !heap_marked(cell);
    tap_ok(wrong == 0 && stops.said > FLAGGED && !sgc_pages_flagged(),
           "out %d times in the middle of flagged pages, nothing is forgotten (%d not marked)", stops.said, wrong);
    drop_mark(team);
}

/* ---- helpers finish it ---- */

static void test_helpers(void)
{
    int wrong = 0, interrupted = 0, called = 0, rounds = TEST_SANITIZED ? 20 : 100;

    heap_empty();
    make_graph(22, true);
    reach_all();
    heap_marker_end();
    for (int i = 0; i < rounds; i++) {
        struct stops stops = { .every = 1 };

        begin(&helped, roots, ROOTS);
        sgc_team_program_runs(&helped);
        for (int k = 0; k < i % 7; k++)
            sgc_team_go_on(&helped, stop, &stops);
        sgc_team_program_stopped(&helped);
        called += helped.called;
        finish(&helped, roots, ROOTS, HELPERS + 1);
        wrong += wrong_marks(&helped);
        interrupted += stops.said;
        heap_unmark();
    }
    tap_ok(wrong == 0 && interrupted > 0, "helpers finish %d marks (%d wrong; %d times out before)", rounds, wrong,
           interrupted);
    tap_ok(called == 0, "and are not called before");
}

static void test_not_called(void)
{
    struct stops never = { .every = 0 };

    heap_empty();
    top = heap_list(CELLS);
    begin(&helped, &top, 1);
    sgc_team_program_runs(&helped);
    sgc_team_go_on(&helped, stop, &never);
    tap_ok(never.asked > 100 && !helped.called && totals_of(&helped).objects == CELLS,
           "a mark beside the program calls no helpers (asked %d times)", never.asked);
    drop_mark(&helped);
}

/* ---- giving up ---- */

static void test_abandon(void)
{
    struct sgc_team *team = team_of(4);
    struct stops stops = { .every = 1 };
    int wrong = 0;

    heap_empty();
    make_wide();
    for (int state = 0; state < 4; state++) {
        begin(team, &top, 1);
        if (state > 0)
            sgc_team_program_runs(team);
        for (int i = 0; i < 100; i++)
            sgc_team_go_on(team, stop, &stops);
        if (state > 1)
            sgc_team_program_stopped(team);
        if (state > 2)
            sgc_team_finish_begin(team, 1);
        sgc_team_abandon(team);
        sgc_team_check(team);
        wrong += sgc_pages_flagged() || sgc_team_first(team)->mode.program != SGC_MARK_STOPPED;
        wrong += sgc_team_first(team)->split_bytes != 0;
        heap_unmark();
        heap_mark_by(team, 1, &top, 1);
        wrong += totals_of(team).objects != 2 * WIDE + 1 + LISTS * IN_A_LIST;
        heap_unmark();
    }
    tap_ok(wrong == 0, "given up in any state, and the next mark is whole (%d wrong)", wrong);
}

/* ---- the limit ---- */

static void test_limit(void)
{
    static uint64_t all[SGC_WRITTEN_WORDS];
    struct sgc_team *team = team_of(0);
    uintptr_t *holder, *beyond, limit;
    bool before, after;

    heap_empty();
    holder = heap_alloc(sgc_self, 64, SGC_KIND_CONSERVATIVE);
    memset(all, 0xff, sizeof all);
    begin(team, &holder, 1);
    sgc_team_program_runs(team);
    sgc_team_go_on(team, NULL, NULL);
    limit = sgc_team_first(team)->limit;
    do
        beyond = heap_alloc(sgc_self, (size_t)8 * MB, SGC_KIND_CONSERVATIVE);
    while (beyond != NULL && (uintptr_t)beyond - sgc_heap.base < limit);
    holder[1] = (uintptr_t)beyond;
    sgc_mark_written(sgc_team_first(team), sgc_page_number((uintptr_t)holder) / SGC_ARENA_PAGES, all);
    sgc_team_go_on(team, NULL, NULL);
    before = heap_marked(beyond);
    sgc_marker_renew(sgc_team_first(team));
    sgc_mark_written(sgc_team_first(team), sgc_page_number((uintptr_t)holder) / SGC_ARENA_PAGES, all);
    sgc_team_go_on(team, NULL, NULL);
    after = heap_marked(beyond);
    tap_ok(beyond != NULL && !before && after, "what lies behind the limit counts when that has been renewed");
    drop_mark(team);
}

int main(void)
{
    heap_start((size_t)2 << 30, 0, false);
    make_helped();
    test_graphs();
    free_uncollectable();
    tap_each(test_shapes, test_large, test_flagged_page, test_helpers);
    free_uncollectable();
    tap_each(test_not_called, test_abandon, test_limit);
    sgc_heap_check();
    return tap_done();
}
