/* SPDX-License-Identifier: MIT */
/*
 * gc/roots/roots.c: ranges that come and go while a thread collects, by threads that are not stopped: in a blocked region, or
 * not registered.
 */
#include <sys/mman.h>

#include "gc/collect/external_stop.h"
#include "gc/roots/roots.h"
#include "tests/lib/white.h"

/* ---- a range that is scanned ---------------------------------------------------------------------- */

static sgc_a32_t ready, may_remove, removed;
static struct sgc_range to_remove;

static void remove_when_due(TEST_UNUSED void *unused)
{
    sgc_a32_store_rel(&ready, 1);
    white_reached(&may_remove, 1);
    sgc_roots_remove(to_remove);
    sgc_a32_store_rel(&removed, 1);
}

static void remove_blocked(TEST_UNUSED void *unused)
{
    white_blocked(remove_when_due, NULL);
}

static void *remove_unregistered(void *unused)
{
    remove_when_due(unused);
    return unused;
}

static void check_removal_waits(pthread_t thread, const char *who)
{
    bool waits;

    white_reached(&ready, 1);
    sgc_external_stop(sgc_mutator_self());
    sgc_a32_store_rel(&may_remove, 1);
    sgc_sleep_ns(50 * WHITE_MS);
    waits = sgc_a32_load_acq(&removed) == 0 && sgc_roots_contain(to_remove.lo);
    sgc_external_resume(sgc_mutator_self());
    tap_ok(waits && white_reached(&removed, 1) && !sgc_roots_contain(to_remove.lo),
           "%s removes a range when the stop is over in which that is scanned", who);
    white_join(thread);
}

static void test_removal_waits(void)
{
    uintptr_t lo = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    to_remove = (struct sgc_range){ lo, lo + 4096 };
    for (int i = 0; i < 2; i++) {
        sgc_a32_store(&ready, 0);
        sgc_a32_store(&may_remove, 0);
        sgc_a32_store(&removed, 0);
        sgc_roots_add(to_remove);
        if (i == 0)
            check_removal_waits(white_start(remove_blocked, NULL), "a thread in a blocked region");
        else
            check_removal_waits(thread_start(remove_unregistered, NULL), "a thread that is not registered");
    }
}

/* ---- neighbours of what is scanned ----------------------------------------------------------------- */

enum { HOLDERS = 500, LOWER = 800, CHANGE_MS = 500 };

static sgc_a32_t changes, changes_end;
static uintptr_t *words;                /* LOWER that come and go, then HOLDERS, each a range */

static struct sgc_range word_range(int i)
{
    return (struct sgc_range){ (uintptr_t)(words + 2 * i), (uintptr_t)(words + 2 * i + 1) };
}

static void change_lower(TEST_UNUSED void *unused)
{
    while (!sgc_a32_load_acq(&changes_end)) {
        for (int i = 0; i < LOWER; i++)
            sgc_roots_add(word_range(i));
        for (int i = 0; i < LOWER; i++)
            sgc_roots_remove(word_range(i));
        sgc_a32_add(&changes, 1);
    }
}

static void change_blocked(TEST_UNUSED void *unused)
{
    white_blocked(change_lower, NULL);
}

static void hold_in_words(TEST_UNUSED void *unused)
{
    for (int i = LOWER; i < LOWER + HOLDERS; i++) {
        sgc_roots_add(word_range(i));
        words[2 * i] = (uintptr_t)sgc_allocate(64, WHITE_KIND);
    }
}

static int lost_from_words(void)
{
    int lost = 0;

    for (int i = LOWER; i < LOWER + HOLDERS; i++)
        lost += !white_alive(~words[2 * i]);
    return lost;
}

static void test_changes(void)
{
    uint64_t end;
    pthread_t thread;
    int cycles = 0, lost;

    words = mmap(NULL, (LOWER + HOLDERS) * 2 * sizeof *words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    white_join(white_start(hold_in_words, NULL));
    thread = white_start(change_blocked, NULL);
    white_reached(&changes, 1);
    for (end = sgc_clock_ns() + CHANGE_MS * (uint64_t)WHITE_MS; sgc_clock_ns() < end; cycles++)
        white_collect();
    sgc_a32_store_rel(&changes_end, 1);
    white_join(thread);
    lost = lost_from_words();
    tap_ok(lost == 0, "no range is passed over while others come and go (%d of %d objects lost, %d cycles, %u rounds)", lost,
           HOLDERS, cycles, sgc_a32_load(&changes));
    sgc_roots_clear();
}

int main(void)
{
    white_init();
    return tap_all(test_removal_waits, test_changes);
}
