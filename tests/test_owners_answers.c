/* SPDX-License-Identifier: MIT */
/*
 * mark/owners.h in the loops of a marker: whatever it looks at, it answers who waits for it, also if it finds nothing there; and
 * where a client's code may run next it has gone out.
 */
#include "mark/described.h"
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
    if (!sgc_owners_init(&owners, sgc_heap.reserved / SGC_PAGE, 1))
        tap_bail("no memory for a table of pages");
    begin(&HEAP_MARK);
    test_words();
    test_others();
    end();
    begin(&starts);
    test_out();
    end();
    sgc_owners_check(&owners);
    sgc_owners_release(&owners);
    return tap_done();
}
