/* SPDX-License-Identifier: MIT */
/*
 * Pages made ready (alloc/new_objects.c): how many at once, of the pool, of its own and of ended
 * threads; forgotten after a cycle, all of them used before the limit is reached, and no slot twice
 * though a page is found twice.
 */
#include "tests/lib/heap.h"

enum { BYTES = 21840, PER_PAGE = 3, N = 18 * SGC_READY_MAX * PER_PAGE };

static struct sgc_cache *cache;
static char *object[N];

static struct sgc_bin *bin(void)
{
    return &cache->bin[SGC_KIND_CONSERVATIVE][sgc_class_for(BYTES / SGC_GRANULE)];
}

static char *one(void)
{
    return heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
}

/* The objects come page by page, so the pages used are known. */
static void test_as_many(void)
{
    size_t most = 0;
    int wrong = 0;

    for (int i = 0; i < N; i++) {
        size_t used = (size_t)i / PER_PAGE + 1;

        object[i] = one();
        wrong += heap_in_use() < used || heap_in_use() > used + used / 4;
        if (heap_in_use() - used > most)
            most = heap_in_use() - used;
    }
    tap_ok(wrong == 0, "never more pages lie unused than a fourth of those used");
    tap_ok(most == SGC_READY_MAX - 1, "but several are taken at once (%zu unused)", most);
    sgc_heap_check();
}

static size_t ready(void)
{
    return bin()->ready_end - bin()->next_ready;
}

/* All dead, so each page has room for PER_PAGE. */
static void test_own(void)
{
    size_t most = 0, wrong = 0;

    heap_collect(NULL, 0);
    for (size_t used = 1; used <= N / PER_PAGE; used++) {
        for (int i = 0; i < PER_PAGE; i++)
            one();
        wrong += ready() > used / 4;
        most = ready() > most ? ready() : most;
    }
    tap_ok(wrong == 0 && most == SGC_READY_MAX - 1, "so it is with pages of its own (%zu)", most);
}

static void test_forgotten(void)
{
    size_t before;

    while (ready() == 0)
        one();
    before = heap_in_use();
    heap_collect(NULL, 0);
    tap_ok(one() != NULL && heap_in_use() <= before, "after a cycle the pages that were ready are found by sweeping");
    heap_empty();
    tap_ok(heap_in_use() == 0, "if nothing lives, all go back");
    sgc_heap_check();
}

static void test_near_limit(void)
{
    size_t before;
    int wrong = 0;

    for (int i = 0; i < 32 * PER_PAGE; i++)
        one();
    while (ready() != 0)
        for (int i = 0; i < PER_PAGE; i++)
            one();
    before = heap_in_use();
    sgc_pool_set_limit((before + before / 8) * SGC_PAGE);
    for (size_t i = 0; i < before / 8 * PER_PAGE; i++)
        wrong += one() == NULL;
    tap_ok(before >= 32 && wrong == 0 && one() == NULL, "near the limit all pages are to be had, and no more");
    sgc_pool_set_limit(0);
    heap_empty();
}

/* ---- pages of a thread that has ended ---- */

/* Every page has one free slot and two that are taken. */
static void leave_orphans(size_t pages)
{
    struct sgc_cache *ended = heap_cache();
    char *kept[N], *got = NULL;

    for (size_t i = 0; i < pages * PER_PAGE; i++) {
        got = heap_small(ended, BYTES, SGC_KIND_CONSERVATIVE);
        kept[i] = i % PER_PAGE == 0 ? NULL : got;
    }
    if (got == NULL)
        tap_bail("no objects for a thread that ends");
    heap_collect(kept, pages * PER_PAGE);
    heap_cache_end(ended);
}

static void test_adopted(void)
{
    enum { ORPHANS = 10, SOME = SGC_READY_MAX - 2 };
    uint32_t cls = sgc_class_for(BYTES / SGC_GRANULE);
    size_t found, orphans;

    leave_orphans(ORPHANS);
    orphans = heap_in_use();             /* with some that it did not use */
    found = sgc_orphan_adopt(cache, SGC_KIND_CONSERVATIVE, cls, SOME);
    tap_ok(found == SOME && ready() == SOME, "as many pages of an ended thread are had as are asked for (%zu, %zu ready)",
           found, ready());
    sgc_orphan_check();
    for (int i = 0; i < SOME; i++)
        one();
    tap_ok(ready() == 0, "each has a free slot");
    found = sgc_orphan_adopt(cache, SGC_KIND_CONSERVATIVE, cls, SGC_READY_MAX - 4) + SOME;
    for (size_t i = ready(); i > 0; i--)
        one();
    found += sgc_orphan_adopt(cache, SGC_KIND_CONSERVATIVE, cls, SGC_READY_MAX - 4);
    tap_ok(found == orphans && orphans >= ORPHANS, "and no more than there are (%zu of %zu)", found, orphans);
    sgc_heap_check();
    heap_empty();
}

/* A bin in great demand that has four pages of its own. */
static void test_own_and_adopted(void)
{
    enum { OWN = 4, GREAT = SGC_READY_MAX * SGC_READY_MAX };

    for (int i = 0; i < OWN * PER_PAGE; i++)
        one();
    leave_orphans(50);
    one();
    bin()->taken = GREAT;
    for (int i = 0; i < PER_PAGE; i++)
        one();
    tap_ok(ready() == SGC_READY_MAX - 1 && bin()->taken == GREAT + SGC_READY_MAX,
           "what its own pages lack those of ended threads make up for (%zu)", ready());
    sgc_heap_check();
    heap_empty();
}

static void free_first_of_each(void)
{
    for (int i = 0; i < N; i += PER_PAGE)
        sgc_remote_free(sgc_page_number((uintptr_t)object[i]), sgc_granule_number((uintptr_t)object[i]));
}

static int is_twice(char **p, int n)
{
    int twice = 0;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            twice += p[i] == p[j];
    return twice;
}

/* Of each page the first object is freed by another thread while some of the pages are ready. */
static void test_found_twice(void)
{
    static char *roots[N], *again[2 * N];
    int wrong = 0, waiting = 0;

    for (int i = 0; i < N; i++)
        object[i] = one();
    for (int i = 0; i < N; i++)
        roots[i] = i % PER_PAGE != PER_PAGE - 1 ? object[i] : NULL;
    heap_collect(roots, N);
    for (int i = 0; i < 2 * N; i++) {
        again[i] = one();
        if (waiting > 1)
            continue;
        waiting = bin()->ready_end - bin()->next_ready;
        if (waiting > 1)
            free_first_of_each();
    }
    tap_ok(waiting > 1, "several pages are ready when their objects are freed (%d)", waiting);
    tap_ok(is_twice(again, 2 * N) == 0, "pages that are ready and found again give no slot twice");
    for (int i = 1; i < N; i += PER_PAGE)
        for (int j = 0; j < 2 * N; j++)
            wrong += again[j] == object[i];
    tap_ok(wrong == 0, "and none that was not free");
    sgc_heap_check();
}

int main(void)
{
    heap_start((size_t)256 << 20, 0, false);
    cache = sgc_self;
    tap_each(test_as_many, test_own, test_forgotten, test_near_limit, test_adopted);
    if (SGC_TRACES)
        tap_each(test_own_and_adopted);
    return tap_all(test_found_twice);
}
