/* SPDX-License-Identifier: MIT */
/*
 * mark/owners.h in the loops of a marker: whatever it looks at, it answers who waits for it, also if it finds nothing there;
 * where a client's code may run next it has gone out; and when it has answered in a chain it asks anew whose the page is.
 */
#include <pthread.h>

#include "mark/drain.h"
#include "mark/follow.h"
#include "mark/descriptor.h"
#include "mark/scan.h"
#include "tests/heap.h"

enum { WORDS = 1 << 14, STRIDE = 64 };

static struct sgc_owners owners;
static uintptr_t nothing[WORDS + 64], at_itself[WORDS + 64];
static char *object;

/* The marker has a page, and another asks for it. */
static void go_in_and_ask(void)
{
    object = heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
    sgc_mark_address(heap_marker(), (uintptr_t)object);
    if (!sgc_owners_inside(&owners, 0))
        tap_bail("the marker marked an object and did not ask for its page");
    sgc_a32_store(&owners.marker[0].asked, 1);
}

static void says_answered(const char *what)
{
    bool answered = sgc_a32_load(&owners.marker[0].asked) == 0;

    sgc_owners_leave(&owners, 0);
    tap_ok(answered, "who looks through %s answers", what);
}

static void test_words(void)
{
    uintptr_t start = (uintptr_t)nothing;

    go_in_and_ask();
    sgc_scan_heap(heap_marker(), start, sizeof *nothing * WORDS);
    says_answered("words");
    go_in_and_ask();
    sgc_scan_roots(heap_marker(), start, sizeof *nothing * WORDS);
    says_answered("roots");
    heap_marker()->end_word = true;
    go_in_and_ask();
    sgc_scan_roots(heap_marker(), start, sizeof *nothing * WORDS);
    says_answered("roots whose words may mean ends");
    heap_marker()->end_word = false;
}

static void test_others(void)
{
    uintptr_t start = (uintptr_t)nothing, self = (uintptr_t)at_itself;

    go_in_and_ask();
    sgc_scan_bitmaps(heap_marker(), start, start + sizeof *nothing * WORDS, STRIDE * sizeof *nothing, UINTPTR_MAX);
    says_answered("an array of which some words count");
    for (size_t i = 0; i < WORDS; i++)
        at_itself[i] = self + i;
    go_in_and_ask();
    sgc_mark_contents_but_self(heap_marker(), self, sizeof *at_itself * WORDS);
    says_answered("an object full of pointers at itself");
    go_in_and_ask();
    sgc_mark_address(heap_marker(), 0);
    says_answered("an address that is none");
}

/* ---- out ---- */

static void says_out(const char *what)
{
    tap_ok(!sgc_owners_inside(&owners, 0) && heap_marked(object), "it is out after %s", what);
}

static void test_out(void)
{
    go_in_and_ask();
    sgc_mark_roots(heap_marker(), &object, &object + 1);
    says_out("roots");
    go_in_and_ask();
    sgc_mark_static(heap_marker(), &object, &object + 1);
    says_out("static data");
    go_in_and_ask();
    sgc_mark_uncollectable(heap_marker());
    says_out("uncollectable objects");
    go_in_and_ask();
    sgc_marker_here = heap_marker();
    sgc_mark_for_procedure((uintptr_t)object);
    sgc_marker_here = NULL;
    says_out("what a client's procedure has it mark");
}

/* ---- in a chain ---- */

static void test_chain(void)
{
    static char *cell[40];

    for (size_t i = 0; i < 40; i++) {
        cell[i] = heap_alloc(sgc_self, 32, SGC_KIND_CONSERVATIVE);
        if (i != 0)
            memcpy(cell[i - 1], &cell[i], sizeof cell[i]);
    }
    go_in_and_ask();
    heap_marker()->until_pause = 40;
    sgc_chain_follow(heap_marker(), (struct sgc_words){ (uintptr_t)cell[0], 32 });
    says_answered("a list");
}

/* ---- a page that is taken while its owner follows a chain there ---- */

enum {
    LOST_ROUNDS = 20,           /* with two pages each, all in the first arena */
    CELL = 32,
    PATIENCE_NS = 10 * 1000 * 1000,
};

struct taker {
    sgc_a32_t ready, go;
    size_t page;
    bool took, asked;           /* the page; somebody asked for it then, as the owner must before it sets another bit */
    size_t late;                /* bits set there meanwhile */
};

static size_t marks_in(size_t page)
{
    size_t words = SGC_PAGE_GRANULES / 64, n = 0;

    for (size_t w = page * words; w < (page + 1) * words; w++)
        n += (size_t)__builtin_popcountll(sgc_aw_load(&heap_marker()->marks[2 * w]));
    return n;
}

static void *take_page(void *arg)
{
    struct taker *t = arg;
    uint64_t since;
    size_t before;

    sgc_a32_store_rel(&t->ready, 1);
    while (sgc_a32_load_acq(&t->go) == 0)
        sgc_spin_hint();
    t->took = sgc_owners_get(&owners, 1, t->page, true);
    before = marks_in(t->page);
    since = sgc_clock_ns();
    while (t->took && sgc_a32_load(&owners.marker[1].asked) == 0 && sgc_clock_ns() - since < PATIENCE_NS)
        sgc_spin_hint();
    t->asked = sgc_a32_load(&owners.marker[1].asked) != 0;
    t->late = t->took ? marks_in(t->page) - before : 0;
    sgc_owners_leave(&owners, 1);
    return NULL;
}

/* The first of a list of all the cells of a page.  How many they are. */
static size_t fill_page(char **first)
{
    char *cell = heap_alloc(sgc_self, CELL, SGC_KIND_CONSERVATIVE), *next;
    uint32_t page = sgc_page_number((uintptr_t)cell);
    size_t n = 1;

    while (sgc_page_number((uintptr_t)cell) == page)
        cell = heap_alloc(sgc_self, CELL, SGC_KIND_CONSERVATIVE);
    *first = cell;
    for (page = sgc_page_number((uintptr_t)cell);; cell = next, n++) {
        next = heap_alloc(sgc_self, CELL, SGC_KIND_CONSERVATIVE);
        if (sgc_page_number((uintptr_t)next) != page)
            return n;
        memcpy(cell, &next, sizeof next);
    }
}

static void lose_page(struct taker *t)
{
    pthread_t thread;
    char *first;
    size_t cells = fill_page(&first);

    *t = (struct taker){ .page = sgc_page_number((uintptr_t)first) };
    sgc_a32_store(&owners.given_up, 0);         /* as the round before may have, if a thread lost its processor */
    sgc_a32_store(&owners.marker[0].asked, 0);
    sgc_a32_store(&owners.marker[1].asked, 0);
    sgc_mark_address(heap_marker(), (uintptr_t)first);
    if (!sgc_owners_has(&owners, 0, t->page) || pthread_create(&thread, NULL, take_page, t) != 0)
        tap_bail("no page, or no thread");
    while (sgc_a32_load_acq(&t->ready) == 0)
        sgc_spin_hint();
    heap_marker()->until_pause = (int)cells + 1;
    sgc_a32_store_rel(&t->go, 1);
    sgc_chain_follow(heap_marker(), (struct sgc_words){ (uintptr_t)first, CELL });
    sgc_owners_leave(&owners, 0);
    pthread_join(thread, NULL);
    if (marks_in(t->page) != cells)
        tap_bail("%zu of %zu cells of a page are marked", marks_in(t->page), cells);
}

static void test_lost(void)
{
    size_t late = 0, under_way = 0;
    struct taker t;

    for (int i = 0; i < LOST_ROUNDS; i++) {
        lose_page(&t);
        late += t.late;
        under_way += t.took && t.asked;
    }
    tap_ok(late == 0, "who has lost a page in a chain asks before it sets another bit there (%zu set; lost on the way %zu times)",
           late, under_way);
}

static void begin(const struct sgc_mark_config *config)
{
    heap_retire();
    sgc_clear_finish();
    sgc_team_begin(heap_alone(config), 1);
    sgc_owners_begin(&owners, (size_t)sgc_pool.committed * SGC_ARENA_PAGES);
    heap_marker()->owners = &owners;
    heap_marker()->how = SGC_MARKBIT_OWN;
}

static void end(void)
{
    sgc_mark_drain(heap_marker());
    sgc_team_mark(heap_alone(&HEAP_MARK), NULL);
    heap_unmark();
    heap_marker_end();
}

int main(void)
{
    struct sgc_mark_config starts = HEAP_MARK;

    starts.interior_pointers = false;
    heap_start((size_t)64 << 20, 0, false);
    if (!sgc_owners_init(&owners, sgc_heap.reserved / SGC_PAGE, 2))
        tap_bail("no memory for a table of pages");
    begin(&HEAP_MARK);
    test_words();
    test_others();
    end();
    begin(&starts);
    test_out();
    end();
    begin(&HEAP_MARK);
    test_chain();
    test_lost();
    end();
    sgc_owners_check(&owners);
    sgc_owners_release(&owners);
    return tap_done();
}
