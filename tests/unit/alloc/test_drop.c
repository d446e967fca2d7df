/* SPDX-License-Identifier: MIT */
/*
 * alloc/free.c: objects that are dropped are free and untouched, whoever's they are; their pages are used again, and those that
 * are empty are the pool's, with no cycle.
 */
#include "alloc/pages/page.h"
#include "tests/unit/alloc/phases.h"

enum { BYTES = 64, PER_PAGE = SGC_PAGE / BYTES, PAGES = 10, N = PAGES * PER_PAGE };

static struct sgc_cache *cache;
static uintptr_t object[N + PER_PAGE];

static struct sgc_bin *bin(void)
{
    return &cache->bin[SGC_KIND_CONSERVATIVE][sgc_class_for(BYTES / SGC_GRANULE)];
}

/* Page by page in ascending order; `from`: where the first page of the bin that is not in use yet begins. */
static void fill(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        object[i] = (uintptr_t)heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
        memset((void *)object[i], 0x5a, BYTES);
    }
}

static size_t allocated(size_t from, size_t to)
{
    size_t n = 0;

    for (size_t i = from; i < to; i++)
        n += heap_allocated((void *)object[i]);
    return n;
}

static size_t dropped(const uintptr_t *objects, size_t n)
{
    struct sgc_dropped done = sgc_drop(cache, objects, n);

    sgc_heap_check();
    return done.objects;
}

/* ---- own pages ---- */

static void test_own(void)
{
    size_t freed = sgc_aw_load(&cache->freed_bytes), used;
    uintptr_t half[N / 2];
    int touched = 0, again = 0;

    fill(N);
    used = heap_in_use();
    for (size_t i = 0; i < N / 2; i++)
        half[i] = object[2 * i];
    tap_ok(dropped(half, N / 2) == N / 2 && allocated(0, N) == N / 2, "every second object of %d pages is dropped", PAGES);
    tap_ok(sgc_aw_load(&cache->freed_bytes) - freed == (size_t)N / 2 * BYTES, "their bytes count as freed");
    for (size_t i = 0; i < N; i++)
        touched += !heap_filled((void *)object[i], BYTES, 0x5a);
    tap_ok(touched == 0, "none of them is touched, nor any other");
    tap_ok(dropped(half, N / 2) == 0 && allocated(0, N) == N / 2, "dropping them once more does nothing");
    for (size_t i = 0; i < N / 2; i++)
        again += (uintptr_t)heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE) == 0;
    tap_ok(again == 0 && heap_in_use() <= used && allocated(0, N) > N / 2, "so many new ones need no further page");
}

/* Is the free page on its owner's list? */
static bool is_listed(uint32_t page)
{
    return (sgc_arena_of_page(page)->listed & sgc_arena_bit(page)) != 0 && sgc_heap.records[page].list == cache->id;
}

static void test_empty(void)
{
    size_t used, whole = 0;

    fill(N);
    used = heap_in_use();
    for (size_t i = 0; i < N; i++)
        whole += sgc_page_number(object[i]) == sgc_page_number(object[2 * PER_PAGE]);
    dropped(object, PER_PAGE);
    tap_ok(whole == PER_PAGE && heap_in_use() == used - 1, "a page whose objects are all dropped leaves its class");
    tap_ok(sgc_page_state(&sgc_heap.pages[sgc_page_number(object[0])]) == SGC_PAGE_FREE &&
           is_listed(sgc_page_number(object[0])), "and is on its owner's free page list");
    dropped(object + PER_PAGE, N - 3 * PER_PAGE);
    tap_ok(heap_in_use() <= 2 + SGC_READY_MAX && allocated(0, N) == 2 * PER_PAGE, "so do many (%zu of %zu are left)",
           heap_in_use(), used);
    dropped(object + N - 2 * PER_PAGE, 2 * PER_PAGE);
    tap_ok(heap_in_use() == 1, "in the end the active page is left, but none of those that were ready (%zu)", heap_in_use());
}

/* A run is claimed in it. */
static void test_active(void)
{
    uint32_t page;
    int elsewhere = 0;

    fill(10);
    page = sgc_page_number(object[0]);
    tap_ok(dropped(object, 10) == 10 && page == bin()->page && heap_in_use() == 1,
           "the active page stays when nothing lives in it");
    for (int i = 0; i < PER_PAGE; i++)
        elsewhere += heap_page(heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE)) != page;
    tap_ok(elsewhere == 0, "and serves for a page of objects");
}

/* What is claimed and not handed out is no object. */
static void test_claimed(void)
{
    uintptr_t claimed;

    fill(3);
    claimed = SGC_TRACES ? (uintptr_t)bin()->cur : (uintptr_t)bin()->freed[-1].object;
    tap_ok((SGC_TRACES ? bin()->cur < bin()->end : sgc_bin_has_freed(bin())) && dropped(&claimed, 1) == 0,
           "a claimed slot that was not handed out is not dropped");
    tap_ok((uintptr_t)heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE) == claimed, "and is handed out then");
}

static void free_own(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        heap_free_local(cache, (void *)object[i]);
}

/* Freed slots are linked in their pages. */
static void test_kept(void)
{
    size_t used, outside = 0;

    fill(N);
    used = heap_in_use();
    free_own(0, 20);
    free_own(PER_PAGE, PER_PAGE + 20);
    dropped(object + 20, PER_PAGE - 20);
    tap_ok(heap_in_use() == used - 1 && sgc_bin_nfreed(bin()) == 20, "freed slots at hand leave with their page, others stay");
    for (size_t i = 0; i < 20; i++)
        outside += heap_page(heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE)) != sgc_page_number(object[PER_PAGE]);
    tap_ok(outside == 0 && sgc_bin_nfreed(bin()) == 0, "these are handed out");
}

static void test_kept_many(void)
{
    enum { MANY = PER_PAGE / 2 };
    size_t used, twice = 0;
    static bool seen[PAGES + 2][PER_PAGE];

    fill(N);
    used = heap_in_use();
    free_own(0, MANY);
    dropped(object + MANY, PER_PAGE - MANY);
    tap_ok(heap_in_use() == used && sgc_bin_nfreed(bin()) == MANY, "a page of which many freed slots are at hand stays");
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < PER_PAGE; i++) {
        uintptr_t p = (uintptr_t)heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
        bool *slot = &seen[(sgc_page_number(p) - sgc_page_number(object[0])) % (PAGES + 2)][p % SGC_PAGE / BYTES];

        twice += *slot;
        *slot = true;
    }
    tap_ok(twice == 0, "and no slot of it is handed out twice");
}

/* ---- other ways ---- */

static void free_remotely(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        sgc_remote_free(sgc_page_number(object[i]), sgc_granule_number(object[i]));
}

static void test_remote(void)
{
    size_t used;

    fill(N);
    used = heap_in_use();
    free_remotely(0, 10);
    tap_ok(dropped(object, 10) == 0, "objects that another thread has freed are not freed again");
    tap_ok(dropped(object + 10, PER_PAGE - 10) == PER_PAGE - 10 && heap_in_use() == used - 1,
           "with what others have freed of it, the page is empty");
    free_remotely(PER_PAGE, 2 * PER_PAGE - 1);
    tap_ok(dropped(object + 2 * PER_PAGE - 1, 1) == 1 && heap_in_use() == used - 2,
           "so it is when a single one was left");
}

static void test_others(void)
{
    struct sgc_cache *other = heap_cache();
    uintptr_t theirs[100];
    size_t freed, n;

    for (int i = 0; i < 100; i++)
        theirs[i] = (uintptr_t)heap_small(other, BYTES, SGC_KIND_CONSERVATIVE);
    freed = sgc_aw_load(&cache->freed_bytes);
    n = dropped(theirs, 100);
    tap_ok(n == 100 && sgc_aw_load(&cache->freed_bytes) - freed == 100 * BYTES &&
           sgc_remote_bit(sgc_granule_number(theirs[99])), "objects of another thread's page are freed remotely");
    tap_ok(dropped(theirs, 100) == 0, "once");
    heap_cache_end(other);
}

static void test_unswept(void)
{
    fill(N);
    heap_collect(object, N);
    tap_ok(dropped(object, N - 1) == N - 1 && allocated(0, N) == 1, "objects of pages that are not swept yet are freed");
    tap_ok(dropped(object + N - 1, 1) == 1 && allocated(0, N) == 0, "to the last");
}

static void test_spans(void)
{
    struct sgc_dropped done;
    uintptr_t mixed[3];

    fill(2);
    mixed[0] = object[0];
    mixed[1] = (uintptr_t)heap_alloc(cache, 5 * SGC_PAGE, SGC_KIND_CONSERVATIVE);
    mixed[2] = object[1];
    done = sgc_drop(cache, mixed, 3);
    tap_ok(done.objects == 3 && done.bytes >= 5 * SGC_PAGE + 2 * BYTES && !heap_allocated((void *)mixed[1]),
           "a large object between small ones is freed");
}

static void test_kinds(void)
{
    uintptr_t kept = (uintptr_t)heap_small(cache, BYTES, SGC_KIND_UNCOLLECTABLE);
    uintptr_t free = (uintptr_t)heap_small(cache, 1000, SGC_KIND_POINTER_FREE_UNCOLLECTABLE);
    uintptr_t both[] = { kept, free, (uintptr_t)heap_small(cache, BYTES, SGC_KIND_POINTER_FREE) };
    struct sgc_dropped done = sgc_drop(cache, both, 3);

    tap_ok(done.objects == 3 && done.uncollectable == done.bytes - BYTES && done.uncollectable >= 1000 + BYTES,
           "bytes of uncollectable objects are told");
}

static void test_bad(void)
{
    uintptr_t here = 0, bad[] = { 0, 8, (uintptr_t)&here, UINTPTR_MAX, 0, 0, 0, 0 };

    fill(2);
    bad[4] = object[0] + 16;
    bad[5] = object[0] + 1;
    bad[6] = sgc_page_start(sgc_page_number(object[0]) + 40);
    bad[7] = sgc_heap.base + sgc_heap.reserved - 64;
    tap_ok(dropped(bad, 8) == 0 && allocated(0, 2) == 2, "what is no object is passed over");
    bad[0] = bad[1] = object[0];
    tap_ok(dropped(bad, 2) == 1 && dropped(bad, 0) == 0, "what is there twice is freed once");
}

static void test_marking(void)
{
    size_t used;

    fill(N);
    heap_marking_begin();
    used = heap_in_use();
    for (size_t i = 0; i < N; i++)
        heap_set_mark((void *)object[i]);
    tap_ok(dropped(object, N / 2) == N / 2 && allocated(0, N) == N / 2 && heap_in_use() == used,
           "while a mark goes on beside the program objects are freed, and no page leaves");
    heap_marking_end();
    tap_ok(allocated(0, N) == N / 2, "their marks are gone with it");
}

static void test_poison(void)
{
    fill(N);
    sgc_heap.config.poison = true;
    dropped(object, 10);
    sgc_heap.config.poison = false;
    tap_ok(heap_filled((void *)object[9], BYTES, 0xdf) && heap_filled((void *)object[10], BYTES, 0x5a),
           "what is dropped is filled if that is asked for");
}

/* ---- threads ---- */

/* Each thread's objects are dropped by itself, then by its neighbour. */
static struct phases of_thread[4];
static pthread_barrier_t barrier;

static void *run_phases(void *arg)
{
    struct phases *p = arg;
    struct phases *next = &of_thread[(p - of_thread + 1) % 4];

    sgc_self = p->cache;
    for (int i = 0; i < 20; i++) {
        size_t n = phase_allocate(p, 30 * SGC_PAGE, 16 + 16 * (size_t)i, 500), other;

        pthread_barrier_wait(&barrier);
        for (other = 0; other < n; other += 8)
            sgc_drop(p->cache, next->object + other, 1);
        pthread_barrier_wait(&barrier);
        for (size_t k = 0; k < n; k++)
            if (k % 8 != 0)
                p->wrong += sgc_drop(p->cache, p->object + k, 1).objects != 1;
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[4];
    int wrong = 0;

    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 4; i++)
        of_thread[i] = phases_begin(heap_cache(), true);
    for (int i = 0; i < 4; i++)
        thread[i] = thread_start(run_phases, &of_thread[i]);
    threads_join(thread, 4);
    for (int i = 0; i < 4; i++)
        wrong += of_thread[i].wrong;
    tap_ok(wrong == 0, "threads that drop their objects and their neighbour's lose none");
    sgc_heap_check();
    for (int i = 0; i < 4; i++)
        heap_cache_end(of_thread[i].cache);
}

int main(void)
{
    heap_start((size_t)512 << 20, 0, false);
    sgc_heap.config.page_rule = (struct sgc_page_rule){ SGC_POLICY_LPS, SGC_K_ONE };
    cache = sgc_self;
    heap_each(heap_must_be_empty, test_own, test_empty, test_active, test_claimed, test_kept, test_kept_many, test_remote,
              test_others, test_spans, test_bad, test_poison, test_threads);
    if (SGC_TRACES)
        heap_each(heap_must_be_empty, test_unswept, test_kinds, test_marking);
    return tap_done();
}
