/* SPDX-License-Identifier: MIT */
/*
 * platform/faults.h: each fault that is planted in marking, sweeping or the heap is found by one of the two checks of marks
 * (gc/collect/closure.c, alloc/pages/survival.c) within a bounded number of cycles, while threads work with objects of all
 * kinds.  Only builds with assertions have faults to plant.
 *
 * test_faults TIMES: each fault so often, with another seed each time; the lines say how many cycles were needed.
 */
#include "platform/faults.h"

#include "gc/collect/concurrent.h"
#include "gc/events/events.h"
#include "tests/lib/child.h"
#include "tests/lib/mixed_work.h"
#include "tests/lib/white.h"

enum { CYCLES = 500, SECONDS = 60, THREADS = 2, STEPS = 1500, NODE_WORDS = 8, GROWTH = 1 << 19, CHUNK = 2000, PERMUTE = 40503 };

static const char newcomer[] = "an object is allocated that the last mark has not reached",
                  missed[] = "the mark has missed the object at", gone[] = "an object that the last mark has reached is gone",
                  alone[] = "a mark stands where no object is allocated", changed[] = "a page is not what it was",
                  early[] = "a page counts as swept in the epoch that the flip begins",
                  fewer[] = "assertion \"freed <= totals->bytes\"";      /* what was freed had been another object's */

static const struct row {
    enum sgc_fault fault;
    const char *name, *said, *or;       /* which of two is seen first depends on who looks first */
    const char *source, *mode;
    enum { TORTURED, CHECKED, TAKEN } how;      /* checked only, so that the program is faster; and taken from the lead, too */
} rows[] = {
    { SGC_FAULT_SKIPPED_PAGE, "one of 1000 written pages is not looked at", missed, NULL, "mprotect", "concurrent", CHECKED },
    { SGC_FAULT_ROOTS_ONCE, "roots are not looked at in the last stop", missed, NULL, "none", "concurrent", TORTURED },
    { SGC_FAULT_NOT_REARMED, "pages are not watched anew after a round", missed, NULL, "mprotect", "concurrent", CHECKED },
    { SGC_FAULT_REARMED_LATE, "pages are watched anew after they were read", missed, NULL, "mprotect", "concurrent", CHECKED },
    { SGC_FAULT_OLD_LIMIT, "a round keeps the heap's limit", missed, NULL, "mprotect", "concurrent", CHECKED },
    { SGC_FAULT_TAKEN_DOWN, "a span is taken down in a cycle", changed, fewer, "none", "concurrent", TORTURED },
    { SGC_FAULT_CLEARED_UNSWEPT, "clearing takes the marks of an unswept page", gone, NULL, "none", "stop", TORTURED },
    { SGC_FAULT_BATCH_LOST, "what waits in a batch is lost at an interruption", missed, NULL, "mprotect", "concurrent", TAKEN },
    { SGC_FAULT_FLAG_FORGOTTEN, "a flagged page is forgotten", missed, NULL, "mprotect", "concurrent", TORTURED },
    { SGC_FAULT_NOTE_FORGOTTEN, "what is freed in a cycle is not noted", alone, NULL, "none", "concurrent", TORTURED },
    { SGC_FAULT_SWEPT_EARLY, "a page is swept before the flip", early, newcomer, "none", "stop", TORTURED },
};

static const struct row *row;
static uint32_t seed;

/* ---- the work ---- */

/* Cycles come one after the other; now and then one is taken from the lead, and finished here. */
static void ask(struct mixed_world *w)
{
    if (!sgc_concurrent_enabled() || row->how == TORTURED)
        return;
    if (!sgc_concurrent_busy())
        sgc_concurrent_ask(sgc_mutator_self());
    else if (row->how == TAKEN && sgc_concurrent_marks() && mixed_below(w, 500) == 0)
        sgc_collect(sgc_mutator_self(), SGC_REASON_ALLOCATION, NULL);
}

static void *work(void *arg)
{
    uint32_t number = (uint32_t)(uintptr_t)arg;
    struct mixed_world w = mixed_world_make(number, (number + seed * 1000) * UINT64_C(0x9e3779b97f4a7c15));

    for (int i = 0; i < STEPS; i++) {
        mixed_step(&w);
        ask(&w);
    }
    mixed_world_drop(&w);
    return NULL;
}

/* A table of more than 1000 OS pages that is filled, all over, with objects in ever new arenas, each the only way to another;
 * then they are replaced. */
static void grow(struct mixed_world *w)
{
    static void ***table;
    static uint32_t count;          /* times an odd number: each slot comes once */

    if (table == NULL)
        table = GC_malloc(GROWTH * sizeof *table);
    for (uint32_t i = 0; i < CHUNK; i++) {
        void **node = GC_malloc(NODE_WORDS * sizeof *node + (i % 64 == 0 ? 20000 : 0));

        node[0] = GC_malloc(sizeof *node);
        table[count++ * PERMUTE % GROWTH] = node;
    }
    ask(w);
}

static void work_once(struct mixed_world *w, uint32_t *number)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        if (GC_pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)++*number) != 0)
            sgc_fatal("no thread can be had");
    for (int i = 0; i < 20 && row->how != TORTURED; i++)
        grow(w);
    for (int i = 0; i < THREADS; i++)
        GC_pthread_join(thread[i], NULL);
}

/* The parent is to know when the fault was found. */
static sgc_a32_t *cycles;

static void at_end(TEST_UNUSED void *unused, TEST_UNUSED const struct sgc_cycle_record *r)
{
    sgc_a32_add(cycles, 1);
}

static const struct sgc_listener listener = { .cycle_end = at_end };

/* Returns if it is not found. */
static int plant(void)
{
    uint64_t until = sgc_clock_ns() + (uint64_t)SECONDS * 1000000000;
    struct mixed_world w = { .random = seed * 1000003 + 17 };
    uint32_t number = 0;

    setenv("SGC_MODE", row->mode, 1);
    setenv("SGC_DIRTY", row->source, 1);
    environment("GC_PAUSE_TIME_TARGET=0", "SGC_VERIFY=marks");
    if (row->how == TORTURED)
        setenv("SGC_TORTURE", "23", 1);
    GC_INIT();
    sgc_listener_add(&listener);
    mixed_init();
    mixed_procedures = false;       /* the check of the closure leaves them out */
    sgc_fault_plant(row->fault);
    while (sgc_a32_load(cycles) < CYCLES && sgc_clock_ns() < until)
        work_once(&w, &number);
    return 0;
}

/* Several threads may find it at once. */
static bool says(const char *text)
{
    return capture_count(text, row->said) > 0 || (row->or != NULL && capture_count(text, row->or) > 0);
}

static void find(void)
{
    int status;
    const char *text;

    sgc_a32_store(cycles, 0);
    text = capture_said(status = run_in_child(plant));
    if (tap_ok(status == 128 + SIGABRT && says(text), "found: %s", row->name))
        tap_diag("in cycle %u", sgc_a32_load(cycles) + 1);
    else
        tap_diag("status %d after %u cycles, said: %.600s", status, sgc_a32_load(cycles), text);
}

int main(int argc, char **argv)
{
    uint32_t times = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;

    if (!TEST_ASSERTIONS || TEST_SANITIZED) {
        tap_skip("there are no faults to plant in a build without assertions, or with a sanitizer");
        return tap_done();
    }
    cycles = child_shared(sizeof *cycles);
    for (row = rows; row != rows + sizeof rows / sizeof *rows; row++)
        for (seed = 0; seed < times; seed++)
            find();
    return tap_done();
}
