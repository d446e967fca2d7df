/* SPDX-License-Identifier: MIT */
/*
 * The clearing of alloc/pages/marks.c: every mark bit of every page in use, none of the allocation bits, in any
 * number of pieces, by any number of threads, and in the child of a fork that came in the middle.
 */
#include "tests/lib/child.h"
#include "tests/lib/heap.h"
#include "tests/lib/sanitized.h"

enum { ARENAS = 24, OBJECTS = ARENAS * 60 };

static char *object[OBJECTS];

static void set_marks(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        heap_set_mark(object[i]);
    }
}

static int count_marks(void)
{
    int n = 0;

    for (int i = 0; i < OBJECTS; i++)
        n += heap_marked(object[i]);
    return n;
}

static bool all_allocated(void)
{
    for (int i = 0; i < OBJECTS; i++)
        if (!heap_allocated(object[i]))
            return false;
    return true;
}

static void test_whole(void)
{
    set_marks();
    tap_ok(count_marks() == OBJECTS, "marks stand in %u arenas", sgc_pool.committed);
    sgc_clear_again();
    sgc_clear_finish();
    tap_ok(count_marks() == 0, "all of them are cleared");
    tap_ok(all_allocated(), "allocation bits are not");
    tap_ok(!sgc_clear_some(1), "nothing is left to clear");
    set_marks();
    sgc_clear_finish();
    tap_ok(count_marks() == OBJECTS, "and nothing is cleared until the next beginning");
}

static void test_pieces(void)
{
    uint32_t pieces = 0;

    sgc_clear_again();
    int before = count_marks();
    tap_ok(sgc_clear_some(1) && count_marks() < before && count_marks() > 0, "one arena at a time");
    while (sgc_clear_some(1))
        pieces++;
    tap_ok(pieces + 1 == sgc_pool.committed && count_marks() == 0, "as often as there are arenas");
}

/* The last word of a page, which a large slot's page hardly uses, and the first. */
static void test_words(void)
{
    uint32_t page = sgc_page_number((uintptr_t)object[0]);
    size_t first = (size_t)page * SGC_PAGE_WORDS;
    bool clear = true;

    while (sgc_page_state(&sgc_heap.pages[page]) != SGC_PAGE_SMALL)
        page++;
    first = (size_t)page * SGC_PAGE_WORDS;
    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++)
        sgc_aw_store(sgc_bits_word(w, sgc_mark_role()), UINTPTR_MAX);
    sgc_clear_again();
    sgc_clear_finish();
    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++)
        clear = clear && sgc_aw_load(sgc_bits_word(w, sgc_mark_role())) == 0;
    tap_ok(clear, "each word of a small page is cleared");
}

static bool in_small_page(const char *p)
{
    return sgc_page_state(&sgc_heap.pages[sgc_page_number((uintptr_t)p)]) == SGC_PAGE_SMALL;
}

static int count_small_marks(void)
{
    int n = 0;

    for (int i = 0; i < OBJECTS; i++)
        n += in_small_page(object[i]) && heap_marked(object[i]);
    return n;
}

static char *a_small_object(void)
{
    int i = 0;

    while (!in_small_page(object[i]))
        i++;
    return object[i];
}

/* Tags of this epoch say that small pages are clear, older ones that they are not; and sweeping clears. */
static void test_swept(void)
{
    char *small = a_small_object();
    uint32_t page = sgc_page_number((uintptr_t)small);
    int all, left;

    set_marks();
    all = count_small_marks();
    sgc_clear_begin();
    sgc_clear_finish();
    tap_ok(count_small_marks() == all && all > 0, "pages of this epoch are left out");
    set_marks();
    heap_retire();
    heap_flip();        /* what was allocated until now is to be cleared */
    all = count_small_marks();
    sgc_page_sweep(page, sgc_tag(sgc_page_owner(page), sgc_heap.epoch));
    left = count_small_marks();
    tap_ok(left < all && !heap_marked(small), "sweeping a page clears its part (%d of %d are left)", left, all);
    heap_set_mark(small);
    sgc_clear_finish();
    tap_ok(heap_marked(small) && count_small_marks() == 1, "which is not cleared once more; the other pages are");
    sgc_clear_again();
    sgc_clear_finish();
    tap_ok(count_marks() == 0 && all_allocated(), "it is when the tags say nothing");
}

/* ---- more threads ---- */

static sgc_a32_t stop;

static void *help(void *arg)
{
    while (sgc_a32_load_acq(&stop) == 0)
        if (!sgc_clear_some(1))
            sgc_yield();
    return arg;
}

static void test_shared(void)
{
    pthread_t thread[2];
    int wrong = 0;

    threads_start(thread, 2, help);
    for (int round = 0; round < 200; round++) {
        set_marks();
        sgc_clear_again();
        sgc_clear_finish();
        wrong += count_marks() != 0;
    }
    sgc_a32_store_rel(&stop, 1);
    threads_join(thread, 2);
    tap_ok(wrong == 0 && all_allocated(), "200 times with two helpers: all clear when the clearing is said to be finished");
}

static int clear_in_child(void)
{
    alarm(5);
    sgc_clear_again();
    sgc_clear_finish();
    return count_marks() == 0 ? 0 : 1;
}

static void test_fork(void)
{
    pthread_t thread;
    int wrong = 0;

    if (TEST_SANITIZED) {
        tap_skip("sanitizers do not follow threads into a fork");
        return;
    }
    sgc_a32_store(&stop, 0);
    pthread_create(&thread, NULL, help, NULL);
    for (int i = 0; i < 60; i++) {
        set_marks();
        sgc_clear_again();
        for (int spin = 0; spin < i * 20; spin++)
            sgc_spin_hint();
        wrong += run_in_child(clear_in_child) != 0;
        sgc_clear_finish();
    }
    sgc_a32_store_rel(&stop, 1);
    pthread_join(thread, NULL);
    tap_ok(wrong == 0, "a fork in the middle of clearing leaves a child that can finish it (%d of 60 could not)", wrong);
}

/* ---- late ---- */

static char *later;

static void next_cycle(void)
{
    uint32_t before = sgc_pool.committed;

    sgc_section_hooks.seam = NULL;
    sgc_clear_finish();
    while (sgc_pool.committed < before + 2)
        later = heap_alloc(sgc_self, 70000, SGC_KIND_POINTER_FREE);
    heap_set_mark(later);
    sgc_clear_again();
    for (uint32_t i = 0; i < before; i++)
        sgc_clear_some(1);
}

/* A thread has seen that there is something to clear; until it goes on there has been a cycle, the heap has grown, and others
 * clear again, and have come to what is new. */
static int take_one_late(void)
{
    alarm(5);
    sgc_clear_again();
    sgc_section_hooks.seam = next_cycle;
    sgc_clear_some(1);
    sgc_clear_finish();
    return later != NULL && !heap_marked(later) ? 0 : 1;
}

int main(void)
{
    heap_start((size_t)2 * ARENAS * SGC_ARENA, 0, false);
    for (int i = 0; i < OBJECTS; i++)
        object[i] = heap_alloc(sgc_self, i % 3 == 0 ? 70000 : i % 3 == 1 ? 21840 : 64, SGC_KIND_POINTER_FREE);
    tap_each(test_whole, test_pieces, test_words, test_swept, test_shared, test_fork);
    child_ok(take_one_late, "who comes too late for one clearing takes part in the next");
    sgc_heap_check();
    return tap_done();
}
