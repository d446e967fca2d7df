/* SPDX-License-Identifier: MIT */
/*
 * alloc/release_kept.c: a program that frees everything itself, and goes on with objects of another
 * size, does not need more memory than for the larger of both, with no cycle at all.
 */
#include "alloc/release.h"
#include "tests/unit/alloc/phases.h"

enum {
    PHASE = 96,                         /* pages */
    AT_HAND = SGC_TRACES ? 0 : 32,      /* pages' worth that a thread may keep: one of each size, in a plain malloc */
};

static struct sgc_cache *cache;

/* The most pages that were in use or have contents. */
static size_t phases_of(size_t count, const size_t (*size)[2], bool drops)
{
    struct phases p = phases_begin(cache, drops);
    size_t most = 0;

    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, &cache->section);
    for (size_t i = 0; i < count; i++) {
        phase(&p, (size_t)PHASE * SGC_PAGE, size[i][0], size[i][1]);
        most = phases_pages() > most ? phases_pages() : most;
        sgc_heap_check();
    }
    if (p.wrong != 0)
        tap_bail("%d objects were not what they should be", p.wrong);
    heap_must_be_empty();
    return most;
}

static void test_sizes(const char *name, size_t count, const size_t (*size)[2], bool drops)
{
    size_t alone = 0, pages;

    for (size_t i = 0; i < count; i++) {
        pages = phases_of(1, &size[i], drops);
        alone = pages > alone ? pages : alone;
    }
    pages = phases_of(count, size, drops);
    tap_ok(alone >= PHASE && pages * 10 <= alone * 12 + AT_HAND * 10,
           "%s, %s: %zu pages, %zu for the largest phase alone", name, drops ? "dropped" : "freed one by one", pages, alone);
}

static void test_phases(bool drops)
{
    static const size_t two[][2] = { { 64, 64 }, { 200, 200 } };
    static const size_t back[][2] = { { 3000, 3000 }, { 100, 100 } };
    static const size_t four[][2] = { { 16, 16 }, { 300, 300 }, { 40, 200 }, { 2000, 5000 } };
    static const size_t turns[][2] = { { 64, 64 }, { 200, 200 }, { 64, 64 }, { 200, 200 }, { 64, 64 }, { 200, 200 } };

    test_sizes("two phases", 2, two, drops);
    test_sizes("two phases, large objects first", 2, back, drops);
    test_sizes("four phases of many sizes", 4, four, drops);
    test_sizes("two sizes in turns", 6, turns, drops);
}

static void test_span(void)
{
    struct phases p = phases_begin(cache, false);
    size_t before, after;

    phase(&p, (size_t)PHASE * SGC_PAGE, 64, 64);
    before = phases_pages();
    for (int i = 0; i < PHASE / 4; i++)
        if (heap_alloc(cache, 3 * SGC_PAGE, SGC_KIND_POINTER_FREE) == NULL)
            tap_bail("the heap of the test is too small");
    after = phases_pages();
    tap_ok(after * 10 <= before * 12, "large objects are made of what small ones have left (%zu pages, %zu)", before, after);
}

/* No page is empty. */
static void test_in_vain(void)
{
    struct phases p = phases_begin(cache, false);
    size_t n = phase_allocate(&p, (size_t)PHASE * SGC_PAGE, 64, 64), used = heap_in_use(), again = 0, live = n * 64 / SGC_PAGE;

    for (size_t i = 0; i < n; i++)
        if (i % 4 != 0)
            phase_free_one(cache, p.object[i]);
    heap_small(cache, 500, SGC_KIND_CONSERVATIVE);
    tap_ok(heap_in_use() > live && heap_in_use() <= used + 1, "where each page has a live object left, the heap grows");
    sgc_heap_check();
    for (size_t i = 0; i < n; i++)
        if (i % 4 != 0)
            again += heap_small(cache, 64, i % 3 == 0 ? SGC_KIND_CONSERVATIVE : SGC_KIND_POINTER_FREE) == NULL;
    tap_ok(again == 0 && heap_in_use() <= used + 2, "and what was freed is found again (%zu pages, %zu)", used, heap_in_use());
    for (size_t i = 0; i < n; i += 4)
        p.wrong += *(uintptr_t *)p.object[i] != p.object[i];
    tap_ok(p.wrong == 0, "with all that lives");
}

/* A few slots freed in many pages. */
static void test_sparse(void)
{
    struct phases p = phases_begin(cache, false);
    struct sgc_bin *bin = &cache->bin[SGC_KIND_POINTER_FREE][sgc_class_for(1024 / SGC_GRANULE)];
    size_t n = phase_allocate(&p, (size_t)4 * PHASE * SGC_PAGE, 1024, 1024), kept;

    for (size_t i = 0; i < n / 8; i++)
        phase_free_one(cache, p.object[i]);
    kept = sgc_bin_nfreed(bin);
    tap_ok(kept * 1024 > 8 * SGC_PAGE && sgc_kept_give_up(cache, 1) == 0 && sgc_bin_nfreed(bin) == kept,
           "a bin of which little is free, compared with its pages, keeps it");
    for (size_t i = n / 8; i < n / 2; i++)
        phase_free_one(cache, p.object[i]);
    tap_ok(sgc_kept_give_up(cache, UINT32_MAX) > PHASE && sgc_bin_nfreed(bin) == 0, "one of which half is free does not");
}

static void test_marking(void)
{
    struct phases p = phases_begin(cache, false);
    size_t used;

    phase(&p, (size_t)PHASE * SGC_PAGE, 64, 64);
    used = heap_in_use();
    sgc_marking_begin();
    tap_ok(sgc_kept_give_up(cache, 1) == 0 && heap_in_use() == used, "while a mark goes on beside the program no page leaves");
    heap_marking_end();
}

/* ---- what other threads have freed ---- */

static void test_consumer(void)
{
    struct phases p = phases_begin(cache, false);
    size_t n = phase_allocate(&p, (size_t)PHASE * SGC_PAGE, 64, 64), alone = phases_pages(), pages;

    for (size_t i = 0; i < n; i++)
        sgc_remote_free(sgc_page_number(p.object[i]), sgc_granule_number(p.object[i]));
    phase(&p, (size_t)PHASE * SGC_PAGE, 200, 200);
    pages = phases_pages();
    tap_ok(pages * 10 <= alone * 12, "a thread whose objects others free goes on with another size: %zu pages, %zu before",
           pages, alone);
}

/* ---- threads ---- */

static struct phases of_thread[4];
static int phases_each;
static pthread_barrier_t barrier;       /* so that all have their objects at the same time */

static void *run_phases(void *arg)
{
    struct phases *p = arg;

    sgc_self = p->cache;
    for (int i = 0; i < phases_each; i++) {
        size_t least = 16 + 64 * (size_t)(i % 8), n = phase_allocate(p, (size_t)PHASE / 2 * SGC_PAGE, least, least + 84);

        pthread_barrier_wait(&barrier);
        phase_free(p, n);
    }
    return NULL;
}

/* The pages that are in use or have contents then. */
static size_t threads_pages(int phases)
{
    pthread_t thread[4];
    size_t pages;
    int wrong = 0;

    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, &cache->section);
    phases_each = phases;
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 4; i++)
        of_thread[i] = phases_begin(heap_cache(), i % 2 == 0);
    for (int i = 0; i < 4; i++)
        thread[i] = thread_start(run_phases, &of_thread[i]);
    threads_join(thread, 4);
    for (int i = 0; i < 4; i++)
        wrong += of_thread[i].wrong;
    if (wrong != 0)
        tap_bail("%d objects of threads were not what they should be", wrong);
    sgc_heap_check();
    pages = phases_pages();
    for (int i = 0; i < 4; i++)
        heap_cache_end(of_thread[i].cache);
    heap_must_be_empty();
    return pages;
}

static void test_threads(void)
{
    size_t alone = threads_pages(1), pages = threads_pages(16);

    tap_ok(alone > 2 * PHASE && pages * 10 <= alone * 12 + 4 * AT_HAND * 10,
           "four threads, 16 phases each: %zu pages, %zu for one phase each", pages, alone);
}

int main(void)
{
    heap_start((size_t)512 << 20, 0, false);
    sgc_heap.config.page_rule = (struct sgc_page_rule){ SGC_POLICY_LPS, SGC_K_ONE };
    cache = sgc_self;
    test_phases(false);
    test_phases(true);
    if (SGC_TRACES)
        heap_each(heap_must_be_empty, test_sparse, test_marking);
    heap_each(heap_must_be_empty, test_span, test_in_vain, test_consumer, test_threads);
    return tap_done();
}
