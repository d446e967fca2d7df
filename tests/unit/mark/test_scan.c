/* SPDX-License-Identifier: MIT */
/*
 * mark/scan.c: which words count as pointers, from roots and from the heap: interior pointers on and off,
 * displacements, end words, words at the heap's ends, root ranges of any alignment.
 */
#include "tests/lib/heap.h"
#include "mark/displacements.h"
#include "mark/marker.h"

static bool marks(const struct sgc_mark_config *config, uintptr_t word, const void *object)
{
    heap_marker_end();
    heap_retire();
    heap_mark(config, &word, 1);
    bool marked = heap_marked(object);
    heap_unmark();
    return marked;
}

static bool marks_through(const struct sgc_mark_config *config, uintptr_t *holder, uintptr_t word, uintptr_t beside,
                          const void *object)
{
    holder[3] = word;
    holder[4] = beside;
    bool marked = marks(config, 0, object);
    holder[3] = holder[4] = 0;
    return marked;
}

/* Through uncollectable objects, so that the word is one of the heap: the only one of a small object, which is followed at
 * once, one of several, and one of an object that is too large to wait for others. */
static bool marks_from_heap(const struct sgc_mark_config *config, uintptr_t word, const void *object)
{
    static uintptr_t *small, *large;

    if (small == NULL) {
        small = heap_alloc(sgc_self, 64, SGC_KIND_UNCOLLECTABLE);
        large = heap_alloc(sgc_self, 4096, SGC_KIND_UNCOLLECTABLE);
    }
    bool alone = marks_through(config, small, word, 0, object);
    if (marks_through(config, small, word, (uintptr_t)small, object) != alone ||
        marks_through(config, large, word, 0, object) != alone)
        tap_bail("whether a word of the heap counts depends on how it is met");
    return alone;
}

static void test_interior(char *object, size_t bytes, const char *what)
{
    struct sgc_mark_config config = HEAP_MARK;
    uintptr_t at = (uintptr_t)object;

    tap_ok(marks(&config, at, object) && marks(&config, at + 1, object) && marks(&config, at + bytes - 1, object) &&
           marks_from_heap(&config, at + bytes - 1, object), "any byte of %s keeps it", what);
    tap_ok(!marks(&config, at + bytes, object) && !marks(&config, at - 1, object) &&
           !marks_from_heap(&config, at + bytes, object), "the bytes around do not");
    config.interior_pointers = false;
    tap_ok(marks(&config, at + 8, object) && marks_from_heap(&config, at, object) && !marks_from_heap(&config, at + 8, object),
           "interior pointers off: roots yes, words of the heap only the first byte");
}

static void test_displacement(char *object, const char *what)
{
    struct sgc_mark_config config = HEAP_MARK;
    uintptr_t at = (uintptr_t)object;

    config.interior_pointers = false;
    sgc_mark_displacement(40);
    tap_ok(marks_from_heap(&config, at + 40, object) && !marks_from_heap(&config, at + 41, object) &&
           !marks_from_heap(&config, at + 39, object), "a registered displacement counts for %s, its neighbours do not", what);
    tap_ok(sgc_mark_displacement_valid(0) && sgc_mark_displacement_valid(40) && !sgc_mark_displacement_valid(41) &&
           !sgc_mark_displacement_valid(SIZE_MAX), "and can be asked for");
}

static void test_end_word(char *object, size_t bytes, char *next)
{
    struct sgc_mark_config config = HEAP_MARK;
    uintptr_t end = (uintptr_t)object + bytes;

    config.end_word = true;
    tap_ok(marks(&config, end, object), "in end word mode the word just past an object keeps it");
    tap_ok(next == NULL || marks(&config, end, next), "and the object that begins there");
    tap_ok(!marks(&config, end + 1, object) && !marks_from_heap(&config, end, object),
           "no other word does, nor one of the heap");
    tap_ok(!marks(&config, (uintptr_t)object, object - 16) || sgc_page_number((uintptr_t)object - 16) !=
           sgc_page_number((uintptr_t)object), "an object's start is only taken for the end of the one before");
}

static void test_words(void)
{
    heap_empty();
    char *a = heap_alloc(sgc_self, 96, SGC_KIND_CONSERVATIVE), *b = heap_alloc(sgc_self, 96, SGC_KIND_CONSERVATIVE);
    char *span = heap_alloc(sgc_self, 3 * SGC_PAGE, SGC_KIND_CONSERVATIVE);

    for (int i = 0; i < 100 && b != a + 96; i++) {
        a = b;
        b = heap_alloc(sgc_self, 96, SGC_KIND_CONSERVATIVE);
    }
    if (b != a + 96)
        tap_bail("the test wants neighbours");
    test_interior(a, 96, "a small object");
    test_interior(span, 3 * SGC_PAGE, "a span");
    test_displacement(a, "a small object");
    test_displacement(span, "a span");
    test_end_word(a, 96, b);
    test_end_word(span, 3 * SGC_PAGE, NULL);
    struct sgc_mark_config config = HEAP_MARK;
    uintptr_t limit = sgc_heap.base + sgc_aw_load(&sgc_heap.limit);
    tap_ok(!marks(&config, 0, a) && !marks(&config, UINTPTR_MAX, a) && !marks(&config, limit, a) &&
           !marks(&config, sgc_heap.base, a), "NULL, -1 and the heap's ends point at nothing");
}

/* Roots at any alignment: whole aligned words inside the range count, cut ones do not. */
static void test_root_ranges(void)
{
    char *object = heap_alloc(sgc_self, 96, SGC_KIND_CONSERVATIVE);
    uintptr_t words[3] = { 0, (uintptr_t)object, 0 };
    const char *at = (const char *)&words[1];
    struct sgc_marker *m = heap_marker();
    bool inside, cut_low, cut_high, address;

    heap_retire();
    sgc_marker_begin(m);
    sgc_mark_roots(m, at + 1, at + 16);
    sgc_mark_drain(m);
    cut_low = heap_marked(object);
    sgc_mark_roots(m, at - 8, at + 7);
    sgc_mark_roots(m, at, at);
    sgc_mark_drain(m);
    cut_high = heap_marked(object);
    sgc_mark_roots(m, at - 3, at + 9);
    sgc_mark_drain(m);
    inside = heap_marked(object);
    heap_unmark();
    sgc_marker_begin(m);
    sgc_mark_address(m, (uintptr_t)object + 50);
    sgc_mark_address(m, 8);
    sgc_mark_drain(m);
    address = heap_marked(object);
    heap_unmark();
    tap_ok(!cut_low && !cut_high && inside, "whole words of a root range count, those cut by its ends do not");
    tap_ok(address && m->objects == 1, "a single address is marked as a root would be");
}

int main(void)
{
    heap_start((size_t)64 << 20, 0, false);
    test_words();
    test_root_ranges();
    sgc_heap_check();
    return tap_done();
}
