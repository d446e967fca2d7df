/* SPDX-License-Identifier: MIT */
/*
 * sgc.h: SGC_init, the statistics, the checks and listings.
 *
 * Also: gc/api/events.c.
 */
#include "api.h"
#include "../lib/capture.h"

#include <gc/gc_typed.h>
#include <sgc.h>

#define MB ((uint64_t)1 << 20)

static void *keep[1000];

static void init_once(void)
{
    API_CHILD(SGC_init(1, NULL) == 0 && GC_is_init_called());
    API_CHILD(GC_thread_is_registered() && GC_malloc(10) != NULL);
    GC_INIT();
}

static void init_twice(void)
{
    API_CHILD(SGC_init(1, NULL) == 0);
    API_CHILD(SGC_init(1, NULL) == EALREADY);
}

static void init_negative(void)
{
    API_CHILD(SGC_init(-1, NULL) == EINVAL && !GC_is_init_called());
    API_CHILD(SGC_init(1, NULL) == 0);
}

static void init_attributes(void)
{
    SGC_attr_t *volatile attributes = (SGC_attr_t *)(void *)keep;

    API_CHILD(SGC_init(1, attributes) == EINVAL && !GC_is_init_called());
}

static void init_many(void)
{
    struct SGC_stats stats;

    API_CHILD(SGC_init(100000, NULL) == 0);
    API_CHILD(SGC_get_stats(&stats, sizeof(stats)) == sizeof(stats) && stats.markers >= 1 && stats.markers <= 1024);
}

static struct SGC_stats get_stats(void)
{
    struct SGC_stats stats;

    memset(&stats, 0xee, sizeof(stats));
    if (SGC_get_stats(&stats, sizeof(stats)) != sizeof(stats))
        tap_bail("SGC_get_stats does not know its own structure");
    return stats;
}

static void fill(void)
{
    for (int i = 0; i < 1000; i++)
        keep[i] = GC_malloc(API_LARGE);
}

static void check_collections(void)
{
    struct SGC_stats before = get_stats(), after;

    for (int i = 0; i < 5; i++)
        GC_collect();
    after = get_stats();
    tap_ok(after.collections == before.collections + 5, "GC_collect collects, and is counted");
    tap_ok(after.collections == GC_get_gc_no(), "as GC_get_gc_no does");
    tap_ok(after.pause_ns > before.pause_ns && after.mark_ns > before.mark_ns, "pauses and marking take time");
    tap_ok(after.pause_ns == after.stop_ns + after.mark_ns + after.other_ns, "the parts of the pauses make the whole");
    tap_ok(after.pause_max_ns > 0 && after.pause_max_ns <= after.pause_ns, "the longest pause is one of them");
    tap_ok(after.stop_max_ns <= after.stop_ns && after.stop_max_ns <= after.pause_max_ns, "so is the longest stop");
}

static void check_memory(void)
{
    struct SGC_stats before = get_stats(), after;

    fill();
    GC_collect();
    after = get_stats();
    tap_ok(after.live_bytes >= 1000 * API_LARGE && after.live_objects >= 1000, "live bytes and objects");
    tap_ok(after.live_bytes < 30 * MB, "and not much more (%lu)", (unsigned long)after.live_bytes);
    tap_ok(after.allocated_bytes >= before.allocated_bytes + 1000 * API_LARGE, "allocated bytes");
    tap_ok(after.heap_bytes >= after.live_bytes && after.heap_max_bytes >= after.heap_bytes, "heap bytes");
    tap_ok(after.free_bytes <= after.heap_bytes, "free bytes are part of them");
    tap_ok(after.metadata_bytes > 0 && after.metadata_bytes < 64 * MB, "metadata is counted");
    for (int i = 0; i < 1000; i++) {
        GC_free(keep[i]);
        keep[i] = NULL;
    }
    before = after;
    after = get_stats();
    tap_ok(after.freed_bytes >= before.freed_bytes + 1000 * API_LARGE, "freed bytes");
    api_collect();
    GC_gcollect_and_unmap();
    before = after;
    after = get_stats();
    tap_ok(after.live_bytes + 5 * MB < before.live_bytes, "what is freed is no longer live");
    tap_ok(after.returned_bytes >= before.returned_bytes + 5 * MB, "memory given back is counted");
}

static void *count_threads(void *result)
{
    *(uint64_t *)result = get_stats().threads;
    return NULL;
}

static void check_threads(void)
{
    uint64_t here = get_stats().threads, there = 0;

    api_in_thread(count_threads, &there);
    tap_ok(here == 1 && there == 2, "registered threads are counted");
    tap_ok(get_stats().threads == 1, "until they end");
    tap_ok(get_stats().markers >= 1, "there is a marker");
}

static void use_pages(void)
{
    for (int i = 0; i < 1000; i++)
        GC_free(GC_malloc(API_LARGE));
}

/* Pages that this thread used first are another's then. */
static void check_pages(void)
{
    struct SGC_stats before, after;

    fill();
    memset(keep, 0, sizeof(keep));
    api_collect();
    before = get_stats();
    tap_ok(before.pages_fresh > 0 && before.pages_taken >= before.pages_fresh && before.pages_foreign == 0 &&
           before.pages_consumed_max >= 1000 * API_LARGE / 65536, "pages taken and consumed (%lu, %lu)",
           (unsigned long)before.pages_taken, (unsigned long)before.pages_consumed_max);
    api_run(use_pages);
    after = get_stats();
    tap_ok(after.pages_foreign > before.pages_foreign && after.pages_taken > before.pages_taken,
           "pages that another thread was the first to use (%lu)", (unsigned long)after.pages_foreign);
}

static void check_sizes(void)
{
    struct SGC_stats stats;
    uint64_t larger[sizeof(stats) / 8 + 2];

    memset(larger, 0xee, sizeof(larger));
    tap_ok(SGC_get_stats((struct SGC_stats *)larger, sizeof(larger)) == sizeof(stats)
           && larger[sizeof(stats) / 8] == 0 && larger[sizeof(stats) / 8 + 1] == 0,
           "a newer client's members are zero");
    memset(&stats, 0xee, sizeof(stats));
    tap_ok(SGC_get_stats(&stats, 8) == 8 && stats.collections == GC_get_gc_no() && (stats.live_bytes & 0xff) == 0xee,
           "an older client's structure is not overrun");
}

static void check_listings(void)
{
    const char *said;

    fill();
    tap_ok(SGC_check() == 0, "the heap is in order");
    capture_begin();
    SGC_print_options();
    said = capture_end();
    tap_ok(strstr(said, "GC_MAXIMUM_HEAP_SIZE") != NULL && strstr(said, "SGC_DECAY_MS") != NULL
           && capture_count(said, "\n") > 10, "SGC_print_options lists them");
    tap_ok(SGC_version()[0] == '0' + SGC_VERSION_MAJOR && capture_count(SGC_version(), ".") == 2, "SGC_version");
}

/* An object of that kind, and the count of bytes that are not collected before and after it. */
static bool aligned_object(int kind, size_t alignment, size_t size)
{
    size_t before = GC_get_non_gc_bytes(), bytes = 0;
    char *object = SGC_memalign(alignment, size, kind);
    bool good = object != NULL && (uintptr_t)object % alignment == 0 && GC_base(object + size) == object &&
                GC_get_kind_and_size(object, &bytes) == kind && bytes > size &&
                GC_get_non_gc_bytes() == before + (kind >= 2 ? bytes : 0);

    if (object != NULL)
        memset(object, 0xdd, size);
    GC_free(object);
    return good && GC_get_non_gc_bytes() == before;
}

static void check_aligned(void)
{
    static const size_t sizes[] = { 0, 1, 100, 5000, 100000 };
    volatile size_t wraps = SIZE_MAX - 60;
    GC_word first = 1;
    int kind, own = (int)GC_new_kind(GC_new_free_list(), GC_DS_LENGTH, 1, 1);
    bool good = own > 3;

    for (size_t alignment = 1; alignment <= 4 * 65536; alignment *= 2)
        for (int i = 0; i < 5; i++) {
            for (kind = 0; kind <= 3; kind++)
                good = aligned_object(kind, alignment, sizes[i]) && good;
            kind = GC_get_kind_and_size(SGC_memalign(alignment, sizes[i], own), NULL);
            good = kind == own && good;
        }
    tap_ok(good, "SGC_memalign, of each kind, is counted as the kind is");
    kind = GC_get_kind_and_size(GC_malloc_explicitly_typed(64, GC_make_descriptor(&first, 8)), NULL);
    tap_ok(GC_get_kind_and_size(SGC_memalign(64, 64, kind), NULL) == 1, "what should be typed may have pointers anywhere");
    tap_ok(SGC_memalign((size_t)1 << 46, 100, 2) == NULL && SGC_memalign(64, wraps, 3) == NULL, "more than there is: NULL");
}

/* Memory that must not be lost: two words, each in an object of another kind, lead to objects. */
static void *make_aligned(void *arg)
{
    GC_hidden_pointer *target = arg;
    void **scanned = SGC_memalign(64, 64, 2), **free_of_pointers = SGC_memalign(64, 64, 3);

    scanned[7] = GC_malloc(API_LARGE);
    free_of_pointers[7] = GC_malloc(API_LARGE);
    target[0] = GC_HIDE_POINTER(scanned[7]);
    target[1] = GC_HIDE_POINTER(free_of_pointers[7]);
    return NULL;
}

static void check_aligned_contents(void)
{
    GC_hidden_pointer target[2];

    api_make_in_thread(make_aligned, target);
    api_collect();
    tap_ok(api_alive(&target[0], 1) == 1 && api_alive(&target[1], 1) == 0, "what they hold lives as the kind says");
}

int main(void)
{
    api_check_child(init_once, NULL, "SGC_init starts the collector");
    api_check_child_of(API_CHILD(SGC_init(0, NULL) == 0 && GC_malloc(10) != NULL), NULL, "with 0 markers SGC decides");
    api_check_child(init_twice, "SGC_init", "a second call is refused");
    api_check_child_of(API_CHILD(GC_malloc(10) != NULL && SGC_init(1, NULL) == EALREADY),
                       "SGC_init", "so is one after an allocation");
    api_check_child(init_negative, "-1", "a negative number of markers is refused, and can be corrected");
    api_check_child(init_attributes, "NULL", "attributes are refused");
    api_check_child(init_many, "100000", "too many markers are reduced, with a message");
    setenv("SGC_DECAY_MS", "-1", 1);
    setenv("SGC_SHARE_PAGES", "off", 1);            /* a thread leaves its pages as free ones only */
    GC_INIT();
    return tap_all(check_collections, check_memory, check_pages, check_threads, check_sizes, check_aligned,
                   check_aligned_contents, check_listings);
}
