/* SPDX-License-Identifier: MIT */
/* The queries of gc.h: each counter moves as what it counts moves, and they agree with each other. */
#include "api.h"

#define MB ((size_t)1 << 20)

static void *keep[1000];

static void fill(size_t size)
{
    for (int i = 0; i < 1000; i++)
        keep[i] = GC_malloc_atomic(size);
}

static void check_allocation(void)
{
    size_t total = GC_get_total_bytes(), since, used;

    GC_gcollect();
    since = GC_get_bytes_since_gc();
    used = GC_get_memory_use();
    GC_disable();
    fill(API_LARGE);
    tap_ok(GC_get_total_bytes() >= total + 1000 * API_LARGE, "GC_get_total_bytes counts what is allocated");
    tap_ok(GC_get_bytes_since_gc() >= since + 1000 * API_LARGE, "GC_get_bytes_since_gc too");
    tap_ok(GC_get_bytes_since_gc() < since + 1500 * API_LARGE, "and not much more");
    tap_ok(GC_get_memory_use() >= used + 1000 * API_LARGE, "GC_get_memory_use grows by it");
    GC_enable();
    total = GC_get_total_bytes();
    GC_gcollect();
    tap_ok(GC_get_bytes_since_gc() < MB, "a collection sets the one back (%zu)", GC_get_bytes_since_gc());
    tap_ok(GC_get_total_bytes() >= total, "and not the other");
}

static void check_free(void)
{
    size_t freed, used = GC_get_memory_use();

    GC_gcollect();
    freed = GC_get_expl_freed_bytes_since_gc();
    for (int i = 0; i < 1000; i++) {
        GC_free(keep[i]);
        keep[i] = NULL;
    }
    tap_ok(GC_get_expl_freed_bytes_since_gc() >= freed + 1000 * API_LARGE, "GC_free is counted");
    tap_ok(GC_get_memory_use() + 900 * API_LARGE <= used, "GC_get_memory_use shrinks by it");
    GC_gcollect();
    tap_ok(GC_get_expl_freed_bytes_since_gc() < MB, "a collection sets it back");
}

/* Small ones, and signed: bdwgc 8.2 counts neither large ones nor each small one. */
static void check_uncollectable(void)
{
    intptr_t before = (intptr_t)GC_get_non_gc_bytes(), wanted = api_on_sgc ? 1000 * 1000 : 500 * 1000;

    for (int i = 0; i < 1000; i++)
        keep[i] = GC_malloc_uncollectable(1000);
    tap_ok((intptr_t)GC_get_non_gc_bytes() >= before + wanted, "uncollectable objects are counted");
    for (int i = 0; i < 1000; i++)
        GC_free(keep[i]);
    tap_ok((intptr_t)GC_get_non_gc_bytes() < before + 1000, "until they are freed");
}

static void check_heap(void)
{
    GC_word size, unused, unmapped, since, total;

    fill(20 * 1024);
    tap_ok(GC_get_heap_size() >= 1000 * 20 * 1024, "the heap holds what is allocated");
    tap_ok(GC_get_obtained_from_os_bytes() >= GC_get_heap_size() + GC_get_unmapped_bytes(),
           "and all of it came from the system");
    tap_ok(GC_get_heap_size() >= GC_get_free_bytes(), "free bytes are part of it");
    GC_get_heap_usage_safe(&size, &unused, &unmapped, &since, &total);
    tap_ok(size >= unused && size >= 1000 * 20 * 1024 && total >= since, "five numbers of one moment");
    tap_ok(total == GC_get_total_bytes() && size + unmapped == GC_get_heap_size() + GC_get_unmapped_bytes(),
           "the same as one by one");
    GC_get_heap_usage_safe(NULL, NULL, NULL, NULL, &total);
    tap_ok(total >= 1000 * 20 * 1024, "any of them may be left out");
    memset(keep, 0, sizeof(keep));
}

/* Memory whose objects are gone is free, or given back. */
static void check_returned(void)
{
    api_collect();
    GC_gcollect_and_unmap();
    tap_ok(GC_get_free_bytes() + GC_get_unmapped_bytes() >= 900 * 20 * 1024, "freed memory is free or given back");
    tap_ok(GC_get_unmapped_bytes() >= 500 * 20 * 1024, "GC_gcollect_and_unmap gives it back (%zu)",
           GC_get_unmapped_bytes());
}

static void check_prof_stats(void)
{
    struct GC_prof_stats_s stats;
    GC_word larger[sizeof(stats) / sizeof(GC_word) + 2];

    memset(&stats, 0xaa, sizeof(stats));
    tap_ok(GC_get_prof_stats(&stats, sizeof(stats)) == sizeof(stats), "GC_get_prof_stats knows the whole structure");
    tap_ok(stats.heapsize_full == GC_get_heap_size() + GC_get_unmapped_bytes()
           && stats.free_bytes_full == GC_get_free_bytes() + GC_get_unmapped_bytes()
           && stats.unmapped_bytes == GC_get_unmapped_bytes(), "the heap, as the other functions say");
    tap_ok(stats.allocd_bytes_before_gc + stats.bytes_allocd_since_gc == GC_get_total_bytes()
           && stats.bytes_allocd_since_gc == GC_get_bytes_since_gc(), "allocations too");
    tap_ok(stats.gc_no == GC_get_gc_no() && stats.non_gc_bytes == GC_get_non_gc_bytes()
           && stats.markers_m1 == (GC_word)GC_get_parallel()
           && stats.obtained_from_os_bytes == GC_get_obtained_from_os_bytes()
           && stats.expl_freed_bytes_since_gc == GC_get_expl_freed_bytes_since_gc(), "and the rest");
    memset(larger, 0xaa, sizeof(larger));
    tap_ok(GC_get_prof_stats((struct GC_prof_stats_s *)larger, sizeof(larger)) == sizeof(stats)
           && larger[sizeof(stats) / sizeof(GC_word)] == (GC_word)-1 && larger[0] == stats.heapsize_full,
           "a newer client's members become all ones");
    memset(&stats, 0xaa, sizeof(stats));
    tap_ok(GC_get_prof_stats(&stats, 2 * sizeof(GC_word)) == 2 * sizeof(GC_word)
           && (stats.unmapped_bytes & 0xff) == 0xaa && stats.free_bytes_full == larger[1],
           "an older client's structure is filled as far as it goes");
}

static void *unsafe_stats(void *arg)
{
    return (void *)GC_get_prof_stats_unsafe(arg, sizeof(struct GC_prof_stats_s));
}

static void check_under_lock(void)
{
    struct GC_prof_stats_s stats;

    memset(&stats, 0, sizeof(stats));
    tap_ok(GC_call_with_alloc_lock(unsafe_stats, &stats) == (void *)sizeof(stats) && stats.gc_no == GC_get_gc_no(),
           "GC_get_prof_stats_unsafe works under the lock");
}

static void check_time(void)
{
    unsigned long before;
    int collections = 0;

    GC_start_performance_measurement();
    before = GC_get_full_gc_total_time();
    for (int i = 0; i < 1000; i++) {
        keep[i] = GC_malloc(20 * 1024);
        for (int word = 1; word < 2560; word++)
            ((void **)keep[i])[word] = (char *)keep[(i + word) % (i + 1)] + word;
    }
    while (GC_get_full_gc_total_time() == before && collections++ < 500)
        GC_gcollect();
    tap_ok(GC_get_full_gc_total_time() > before, "the time of collections is measured (1 ms after %d)", collections);
}

int main(void)
{
    GC_INIT();
    return tap_all(check_allocation, check_free, check_uncollectable, check_heap, check_returned,
                   check_prof_stats, check_under_lock, check_time);
}
