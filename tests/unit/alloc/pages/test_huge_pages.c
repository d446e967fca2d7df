/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/pool_grow.c: which arenas ask the system for huge pages, as the system itself says (VmFlags in smaps), and what
 * it is told when memory goes back.
 */
#include "alloc/pages/huge_pages.h"
#include "tests/lib/child.h"
#include "tests/lib/folder.h"
#include "tests/lib/heap.h"
#include "tests/lib/proc.h"

enum { LARGE_SPAN = 3, AFTER = 10 };     /* arenas */

static struct sgc_section *self;

/* ---- what the system says ---- */

static bool flagged(uint32_t arena, const char *flag)
{
    return proc_flag((void *)sgc_page_start(arena * SGC_ARENA_PAGES), flag) == 1;
}

static bool asked(uint32_t arena)
{
    return flagged(arena, " hg");
}

/* ---- made-up systems ---- */

#define SETTINGS "kernel/mm/transparent_hugepage/"

static void test_systems(void)
{
    folder_make();
    tap_ok(sgc_mem_huge_page(folder) == 0, "a system that says nothing makes none");
    folder_put(SETTINGS "enabled", "always [madvise] never\n");
    tap_ok(sgc_mem_huge_page(folder) == 0, "nor one that does not say how large they are");
    folder_put(SETTINGS "hpage_pmd_size", "2097152\n");
    tap_ok(sgc_mem_huge_page(folder) == 2 << 20, "asked, it makes some of 2 MB");
    folder_put(SETTINGS "enabled", "[always] madvise never\n");
    tap_ok(sgc_mem_huge_page(folder) == 2 << 20, "or it makes them anyway");
    folder_put(SETTINGS "enabled", "always madvise [never]\n");
    tap_ok(sgc_mem_huge_page(folder) == 0, "or never");
    folder_put(SETTINGS "enabled", "always [madvise] never\n");
    folder_put(SETTINGS "hpage_pmd_size", "2000000\n");
    tap_ok(sgc_mem_huge_page(folder) == 0, "a size that is no power of two is none");
    folder_put(SETTINGS "hpage_pmd_size", "many\n");
    tap_ok(sgc_mem_huge_page(folder) == 0, "nor is a word");
    folder_remove();
}

/* ---- heaps, each in a process of its own ---- */

static void start(enum sgc_huge_pages wish)
{
    struct sgc_heap_config config = { .reserve = (size_t)1 << 30, .huge_pages = wish };

    heap_start_with(&config);
    self = &sgc_self->section;
}

/* The rest of the arenas below `upto`, written to. */
static void fill(uint32_t upto)
{
    struct sgc_taken taken;

    while (sgc_pool.committed < upto || sgc_heap.arenas[upto - 1].free != 0) {
        if (sgc_pool_take_singles(sgc_self->id, 1, &taken, self) != 1 || !taken.zero ||
            !heap_zero((void *)sgc_page_start(taken.page), SGC_PAGE))
            tap_bail("a page that is not there, or not zero");
        *(char *)sgc_page_start(taken.page) = 1;
    }
}

/* Does the heap ask for huge pages when it grows for spans of so many pages? */
static bool asks_for_spans(uint32_t pages)
{
    uint32_t arenas = sgc_pool.committed;
    bool zero;

    while (sgc_pool.committed == arenas)
        if (sgc_pool_take(pages, self, &zero) == SGC_NO_PAGE)
            tap_bail("no span");
    return asked(arenas);
}

static void give_back(uint32_t first, uint32_t count)
{
    sgc_pool_give(first, count, self);
    sgc_pool_decay(sgc_clock_ns(), 0, 100, self);
}

/* A bit for each thing that is as it should be. */
static int with_huge_pages(void)
{
    uint32_t fourth = SGC_HUGE_FROM_ARENA * SGC_ARENA_PAGES;
    bool zero;
    int right;

    start(SGC_HUGE_ON);
    fill(AFTER);
    right = (!asked(0) && !asked(SGC_HUGE_FROM_ARENA - 1)) | (asked(SGC_HUGE_FROM_ARENA) && asked(AFTER - 1)) << 1;
    give_back(fourth + 3, 10);
    right |= (!asked(SGC_HUGE_FROM_ARENA) && asked(SGC_HUGE_FROM_ARENA + 1)) << 2;
    right |= (sgc_mem_resident((void *)sgc_page_start(fourth + 3), 10 * SGC_PAGE) == 0) << 3;
    give_back(fourth, 3);
    give_back(fourth + 13, SGC_ARENA_PAGES - 13);
    right |= asked(SGC_HUGE_FROM_ARENA) << 4;
    right |= (sgc_pool_take(LARGE_SPAN * SGC_ARENA_PAGES, self, &zero) != SGC_NO_PAGE && !asked(AFTER + 1)) << 5;
    right |= (!asks_for_spans(2) && asks_for_spans(5)) << 6;
    return right;
}

static void test_on(void)
{
    static const char *const names[] = {
        "a small heap has small pages",
        "what comes later has huge ones",
        "where some memory goes back no huge page is made again",
        "and that memory is gone",
        "until all of the arena has gone back",
        "a heap that grows for a span of several arenas asks for none",
        "nor one that grows for spans of which half may be left unused",
    };
    int right = run_in_child(with_huge_pages);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tap_ok(right < 128 && (right >> i & 1) != 0, "%s", names[i]);
}

static int without(void)
{
    start(SGC_HUGE_OFF);
    fill(AFTER);
    return !asked(SGC_HUGE_FROM_ARENA) && flagged(SGC_HUGE_FROM_ARENA, " nh");
}

/* Each arena has a trial of its own until one has said no: 1 and the arenas asked for, or 0. */
static int by_trial(void)
{
    bool refused = false;
    int granted = 0;

    start(SGC_HUGE_AUTO);
    fill(AFTER);
    for (uint32_t a = SGC_HUGE_FROM_ARENA; a < AFTER; a++) {
        if (asked(a) && refused)
            return 0;
        refused = !asked(a);
        granted += asked(a);
    }
    return asked(0) ? 0 : 1 + granted;
}

/* What has been granted at once is published in steps, each with its trial. */
static int expanded(void)
{
    start(SGC_HUGE_AUTO);
    fill(SGC_HUGE_FROM_ARENA);
    if (!sgc_pool_expand(16 * SGC_ARENA_PAGES, self) || sgc_pool.promised != (SGC_HUGE_FROM_ARENA + 16) * SGC_ARENA_PAGES)
        return 0;
    fill(AFTER);
    return sgc_pool.committed == AFTER && sgc_pool.promised == (SGC_HUGE_FROM_ARENA + 16) * SGC_ARENA_PAGES;
}

static void test_others(void)
{
    int trial;

    tap_ok(run_in_child(without) == 1, "off: the system is told to make none");
    trial = run_in_child(by_trial);
    tap_ok(trial >= 1 && trial <= 1 + AFTER - SGC_HUGE_FROM_ARENA,
           "auto: as long as they are faster (here for %d of %d arenas)", trial - 1, AFTER - SGC_HUGE_FROM_ARENA);
    tap_ok(run_in_child(expanded) == 1,
           "a heap that was expanded grows into what it was granted, so huge pages are tried again");
}

static void test_decision(void)
{
    struct sgc_huge_trials trials = { .sample_ns = 2000 };

    tap_ok(sgc_huge_page_pays(64000, 2 << 20, 2000, 64 << 10), "a huge page as fast as its small ones pays");
    tap_ok(!sgc_huge_page_pays(64001, 2 << 20, 2000, 64 << 10), "a slower one does not");
    sgc_huge_page_tried(&trials, 6, 64000, 2 << 20, 64 << 10);
    tap_ok(trials.trusted && trials.next == 0, "what was fast is trusted");
    sgc_huge_page_tried(&trials, 7, 64001, 2 << 20, 64 << 10);
    tap_ok(!trials.trusted && trials.next == 28, "until a slow one is met: then not before the heap is four times as large");
    tap_ok(sgc_huge_page_pays(1 << 20, 2 << 20, UINT64_C(1) << 40, 64 << 10), "an interruption is no overflow");
}

int main(void)
{
    test_decision();
    test_systems();
    if (sgc_mem_huge_page("/sys") == 0) {
        tap_skip("this system makes no huge pages");
        return tap_done();
    }
    return tap_all(test_on, test_others);
}
