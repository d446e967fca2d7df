/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/pool_decay.c: free pages lose their backing after their age, whole arenas first, keep their
 * protection, read as zero afterwards; memory that is locked stays and is not lost.
 */
#include <sys/mman.h>

#include "tests/lib/child.h"
#include "tests/lib/heap.h"
#include "tests/lib/sanitized.h"

static const uint64_t AGE = UINT64_C(10000000000);      /* ns; the test says what time it is */

static struct sgc_section *self;

static uint32_t take_dirty(uint32_t count)
{
    bool zero;
    uint32_t first = sgc_pool_take(count, self, &zero);

    if (first == SGC_NO_PAGE)
        tap_bail("no %u pages", count);
    memset((void *)sgc_page_start(first), 0x5a, (size_t)count * SGC_PAGE);
    return first;
}

static size_t resident(uint32_t first, uint32_t count)
{
    return sgc_mem_resident((void *)sgc_page_start(first), (size_t)count * SGC_PAGE);
}

static bool still_there(uint32_t page)
{
    return ((const char *)sgc_page_start(page))[0] == 0x5a;
}

static void test_age(void)
{
    uint32_t first = take_dirty(10);
    uint64_t before = sgc_clock_ns();

    sgc_pool_give(first, 10, self);
    uint64_t after = sgc_clock_ns();
    size_t returned = sgc_aw_load(&sgc_pool.returned);
    uint64_t due = sgc_pool_decay(before + AGE - 1, AGE, 100, self);
    tap_ok(sgc_pool_used_bytes() == 10 * SGC_PAGE && still_there(first), "pages younger than the age stay");
    tap_ok(due >= before + AGE && due <= after + AGE, "and the caller is told when they are due");
    tap_ok(sgc_pool_decay(after + AGE, UINT64_MAX, 100, self) == UINT64_MAX && still_there(first),
           "an endless age gives nothing back");
    due = sgc_pool_decay(after + AGE, AGE, 100, self);
    tap_ok(due == UINT64_MAX && sgc_pool_used_bytes() == 0, "pages of the age go back, none is waiting");
    tap_ok(sgc_aw_load(&sgc_pool.returned) - returned == 10 * SGC_PAGE, "they are counted");
    tap_ok(resident(first, 10) == 0, "they are not resident any more");
    sgc_pool_check();
    bool zero;
    tap_ok(sgc_pool_take(10, self, &zero) == first && zero, "taken again, they are called zero");
    tap_ok(heap_zero((void *)sgc_page_start(first), 10 * SGC_PAGE), "are zero, readable, ");
    memset((void *)sgc_page_start(first), 1, 10 * SGC_PAGE);
    tap_ok(resident(first, 10) == 10 * SGC_PAGE, "and writable");
    sgc_pool_give(first, 10, self);
    sgc_pool_decay(sgc_clock_ns(), 0, 100, self);
}

/* One arena at a time, wherever it is. */
static void test_next(void)
{
    enum { ARENAS = 12 };
    uint32_t first = take_dirty(ARENAS * SGC_ARENA_PAGES), at = 0, steps = 0, more = 0;
    size_t used;
    uint64_t now;

    for (uint32_t a = 0; a < ARENAS; a += ARENAS / 4)
        sgc_pool_give(first + a * SGC_ARENA_PAGES, 3, self);
    now = sgc_clock_ns();
    sgc_pool_decay_next(now, AGE, &at, self);
    tap_ok(sgc_pool_used_bytes() == 12 * SGC_PAGE, "a look for one arena that is due leaves what is younger");
    while (sgc_pool_used_bytes() != 0 && steps++ < ARENAS) {
        used = sgc_pool_used_bytes();
        sgc_pool_decay_next(now, 0, &at, self);
        more += used - sgc_pool_used_bytes() > 3 * SGC_PAGE;
    }
    tap_ok(sgc_pool_used_bytes() == 0 && more == 0 && steps == 4, "and finds each of 4, one at a time (%u looks)", steps);
    sgc_pool_check();
    for (uint32_t a = 0; a < ARENAS; a++)
        for (uint32_t i = a % (ARENAS / 4) == 0 ? 3 : 0; i < SGC_ARENA_PAGES; i++)
            sgc_pool_give(first + a * SGC_ARENA_PAGES + i, 1, self);
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
}

/* Pages in use next to free ones are not touched. */
static void test_neighbours(void)
{
    uint32_t first = take_dirty(8);

    for (uint32_t i = 0; i < 8; i += 2)
        sgc_pool_give(first + i, 1, self);
    sgc_pool_decay(sgc_clock_ns(), 0, 100, self);
    bool kept = true, gone = true;
    for (uint32_t i = 0; i < 8; i += 2) {
        gone = gone && resident(first + i, 1) == 0;
        kept = kept && still_there(first + i + 1) && ((char *)sgc_page_start(first + i + 2))[-1] == 0x5a;
    }
    tap_ok(gone, "every other page goes back");
    tap_ok(kept, "its neighbours in use keep each byte");
    for (uint32_t i = 1; i < 8; i += 2)
        sgc_pool_give(first + i, 1, self);
    sgc_pool_decay(sgc_clock_ns(), 0, 100, self);
}

/* Mappings of the heap, to see that giving back does not split them. */
static int mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t lo, hi, end = sgc_heap.base + sgc_aw_load(&sgc_heap.limit);
    int count = 0;
    char line[512];

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && lo < end && hi > sgc_heap.base)
            count++;
    if (maps != NULL)
        fclose(maps);
    return count;
}

static void test_whole_first(void)
{
    uint32_t a = take_dirty(SGC_ARENA_PAGES - 1);           /* the rest of the first arena */
    uint32_t b = take_dirty(SGC_ARENA_PAGES);               /* all of the second */
    uint32_t c = take_dirty(20);                            /* a part of the third */
    int before = mappings();

    sgc_pool_give(a, SGC_ARENA_PAGES - 1, self);
    sgc_pool_give(b, SGC_ARENA_PAGES, self);
    sgc_pool_give(c, 10, self);
    uint64_t now = sgc_clock_ns();
    tap_ok(sgc_pool_decay(now, 0, 1, self) == now, "one arena at a time: more is due");
    tap_ok(resident(b, SGC_ARENA_PAGES) == 0 && still_there(a) && still_there(c),
           "the arena that is free throughout goes first");
    sgc_pool_check();
    while (sgc_pool_decay(now, 0, 1, self) == now)
        continue;
    tap_ok(resident(a, SGC_ARENA_PAGES - 1) == 0 && resident(c, 10) == 0 && still_there(c + 10),
           "then what is free of the others");
    tap_ok(mappings() == before, "no mapping was split (%d before, %d after)", before, mappings());
    tap_ok(sgc_pool_used_bytes() == 0, "nothing is left");
    sgc_pool_give(c + 10, 10, self);
    sgc_pool_decay(sgc_clock_ns(), 0, 100, self);
}

/* A child, since locks are the process's. */
static int locked(void)
{
    bool zero;
    uint32_t first = take_dirty(4);

    if (mlock((void *)sgc_page_start(first), 4 * SGC_PAGE) != 0)
        return CHILD_SKIPS;
    sgc_pool_give(first, 4, self);
    uint64_t now = sgc_clock_ns();
    if (sgc_pool_decay(now, 0, 100, self) < now)
        return 1;
    sgc_pool_check();
    if (sgc_pool_used_bytes() != 4 * SGC_PAGE || resident(first, 4) != 4 * SGC_PAGE)
        return 2;
    if (sgc_pool_take(4, self, &zero) != first || zero)
        return 3;
    return 0;
}

/* Taking pages while another thread gives back: they are never in two hands. */
static void *decay_always(void *stop)
{
    struct sgc_cache *cache = heap_test.cache[1];

    while (sgc_a32_load_acq(stop) == 0)
        sgc_pool_decay(sgc_clock_ns(), 0, 4, &cache->section);
    return NULL;
}

static void test_concurrent(void)
{
    sgc_a32_t stop = SGC_ATOMIC_INIT(0);
    uint64_t seed = 5;
    pthread_t thread;
    int wrong = 0;

    heap_cache();
    pthread_create(&thread, NULL, decay_always, &stop);
    for (int i = 0; i < 1500; i++) {
        uint32_t count = 1 + heap_random(&seed, 40);
        bool zero;
        uint32_t first = sgc_pool_take(count, self, &zero);
        if (first == SGC_NO_PAGE)
            continue;
        char *last = (char *)sgc_page_start(first + count) - 1;
        wrong += zero && (*(char *)sgc_page_start(first) != 0 || *last != 0);
        *(char *)sgc_page_start(first) = *last = 1;
        sgc_yield();
        wrong += *(char *)sgc_page_start(first) != 1 || *last != 1;
        sgc_pool_give(first, count, self);
    }
    sgc_a32_store_rel(&stop, 1);
    pthread_join(thread, NULL);
    tap_ok(wrong == 0, "while another thread gives back, taken pages keep what is written (%d did not)", wrong);
    sgc_pool_check();
}

int main(void)
{
    heap_start((size_t)16 * SGC_ARENA, 0, false);
    self = &sgc_self->section;
    tap_each(test_age, test_next, test_neighbours, test_whole_first);
    if (TEST_SANITIZED)
        tap_skip("a sanitizer locks no memory");
    else
        child_ok(locked, "locked pages stay in the pool, with contents");
    test_concurrent();
    return tap_done();
}
