/* SPDX-License-Identifier: MIT */
/*
 * Counters of the heap.  Any thread, any time: nothing is locked, so a set of numbers of one moment
 * is one that no collection came between.
 */
#include "gc/api/api.h"

#include <string.h>

#include "gc/api/hooks.h"
#include "gc/config/public_vars.h"
#include "gc/collect/collect.h"
#include "gc/pacing/heap_size.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/pacing_rules.h"
#include "gc/events/stats.h"

enum { ATTEMPTS = 100 };

/* ---- one by one ---- */

static size_t live_bytes(const struct sgc_counts *c)
{
    return sgc_pace_less(c->live + c->allocated_since, c->freed_since);
}

static size_t all_live_bytes(void)
{
    struct sgc_counts c;

    sgc_counts_get(&c);
    return live_bytes(&c);
}

size_t sgc_api_free_bytes(void)
{
    return sgc_pace_less(sgc_heap_size(), all_live_bytes());
}

#define FIGURE(name, type, value) \
    type GC_get_##name(void) { return value; }

FIGURE(gc_no, GC_word, sgc_cycles_finished())
FIGURE(heap_size, size_t, sgc_heap_size())
FIGURE(free_bytes, size_t, sgc_api_free_bytes())
FIGURE(unmapped_bytes, size_t, sgc_pace_less(sgc_heap_committed(), sgc_heap_size()))
FIGURE(bytes_since_gc, size_t, sgc_counts_allocated_since())
FIGURE(expl_freed_bytes_since_gc, size_t, sgc_counts_freed_since())
FIGURE(total_bytes, size_t, sgc_counts_allocated_total())
FIGURE(obtained_from_os_bytes, size_t, sgc_heap_committed())
FIGURE(memory_use, size_t, all_live_bytes())

/* ---- several ---- */

static void read_once(struct GC_prof_stats_s *s)
{
    GC_word size = GC_get_heap_size();
    GC_word committed = sgc_heap_committed();
    struct sgc_counts c;

    sgc_counts_get(&c);
    *s = (struct GC_prof_stats_s){
        .heapsize_full = sgc_pace_larger(committed, size),
        .unmapped_bytes = sgc_pace_less(committed, size),
        .bytes_allocd_since_gc = c.allocated_since,
        .allocd_bytes_before_gc = c.allocated_before,
        .non_gc_bytes = sgc_aw_load(&sgc_client_non_gc_bytes),
        .gc_no = sgc_cycles_finished(),
        .markers_m1 = (GC_word)GC_get_parallel(),
        .bytes_reclaimed_since_gc = sgc_aw_load(&sgc_api_counters.reclaimed_last),
        .reclaimed_bytes_before_gc = sgc_aw_load(&sgc_api_counters.reclaimed_before),
        .expl_freed_bytes_since_gc = c.freed_since,
        .obtained_from_os_bytes = committed,
    };
    s->free_bytes_full = sgc_pace_less(size, live_bytes(&c)) + s->unmapped_bytes;
    sgc_assert(s->unmapped_bytes <= s->free_bytes_full && s->unmapped_bytes <= s->heapsize_full);
}

static void read_all(struct GC_prof_stats_s *s)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t before = sgc_cycles_finished();

        read_once(s);
        if (sgc_cycles_finished() == before)
            return;
    }
}

static void store(GC_word *where, GC_word value)
{
    if (where != NULL)
        *where = value;
}

void GC_get_heap_usage_safe(GC_word *heap_size, GC_word *free_bytes, GC_word *unmapped_bytes,
                            GC_word *bytes_since_gc, GC_word *total_bytes)
{
    struct GC_prof_stats_s s = { 0 };

    read_all(&s);
    sgc_assert(s.unmapped_bytes <= s.heapsize_full);
    store(heap_size, s.heapsize_full - s.unmapped_bytes);
    store(free_bytes, s.free_bytes_full - s.unmapped_bytes);
    store(unmapped_bytes, s.unmapped_bytes);
    store(bytes_since_gc, s.bytes_allocd_since_gc);
    store(total_bytes, s.allocd_bytes_before_gc + s.bytes_allocd_since_gc);
}

size_t GC_get_prof_stats_unsafe(struct GC_prof_stats_s *stats, size_t size)
{
    struct GC_prof_stats_s s = { 0 };
    size_t known = size < sizeof s ? size : sizeof s;

    read_all(&s);
    memcpy(stats, &s, known);
    if (size > known)
        memset((char *)stats + known, 0xff, size - known);
    return known;
}

size_t GC_get_prof_stats(struct GC_prof_stats_s *stats, size_t size) SGC_API_SAME(GC_get_prof_stats_unsafe);

/* ---- time ---- */

void GC_start_performance_measurement(void)
{
    sgc_a32_store(&sgc_api_counters.measuring, 1);
}

enum { NS_PER_MS = 1000000 };

unsigned long GC_get_full_gc_total_time(void)
{
    return sgc_aw_load(&sgc_api_counters.measured_ns) / NS_PER_MS;
}

unsigned long GC_get_full_gc_total_ns_frac(void)
{
    return sgc_aw_load(&sgc_api_counters.measured_ns) % NS_PER_MS;
}

unsigned long GC_get_stopped_mark_total_time(void)
{
    return sgc_aw_load(&sgc_api_counters.stopped_ns) / NS_PER_MS;
}

unsigned long GC_get_avg_stopped_mark_time_ns(void)
{
    unsigned long stops = sgc_aw_load(&sgc_api_counters.stops);

    return stops != 0 ? sgc_aw_load(&sgc_api_counters.stopped_ns) / stops : 0;
}
