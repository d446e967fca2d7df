/* SPDX-License-Identifier: MIT */
/*
 * gc/collect/collect.c: threads that allocate faster than a mark beside them gets on assist and
 * stall, so that cycles end and the heap stays small, with many threads on few processors, too;
 * and a thread with the allocation lock waits for nobody.
 */
#include "gc/collect/collect.h"

#define GC_THREADS 1
#include <gc/gc.h>

#include "gc/collect/concurrent.h"
#include "gc/events/stats.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

enum { THREADS = TEST_SANITIZED ? 8 : 64, LIVE = 300000, CYCLES = 4, RING = 512 };

/* What a child reports. */
struct report {
    size_t heap;                /* the most there was */
    uint64_t cycles, waits;
};

static struct report *report;
static sgc_a32_t enough, wrong;

struct node {
    struct node *left, *right;
    uintptr_t rest[4];
};

static struct node *build(size_t count)
{
    struct node *n;

    if (count == 0)
        return NULL;
    n = GC_malloc(sizeof *n);
    n->rest[0] = count;
    n->left = build((count - 1) / 2);
    n->right = build(count - 1 - (count - 1) / 2);
    return n;
}

static bool is_whole(const struct node *n, size_t count)
{
    if (count == 0)
        return n == NULL;
    return n != NULL && n->rest[0] == count && is_whole(n->left, (count - 1) / 2) &&
           is_whole(n->right, count - 1 - (count - 1) / 2);
}

/* Most of it is garbage at once; a ring of objects lives for a while. */
static void *churn(TEST_UNUSED void *arg)
{
    uintptr_t **ring = GC_malloc(RING * sizeof *ring);

    for (uintptr_t i = 0; sgc_a32_load(&enough) == 0; i++) {
        uintptr_t *object = GC_malloc(32 + i % 7 * 16);

        *object = i;
        if (ring[i % RING] != NULL && *ring[i % RING] != i - RING)
            sgc_a32_store(&wrong, 1);
        ring[i % RING] = object;
    }
    return NULL;
}

static void take_report(void)
{
    struct sgc_totals totals;

    sgc_stats_get(&totals);
    report->heap = totals.cycle.heap_bytes_max;
    report->cycles = totals.cycle.concurrent;
    report->waits = totals.cycle.waits[SGC_ASSIST].times + totals.cycle.waits[SGC_STALL].times;
}

/* Until there were so many cycles, or half a minute is over. */
static void wait_for_cycles(void)
{
    uint64_t end = sgc_clock_ns() + UINT64_C(30000000000), before = GC_get_gc_no();

    while (GC_get_gc_no() < before + CYCLES && sgc_clock_ns() < end)
        sgc_sleep_ns(2 * WHITE_MS);
    sgc_a32_store(&enough, 1);
}

static int many_threads(void)
{
    static struct node *tree;
    pthread_t thread[THREADS];

    GC_INIT();
    GC_allow_register_threads();
    tree = build(LIVE);
    threads_start(thread, THREADS, churn);
    wait_for_cycles();
    threads_join(thread, THREADS);
    take_report();
    return sgc_a32_load(&wrong) == 0 && is_whole(tree, LIVE) ? 0 : 1;
}

static void check_many_threads(void)
{
    struct report stopped;

    setenv("SGC_MODE", "stop", 1);
    child_ok(many_threads, "%d threads, collected in stops", THREADS);
    stopped = *report;
    setenv("SGC_MODE", "concurrent", 1);
    child_ok(many_threads, "%d threads, collected beside them", THREADS);
    tap_ok(report->cycles != 0, "cycles end (%lu)", (unsigned long)report->cycles);
    tap_ok(report->waits != 0, "what threads waited is reported (%lu times)", (unsigned long)report->waits);
    tap_ok(report->heap <= 2 * stopped.heap, "the heap is at most twice as large (%zu, %zu MB)", report->heap >> 20,
           stopped.heap >> 20);
}

/* ---- the allocation lock ---- */

static void *allocate_much(TEST_UNUSED void *arg)
{
    for (int i = 0; i < 400000; i++)
        if (GC_malloc(64) == NULL)
            return NULL;
    return &wrong;
}

/* Many times the budget: whoever waited for the lead, which needs the lock, would wait for ever. */
static int under_lock(void)
{
    static struct node *tree;
    bool done = true;

    GC_INIT();
    tree = build(LIVE);
    for (int i = 0; i < 6 && done; i++) {
        done = GC_call_with_alloc_lock(allocate_much, NULL) == &wrong;
        done = done && allocate_much(NULL) == &wrong;
    }
    return done && is_whole(tree, LIVE) ? 0 : 1;
}

/* ---- the limit ---- */

enum { LIMITED = 30000 };

/* Of a heap that has room for twice as much. */
static bool fill(void **table)
{
    for (int i = 0; i < LIMITED; i++)
        if ((table[i] = GC_malloc(80)) == NULL)
            return false;
    return true;
}

/* A mark has begun, and what the table held is marked. */
static void wait_for_mark(void)
{
    GC_start_incremental_collection();
    for (int i = 0; i < 200 && !sgc_concurrent_marks(); i++)
        sgc_sleep_ns(5 * WHITE_MS);
}

/* What dies beside a mark is found by the next one, so that a request may need two cycles. */
static int at_the_limit(void)
{
    static void *table[2][LIMITED];

    environment("GC_MAXIMUM_HEAP_SIZE=6m", "SGC_PACING=limit", "GC_PAUSE_TIME_TARGET=0");
    GC_INIT();
    for (int i = 0; i < 200; i++) {
        if (!fill(table[i % 2]))
            return 1;
        if (i % 20 == 0)
            wait_for_mark();
        memset(table[i % 2], 0, sizeof table[0]);
    }
    return GC_get_gc_no() > 2 ? 0 : 2;
}

int main(void)
{
    report = child_shared(sizeof *report);
    setenv("GC_PAUSE_TIME_TARGET", "1", 1);
    tap_plan(7);
    check_many_threads();
    child_ok(under_lock, "a thread with the allocation lock waits for nobody");
    child_ok(at_the_limit, "near the limit nothing is refused that another cycle finds");
    return tap_done();
}
