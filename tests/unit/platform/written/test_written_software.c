/* SPDX-License-Identifier: MIT */
/*
 * platform/written/written_software.c: what is reported, and what is not; borders of pages and of
 * the range; addresses that are none of its own; handlers and threads.  Against a model, with the
 * other sources: test_written.c.
 */
#include <pthread.h>
#include <signal.h>

#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/platform/written/pages.h"

enum { PAGES = 64, THREADS = 2, RUN_MS = 300 };        /* the source has all PAGES but the first and the last one */

static const struct sgc_written_source *const source = &sgc_written_software;

static bool open_it(struct sgc_written_refusal *why)
{
    return sgc_written_open(source, page_at(1), page_at(PAGES - 1), why);
}

/* A bit for each page of the memory. */
static uint64_t dirty(bool rearm)
{
    uint64_t bits = 0;

    source->collect(page_at(1), page_at(PAGES - 1), rearm, &bits);
    return bits << 1;
}

static uint64_t pages(size_t from, size_t to)
{
    uint64_t bits = 0;

    sgc_written_set(&bits, from, to);
    return bits;
}

static bool all_watched(void)
{
    return source->arm(page_at(1), page_at(PAGES - 1)) && dirty(false) == 0;
}

/* ---- one thread ---- */

static void report_anything(void)
{
    int local = 0;

    sgc_written_report(NULL);
    sgc_written_report(&local);
    sgc_written_report((const void *)UINTPTR_MAX);
    sgc_written_report((const void *)(page_at(1) - 1));
    sgc_written_report((const void *)page_at(PAGES - 1));
    sgc_written_report_range(0, 0);
    sgc_written_report_range(0, page_at(1));
    sgc_written_report_range(page_at(PAGES - 1), SIZE_MAX);
    sgc_written_report_range(page_at(7), 0);
}

static void test_closed(void)
{
    report_anything();
    sgc_written_report_range(0, SIZE_MAX);
    tap_ok(!sgc_written_is_reported(), "before it is open anything may be reported");
    tap_ok(!source->arm(page_at(1), page_at(2)) && dirty(true) == pages(1, PAGES - 1),
           "nothing is armed then, and all is dirty");
}

static void test_borders(void)
{
    tap_ok(dirty(false) == pages(1, PAGES - 1), "what was never armed is dirty");
    tap_ok(all_watched(), "what was armed is not");
    report_anything();
    tap_ok(dirty(false) == 0, "addresses outside, and ranges without a byte inside, change nothing");
    memory[5 * page_bytes] = 1;
    tap_ok(dirty(false) == 0, "nor does a write that nobody reports");
    sgc_written_report((const void *)page_at(1));
    sgc_written_report((const void *)(page_at(6) - 1));
    sgc_written_report((const void *)(page_at(PAGES - 1) - 1));
    tap_ok(dirty(false) == (pages(1, 2) | pages(5, 6) | pages(PAGES - 2, PAGES - 1)), "first and last bytes of pages");
    tap_ok(dirty(true) != 0 && dirty(true) == 0, "what is watched anew is clean");
}

static void test_ranges(void)
{
    sgc_written_report_range(page_at(9) - 1, 2);
    tap_ok(dirty(true) == pages(8, 10), "a range over the border of two pages");
    sgc_written_report_range(page_at(20), 3 * page_bytes);
    tap_ok(dirty(true) == pages(20, 23), "one that ends with a page");
    sgc_written_report_range(page_at(20) + 5, 3 * page_bytes);
    tap_ok(dirty(true) == pages(20, 24), "one that ends behind that");
    sgc_written_report_range(page_at(0), 2 * page_bytes);
    sgc_written_report_range(page_at(PAGES - 2), SIZE_MAX);
    tap_ok(dirty(true) == (pages(1, 2) | pages(PAGES - 2, PAGES - 1)), "ranges that begin before and end behind");
}

static void on_signal(TEST_UNUSED int signal)
{
    sgc_written_report((const void *)page_at(11));
}

static void test_handler(void)
{
    struct sigaction action = { .sa_handler = on_signal };

    all_watched();
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    tap_ok(dirty(true) == pages(11, 12), "a handler reports");
}

static int use_in_child(void)
{
    struct sgc_written_refusal why;

    source->close();
    if (!open_it(&why) || dirty(false) != pages(1, PAGES - 1) || !all_watched())
        return 1;
    sgc_written_report((const void *)page_at(3));
    return dirty(false) == pages(3, 4) ? 0 : 2;
}

static void test_again(void)
{
    struct sgc_written_refusal why;

    all_watched();
    sgc_written_report((const void *)page_at(30));
    child_ok(use_in_child, "the child of a fork closes it and opens it again");
    tap_ok(dirty(false) == pages(30, 31), "which the parent does not see");
    source->close();
    sgc_written_report((const void *)page_at(31));
    tap_ok(open_it(&why) && dirty(false) == pages(1, PAGES - 1), "opened again it has proof of nothing");
}

/* ---- threads ---- */

static sgc_aw_t copy[THREADS];          /* of each thread's word, taken of dirty pages only */
static sgc_a32_t ending;
static sgc_aw_t rounds;                 /* that are over */
static sgc_aw_t reports;

static sgc_aw_t *word_of(uintptr_t thread)
{
    return (sgc_aw_t *)page_at(2) + thread;
}

/* Until a round is over that sees what was reported before.  That may still be on its way to memory when the rounds are read,
 * as loads overtake stores: the round that goes on then may miss it, and the next one, whose barrier brings it there. */
static void await_round(void)
{
    uintptr_t seen = sgc_aw_load_acq(&rounds);

    while (sgc_aw_load_acq(&rounds) < seen + 3 && sgc_a32_load_acq(&ending) == 0)
        sgc_yield();
}

/* Both threads on one page, so that each finds the other's reports.  Returns how many of its stores were missed. */
static void *store_on(void *arg)
{
    uintptr_t thread = (uintptr_t)arg, value = 0, lost = 0;

    for (;;) {
        sgc_aw_store(word_of(thread), ++value);
        sgc_written_report(word_of(thread));
        await_round();
        if (sgc_a32_load_acq(&ending) != 0)
            break;
        lost += sgc_aw_load(&copy[thread]) != value;
    }
    sgc_aw_add(&reports, value);
    return (void *)lost;
}

static void take_round(void)
{
    bool page_dirty = (dirty(true) & pages(2, 3)) != 0;

    sgc_barrier_all_threads();
    for (uintptr_t i = 0; page_dirty && i < THREADS; i++)
        sgc_aw_store(&copy[i], sgc_aw_load(word_of(i)));
    sgc_aw_add(&rounds, 1);
}

static void test_threads(void)
{
    uint64_t end = sgc_clock_ns() + RUN_MS * UINT64_C(1000000);
    pthread_t thread[THREADS];
    intptr_t lost;

    all_watched();
    threads_start(thread, THREADS, store_on);
    while (sgc_clock_ns() < end)
        take_round();
    sgc_a32_store_rel(&ending, 1);
    lost = threads_sum(thread, THREADS);
    tap_ok(lost == 0 && sgc_aw_load(&reports) > THREADS,
           "%d threads report the same page, %zu stores beside %zu rounds: none is lost (%zu)", THREADS,
           (size_t)sgc_aw_load(&reports), (size_t)sgc_aw_load(&rounds), (size_t)lost);
}

int main(void)
{
    struct sgc_written_refusal why = { "", 0 };

    pages_make(PAGES);
    if (!sgc_barrier_all_threads())
        tap_skip_all("the system has no barrier of all threads");
    test_closed();
    tap_ok(open_it(&why) && sgc_written_is_reported(), "it is opened");
    tap_each(test_borders, test_ranges, test_handler, test_again, test_threads);
    source->close();
    return tap_done();
}
