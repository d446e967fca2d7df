/* SPDX-License-Identifier: MIT */
/*
 * alloc/page_supply.c: who asks for pages while the last cycle is unswept sweeps first; at the limit everything that is
 * free already is found before memory is said to have run out.  The policies' order of sources is tested in
 * tests/unit/alloc/test_page_supply_sources.c.
 */
#include "tests/lib/heap.h"

enum { LIMIT = 96 };                    /* pages */

static struct sgc_cache *cache;

/* Objects of a third of a page, until there is no more. */
static int fill(char **object, int most)
{
    int n = 0;

    while (n < most && (object[n] = heap_small(cache, SGC_SMALL_MAX, SGC_KIND_CONSERVATIVE)) != NULL)
        n++;
    return n;
}

static void test_limit(void)
{
    static char *object[4 * LIMIT];
    int n = fill(object, 4 * LIMIT);

    tap_ok(n == 3 * LIMIT, "a limit of %d pages holds %d objects of a third of a page", LIMIT, n);
    tap_ok(sgc_pool_heap_bytes() == (size_t)LIMIT * SGC_PAGE, "and the heap is as large as it may be");
    tap_ok(heap_small(cache, 64, SGC_KIND_CONSERVATIVE) == NULL && heap_alloc(cache, SGC_PAGE, 0) == NULL,
           "then neither small objects nor spans can be had");
    heap_collect(object, 30);
    tap_ok(heap_alloc(cache, 20 * SGC_PAGE, SGC_KIND_CONSERVATIVE) != NULL,
           "dead pages are swept for a span that the limit would not allow otherwise");
    heap_collect(object, 30);
    tap_ok(fill(object + 30, 3 * LIMIT) == 3 * LIMIT - 30, "and for small objects: all there is can be used again");
    sgc_heap_check();
}

/* The only run that is long enough was never used, while the limit is taken up by pages with contents. */
static void test_fragments(void)
{
    static char *object[4 * LIMIT];
    static char *keep[LIMIT];
    int n;

    heap_empty();
    n = fill(object, 4 * LIMIT);
    for (int i = 0; i < LIMIT / 2; i++)
        keep[i] = object[6 * i];
    heap_collect(keep, LIMIT / 2);
    tap_ok(n == 3 * LIMIT && heap_alloc(cache, 30 * SGC_PAGE, SGC_KIND_CONSERVATIVE) != NULL,
           "free pages with contents that are too scattered make room for a run of fresh ones");
    tap_ok(sgc_pool_heap_bytes() <= (size_t)LIMIT * SGC_PAGE, "within the limit");
    tap_ok(heap_alloc(cache, 30 * SGC_PAGE, SGC_KIND_CONSERVATIVE) == NULL, "but no further");
    int wrong = 0;
    for (int i = 0; i < LIMIT / 2; i++)
        wrong += !heap_allocated(keep[i]);
    tap_ok(wrong == 0, "and what lives stays");
    sgc_heap_check();
}

static void test_sweeps_first(void)
{
    size_t heap;

    heap_empty();
    sgc_pool_set_limit(0);
    for (int i = 0; i < 500; i++)
        heap_small(cache, 21840, SGC_KIND_CONSERVATIVE);
    heap = sgc_pool_heap_bytes();
    heap_collect(NULL, 0);
    for (int i = 0; i < 10000; i++)
        heap_small(cache, 100, SGC_KIND_CONSERVATIVE);
    tap_ok(sgc_pool_heap_bytes() <= heap, "objects of another size use the pages of the dead: the heap does not grow");
    sgc_heap_check();
}

int main(void)
{
    heap_start((size_t)64 << 20, (size_t)LIMIT * SGC_PAGE, false);
    cache = sgc_self;
    return tap_all(test_limit, test_fragments, test_sweeps_first);
}
