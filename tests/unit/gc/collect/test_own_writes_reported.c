/* SPDX-License-Identifier: MIT */
/*
 * What SGC itself stores into objects of a program that reports its writes: all of the heap is watched before each call, and
 * the cards of the words that have pointers in them are written after it.  Also: gc/api/objects.c, gc/api/created_threads.c,
 * alloc/small/small.c, shortterm/regions.c.
 */
#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>
#include <gc/gc_backptr.h>
#include <gc/gc_gcj.h>
#include <gc/gc_inline.h>
#include <gc/gc_typed.h>
#include <sgc.h>
#include <sgc_shortterm.h>

#include "platform/written/written.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

static bool is_written(const void *address)
{
    return sgc_a8_load(&sgc_cards.of[((uintptr_t)address - sgc_heap.base) / sgc_heap.os_page]) == SGC_CARD_WRITTEN;
}

static uintptr_t heap_bytes(void)
{
    return sgc_aw_load(&sgc_heap.limit);
}

static void watch_all(void)
{
    sgc_written_software.arm(sgc_heap.base, sgc_heap.base + heap_bytes());
}

static size_t count_written(void)
{
    size_t count = 0;

    for (uintptr_t at = 0; at < heap_bytes(); at += sgc_heap.os_page)
        count += is_written((const void *)(sgc_heap.base + at));
    return count;
}

static void GC_CALLBACK finalize(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
}

static void *volatile held[8];          /* static data */

/* Nothing but the batch's links. */
static bool batch(size_t bytes, bool generic)
{
    void **cell = GC_malloc(sizeof *cell), *first;
    size_t count = 0;

    watch_all();
    if (generic)
        GC_generic_malloc_many(bytes, GC_I_NORMAL, cell);
    first = generic ? *cell : GC_malloc_many(bytes);
    for (void **object = first; GC_NEXT(object) != NULL; object = GC_NEXT(object), count++)
        if (!is_written(object))
            return false;
    return count != 0 && (!generic || is_written(cell));
}

static bool resized(size_t had, size_t bytes)
{
    char *object = GC_malloc(had), *fresh;

    held[0] = object;
    held[2] = GC_malloc(had);           /* a large object does not grow where it is */
    memset(object, 1, had);
    watch_all();
    fresh = GC_realloc(object, bytes);
    return fresh != object && is_written(fresh) && is_written(fresh + had - 1);
}

static bool resized_typed(void)
{
    static const GC_word pointers = 1;
    void **object = GC_malloc_explicitly_typed(32, GC_make_descriptor(&pointers, 1));

    watch_all();
    return is_written(GC_realloc(object, 3000));
}

static bool for_debugging(void)
{
    void *object, *fresh;

    watch_all();
    object = GC_debug_malloc(5000, __FILE__, __LINE__);
    if (!is_written(GC_base(object)))
        return false;
    watch_all();
    fresh = GC_debug_realloc(object, 9000, __FILE__, __LINE__);
    return is_written(fresh) && is_written((char *)fresh + 4999);
}

static bool finalizer_data(bool debug)
{
    void **cell = GC_malloc(sizeof *cell), *object = debug ? GC_debug_malloc(32, __FILE__, __LINE__) : GC_malloc(32);
    GC_finalization_proc fn;

    watch_all();
    if (debug)
        GC_debug_register_finalizer(object, finalize, cell, NULL, NULL);
    else
        GC_register_finalizer(object, finalize, cell, NULL, NULL);
    if (debug && count_written() == 0)                  /* the closure that has the data */
        return false;
    watch_all();
    if (debug)
        GC_debug_register_finalizer(object, NULL, NULL, &fn, cell);
    else
        GC_register_finalizer(object, NULL, NULL, &fn, cell);
    return *cell == (void *)cell && is_written(cell);
}

static bool gcj_type(void)
{
    static uintptr_t type[2];
    void *object;

    GC_init_gcj_malloc(0, NULL);
    watch_all();
    object = GC_gcj_malloc(64, type);
    return is_written(object);
}

static bool results(void)
{
    void **cell = GC_malloc(sizeof *cell), **holder = GC_malloc(sizeof *holder);
    size_t offset;
    bool told;

    watch_all();
    told = GC_posix_memalign(cell, 64, 100) == 0 && is_written(cell);
    *holder = GC_malloc(16);
    held[1] = holder;
    watch_all();
    return told && (GC_get_back_ptr_info(*holder, cell, &offset) < GC_REFD_FROM_ROOT || is_written(cell));
}

static sgc_a32_t may_end;

static void *return_it(void *arg)
{
    white_reached(&may_end, 1);
    return arg;
}

static bool uncollectable_written(void)
{
    for (uint32_t page = 1; page < heap_bytes() / SGC_PAGE; page++)
        if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL &&
            sgc_kind_uncollectable(sgc_heap.pages[page].kind))
            for (size_t at = 0; at < SGC_PAGE; at += sgc_heap.os_page)
                if (is_written((const char *)sgc_page_start(page) + at))
                    return true;
    return false;
}

/* A record has the thread's argument, then its result. */
static bool thread_record(void)
{
    void **cell = GC_malloc(sizeof *cell);
    uint64_t until = sgc_clock_ns() + UINT64_C(20000000000);
    pthread_t thread;
    bool told;

    watch_all();
    told = GC_pthread_create(&thread, NULL, return_it, cell) == 0 && uncollectable_written();
    watch_all();
    sgc_a32_store_rel(&may_end, 1);
    while (!uncollectable_written() && sgc_clock_ns() < until)
        sgc_yield();
    told = told && uncollectable_written() && !is_written(cell);
    GC_pthread_join(thread, cell);
    return told && *cell == (void *)cell && is_written(cell);
}

/* Their last dates are over at the same tick: then the one leads to the other, and nothing else does. */
static bool regions_over(void)
{
    SGC_region_t *region[2] = { SGC_region_new(), SGC_region_new() };

    if (SGC_region_refresh(region[0], 0) != 0 || SGC_region_refresh(region[1], 0) != 0)
        return false;
    watch_all();
    return SGC_tick() == 0 && is_written(region[1]);
}

static bool reports(void)
{
    char *small = GC_malloc(9000), *large = GC_malloc(100000);
    size_t os_page = sgc_heap.os_page;
    bool told;

    watch_all();
    GC_end_stubborn_change(small + 8000);
    told = count_written() == 1 && is_written(small + 8000);
    watch_all();
    GC_ptr_store_and_dirty(large + 8 * os_page, small);
    told = told && count_written() == 1 && is_written(large + 8 * os_page);
    watch_all();
    GC_end_stubborn_change(large + 500);
    told = told && is_written(large) && is_written(large + 99999);
    watch_all();
    SGC_dirty(large + os_page, 2 * os_page);
    told = told && count_written() == 2 && is_written(large + os_page) && is_written(large + 2 * os_page);
    watch_all();
    GC_end_stubborn_change(&told);
    GC_end_stubborn_change((void *)8);
    SGC_dirty(NULL, sgc_heap.base);
    return told && count_written() == 0;
}

static int store_by_itself(void)
{
    int at = 1;

    GC_INIT();
    if (!sgc_written_is_reported())
        return CHILD_SKIPS;
    GC_expand_hp(16 << 20);
    held[7] = GC_malloc(1 << 20);
    held[6] = GC_malloc_uncollectable(24);
    watch_all();
    held[5] = GC_malloc(5000);
    if (count_written() != 0)
        return at;
#define EXPECT(condition) do { at++; if (!(condition)) return at; } while (0)
    EXPECT(batch(16, false));
    EXPECT(batch(2000, false));
    EXPECT(batch(2000, true));
    EXPECT(resized(100, 3000));
    EXPECT(resized(15000, 30000));
    EXPECT(resized(200000, 900000));
    EXPECT(resized_typed());
    EXPECT(for_debugging());
    EXPECT(finalizer_data(false));
    EXPECT(finalizer_data(true));
    EXPECT(gcj_type());
    EXPECT(results());
    EXPECT(thread_record());
    EXPECT(regions_over());
    EXPECT(reports());
#undef EXPECT
    return 0;
}

int main(void)
{
    environment("SGC_MODE=concurrent", "GC_PAUSE_TIME_TARGET=3600000", "SGC_DIRTY=software");
    child_ok(store_by_itself, "what SGC stores into objects is reported");
    return tap_done();
}
