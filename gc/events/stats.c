/* SPDX-License-Identifier: MIT */
/*
 * Adding up what the collector's events say.
 *
 *   variable    written by                     read by        ordering
 *   now         resumed, cycle_end (one        the same       the lock of the collection
 *               thread at a time)
 *   published   resumed, cycle_end             any thread     every word stored with release, loaded
 *   version     resumed, cycle_end             any thread     with acquire
 *   counters    any thread, by addition        any thread     relaxed: each is right by itself
 *
 * There are two sets of published words; version n is in set n%2, so that the writer fills one set
 * while readers copy the other.  Why a reader that saw version n before and after has words of that
 * version: set n%2 is written again only for version n+2, and version n+1 is stored before that.  A
 * load that sees a word of version n+2 acquires what was written before it, so the second look sees
 * version n+1 at least.  A reader never waits for a writer: it may run in a signal handler on top
 * of it, or while it is stopped; it tries again only if a stop or a cycle ended meanwhile.
 */
#include "gc/events/stats.h"

#include <string.h>

#include "gc/events/histogram.h"
#include "platform/report.h"

enum {
    WORDS = sizeof(struct sgc_cycle_totals) / sizeof(uint64_t),
    ATTEMPTS = 1000,
};

static struct sgc_cycle_totals now SGC_STATE;
static sgc_aw_t published[2][WORDS] SGC_STATE;
static sgc_aw_t version SGC_STATE;

static struct sgc_histogram pauses SGC_STATE, stops SGC_STATE, marks SGC_STATE;

static struct {
    sgc_aw_t grown_bytes, grown_times, returned_bytes, returned_times;
    sgc_aw_t threads, threads_max, threads_registered;
} counters SGC_STATE;

/* ---- adding up --------------------------------------------------------------------------------------- */

uint64_t sgc_stats_mark_ns(const uint64_t phase_ns[SGC_PHASES])
{
    return phase_ns[SGC_PHASE_ROOTS] + phase_ns[SGC_PHASE_MARK] + phase_ns[SGC_PHASE_RESCAN];
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_waits(struct sgc_waits *sum, const struct sgc_waits *w)
{
    sum->times += w->times;
    sum->ns += w->ns;
    sum->worth_ns += w->worth_ns;
    sum->longest_ns = larger(sum->longest_ns, w->longest_ns);
    sum->over_ns = larger(sum->over_ns, w->over_ns);
}

static void add_sums(struct sgc_cycle_totals *t, const struct sgc_cycle_record *r)
{
    sgc_assert(r->marked.pointer_free_bytes <= r->marked.bytes && r->marked.finalizable_bytes <= r->marked.bytes);
    t->cycles++;
    t->by_reason[r->reason]++;
    t->clear_ns += r->times.clear_ns;
    t->concurrent += r->concurrent.earlier_stops != 0;
    t->concurrent_ns += r->concurrent.marking_ns;
    for (int i = 0; i < SGC_WAITS; i++)
        add_waits(&t->waits[i], &r->concurrent.waits[i]);
    t->marked_objects += r->marked.objects;
    t->marked_bytes += r->marked.bytes;
    t->allocated_bytes += r->heap.allocated_bytes;
    t->rescans += r->marked.rescans;
    t->mark_stack_depth = larger(t->mark_stack_depth, r->marked.stack_depth);
    t->heap_bytes_max = larger(t->heap_bytes_max, r->heap.bytes);
}

static void take_last(struct sgc_cycle_totals *t, const struct sgc_cycle_record *r)
{
    sgc_assert(r->heap.free_bytes <= r->heap.bytes);
    sgc_assert(r->times.phase_ns[SGC_PHASE_STOP] <= sgc_cycle_pause_ns(r));
    t->live_bytes = r->heap.live_bytes_after;
    t->heap_bytes = r->heap.bytes;
    t->free_bytes = r->heap.free_bytes;
    t->root_bytes = r->marked.root_bytes;
    t->threads_stopped = r->threads.stopped;
    t->threads_blocked = r->threads.blocked;
    t->pages_consumed_max = r->pages.consumed_max;
    t->pages_taken = r->pages.taken;
    t->pages_fresh = r->pages.fresh;
    t->pages_foreign = r->pages.foreign;
    t->pages_far = r->pages.far;
    t->last_pause_ns = sgc_cycle_pause_ns(r);
    t->last_stop_ns = r->times.phase_ns[SGC_PHASE_STOP];
    t->last_end_ns = r->times.resumed_ns;
}

static void publish(void)
{
    uint64_t words[WORDS];

    _Static_assert(sizeof words == sizeof now, "only 64-bit words");
    memcpy(words, &now, sizeof words);
    uintptr_t next = sgc_aw_load(&version) + 1;
    for (int i = 0; i < WORDS; i++)
        sgc_aw_store_rel(&published[next % 2][i], words[i]);
    sgc_aw_store_rel(&version, next);
}

/* Each stop by itself, so that the parts sum up to the pauses. */
static void add_stop(const struct sgc_cycle_record *r)
{
    sgc_assert(sgc_cycle_check(r));
    sgc_histogram_add(&pauses, sgc_cycle_pause_ns(r));
    sgc_histogram_add(&stops, r->times.phase_ns[SGC_PHASE_STOP]);
    sgc_histogram_add(&marks, sgc_stats_mark_ns(r->times.phase_ns));
    for (int i = 0; i < SGC_PHASES; i++)
        now.phase_ns[i] += r->times.phase_ns[i];
}

/* A stop that ends no cycle: another one follows, or the mark was given up.  The last stop of a
 * cycle is counted at its end, with the rest. */
static void on_resumed(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    if (record->complete)
        return;
    add_stop(record);
    publish();
}

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    add_stop(record);
    add_sums(&now, record);
    take_last(&now, record);
    publish();
}

static void on_heap_grown(void *context, size_t bytes)
{
    sgc_assert(bytes != 0);
    (void)context;
    sgc_aw_add_relaxed(&counters.grown_bytes, bytes);
    sgc_aw_add_relaxed(&counters.grown_times, 1);
}

static void on_heap_returned(void *context, size_t bytes)
{
    sgc_assert(bytes != 0);
    (void)context;
    sgc_aw_add_relaxed(&counters.returned_bytes, bytes);
    sgc_aw_add_relaxed(&counters.returned_times, 1);
}

static void on_thread_registered(void *context, sgc_tid_t tid)
{
    sgc_assert(tid > 0);
    (void)context, (void)tid;
    uintptr_t threads = sgc_aw_add_relaxed(&counters.threads, 1) + 1;
    uintptr_t seen = sgc_aw_load(&counters.threads_max);

    while (threads > seen && !sgc_aw_cas(&counters.threads_max, seen, threads))
        seen = sgc_aw_load(&counters.threads_max);
    sgc_aw_add_relaxed(&counters.threads_registered, 1);
}

static void on_thread_gone(void *context, sgc_tid_t tid)
{
    sgc_assert(tid > 0);
    sgc_assert(sgc_aw_load(&counters.threads) != 0);
    (void)context, (void)tid;
    sgc_aw_add_relaxed(&counters.threads, (uintptr_t)-1);
}

static const struct sgc_listener listener = {
    .resumed = on_resumed,
    .cycle_end = on_cycle_end,
    .heap_grown = on_heap_grown,
    .heap_returned = on_heap_returned,
    .thread_registered = on_thread_registered,
    .thread_gone = on_thread_gone,
};

void sgc_stats_start(void)
{
    sgc_verify(sgc_listener_add(&listener));
}

/* ---- reading ----------------------------------------------------------------------------------------- */

/* One attempt; true when all words are of the same cycle. */
static bool copy_published(uint64_t words[WORDS])
{
    uintptr_t before = sgc_aw_load_acq(&version);

    for (int i = 0; i < WORDS; i++)
        words[i] = sgc_aw_load_acq(&published[before % 2][i]);
    return sgc_aw_load_acq(&version) == before;
}

static void summarise(const struct sgc_histogram *histogram, struct sgc_distribution *out)
{
    out->total = sgc_aw_load(&histogram->total);
    out->p50 = sgc_histogram_permille(histogram, 500);
    out->p99 = sgc_histogram_permille(histogram, 990);
    out->max = sgc_aw_load(&histogram->max);
}

void sgc_stats_get(struct sgc_totals *totals)
{
    uint64_t words[WORDS];

    for (int attempt = 0; attempt < ATTEMPTS; attempt++)
        if (copy_published(words))
            break;
    memcpy(&totals->cycle, words, sizeof words);
    summarise(&pauses, &totals->pause);
    summarise(&stops, &totals->stop);
    summarise(&marks, &totals->mark);
    totals->grown_bytes = sgc_aw_load(&counters.grown_bytes);
    totals->grown_times = sgc_aw_load(&counters.grown_times);
    totals->returned_bytes = sgc_aw_load(&counters.returned_bytes);
    totals->returned_times = sgc_aw_load(&counters.returned_times);
    totals->threads = sgc_aw_load(&counters.threads);
    totals->threads_max = sgc_aw_load(&counters.threads_max);
    totals->threads_registered = sgc_aw_load(&counters.threads_registered);
}
