/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing/due.c, gc/collect/collect.c: no cycle is made in one stop that would stop the program for much longer than the
 * target, not the first one and not after a load while nothing was collected; a thread that is beyond the budget helps the
 * cycle, or waits for it, in proportion.  Such cycles are counted by what they have marked, not by time.  By the rule of
 * before (SGC_FAULT_ONE_STOP) each load has such a stop.
 */
#include "gc/collect/collect.h"

#include <string.h>

#define GC_THREADS 1
#include <gc/gc.h>

#include "gc/collect/concurrent.h"
#include "gc/events/events.h"
#include "platform/faults.h"
#include "tests/lib/child.h"
#include "tests/lib/kept.h"

/* A mark of more than LONG megabytes is longer than 3 ms on any machine. */
enum { KEPT_MB = 64, HEAP_MB = 6 * KEPT_MB, LONG_MB = 40, BUFFER_MB = 50, THREADS = 8 };

/* Beside what tests/lib/kept.h reports: cycles in one stop that were long; and cycles whose record says why the program was
 * stopped, or that it was not. */
struct report {
    unsigned long_stops, explained;
};

static struct report *report;

/* A lead that is held up by other programs may be late. */
static bool is_explained(const struct sgc_cycle_record *record)
{
    enum sgc_stopped_for what = record->stopped_for;

    if (record->concurrent.earlier_stops != 0)
        return what != SGC_FOR_SHORT && what != SGC_FOR_MODE;
    if (record->reason == SGC_REASON_LIMIT)
        return what == SGC_FOR_MEMORY;
    if (record->reason == SGC_REASON_EXPLICIT)
        return what == SGC_FOR_REQUEST;
    return what == SGC_FOR_SHORT || what == SGC_FOR_LATE;
}

static void on_cycle_end(TEST_UNUSED void *context, const struct sgc_cycle_record *record)
{
    bool asked = record->reason == SGC_REASON_EXPLICIT || record->reason == SGC_REASON_LIMIT;

    kept_note(NULL, record);
    report->explained += is_explained(record);
    report->long_stops += record->concurrent.earlier_stops == 0 && !asked && record->marked.bytes >= LONG_MB * MB;
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

/* ---- programs ---- */

static void load(void)
{
    sgc_verify(keep(KEPT_MB * MB));
    drop(3 * KEPT_MB * MB);
}

static void expanded(void)
{
    GC_expand_hp(2 * KEPT_MB * MB);
    load();
}

static void disabled(void)
{
    GC_disable();
    sgc_verify(keep(KEPT_MB * MB));
    GC_enable();
    drop(3 * KEPT_MB * MB);
}

static void grows(void)
{
    sgc_verify(keep(KEPT_MB * MB));
}

static void large(void)
{
    sgc_verify(keep(KEPT_MB * MB));
    for (int i = 0; i < 4 * KEPT_MB; i++)
        *(char *)GC_malloc(MB) = 1;
}

static void buffers(void)
{
    sgc_verify(keep(KEPT_MB * MB));
    for (int i = 0; i < 10; i++)
        *(char *)GC_malloc_atomic(BUFFER_MB * MB) = 1;
}

/* No request is granted, and no cycle helps. */
static void refused(void)
{
    sgc_verify(keep(KEPT_MB * MB));
    for (int i = 0; i < 50; i++)
        sgc_verify(GC_malloc((size_t)1 << 45) == NULL);
}

/* Each is there alone: the load has had its cycles, and no more are needed. */
static void freed(void)
{
    GC_word before;

    sgc_verify(keep(KEPT_MB * MB));
    GC_gcollect();
    before = GC_get_gc_no();
    for (int i = 0; i < 50; i++) {
        char *buffer = GC_malloc((KEPT_MB + 26) * MB);

        *buffer = 1;
        GC_free(buffer);
    }
    sgc_verify(GC_get_gc_no() == before);
}

static void threads(void)
{
    keep_and_drop(KEPT_MB * MB, THREADS, KEPT_MB * MB);
}

static const struct program {
    const char *name;
    void (*run)(void);
    const char *initial;                /* size of the heap */
    bool with_fault;                    /* then it has a long stop */
    unsigned most_stops;                /* it has so many cycles in one stop at most */
} programs[] = {
    { "a load into a heap that was expanded", expanded, NULL, true, 2 },
    { "a load into a heap that was large from the beginning", load, "128m", true, 2 },
    { "a load while collections were disabled", disabled, NULL, true, 8 },
    { "a heap that grows", grows, NULL, false, 8 },
    { "large objects", large, NULL, false, 8 },
    { "buffers", buffers, NULL, true, 8 },
    { "threads", threads, NULL, false, 8 },
    { "requests that are refused", refused, NULL, false, 16 },
    { "buffers that are freed", freed, NULL, false, 8 },
};

static const struct program *program;
static bool planted;

static int run(void)
{
    if (program->initial != NULL)
        setenv("GC_INITIAL_HEAP_SIZE", program->initial, 1);
    if (planted)
        sgc_fault_plant(SGC_FAULT_ONE_STOP);
    GC_INIT();
    GC_allow_register_threads();
    if (!sgc_concurrent_enabled())
        return 2;
    sgc_verify(sgc_listener_add(&listener));
    program->run();
    return kept_bytes() == KEPT_MB * MB ? 0 : 1;
}

static void check(bool fault)
{
    *report = (struct report){ 0 };
    *kept_report = (struct kept_report){ 0 };
    planted = fault;
    child_ok(run, "%s", program->name);
    tap_diag("%u cycles in one stop, %u of them long, %u beside the program, %zu MB", kept_report->stops, report->long_stops,
             kept_report->beside, kept_report->heap >> 20);
}

static int can(void)
{
    GC_INIT();
    return sgc_concurrent_enabled() ? 0 : 1;
}

int main(void)
{
    kept_report = child_shared(sizeof *kept_report);
    report = child_shared(sizeof *report);
    setenv("SGC_MODE", "concurrent", 1);
    unsetenv("GC_PAUSE_TIME_TARGET");           /* what is long is asked of the usual one */
    if (run_in_child(can) != 0)
        tap_skip_all("nothing tells written pages here");
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        program = &programs[i];
        check(false);
        tap_ok(report->long_stops == 0 && kept_report->stops <= program->most_stops && kept_report->beside != 0,
               "%s: no long cycle in one stop", program->name);
        tap_ok(report->explained == kept_report->stops + kept_report->beside,
               "%s: each cycle says why it stopped the program (%u do)", program->name, report->explained);
        tap_ok(kept_report->heap <= HEAP_MB * MB, "%s: its heap is no larger than %d MB", program->name, HEAP_MB);
        if (TEST_ASSERTIONS && program->with_fault) {
            check(true);
            tap_ok(report->long_stops != 0, "%s: found by the rule of before", program->name);
        }
    }
    return tap_done();
}
