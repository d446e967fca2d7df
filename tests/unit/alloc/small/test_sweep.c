/* SPDX-License-Identifier: MIT */
/*
 * alloc/small/sweep.c and the sweeping ahead of alloc/page_supply.c: epochs, pages not swept yet, empty pages going back,
 * poison.
 */
#include "tests/lib/heap.h"

static struct sgc_cache *cache;

enum { BYTES = 256, PER_PAGE = SGC_PAGE / BYTES, PAGES = 12, N = PAGES * PER_PAGE };
static char *object[N];

static struct sgc_bin *bin(void)
{
    return &cache->bin[SGC_KIND_CONSERVATIVE][sgc_class_for(BYTES / SGC_GRANULE)];
}

static bool swept(uint32_t page)
{
    return sgc_tag_epoch(sgc_aw_load(&sgc_heap.pages[page].tag)) == sgc_heap.epoch;
}

/* PAGES full pages of objects, after whatever was there before died. */
static void fill(void)
{
    heap_empty();
    for (int i = 0; i < N; i++) {
        object[i] = heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
        memset(object[i], 0, BYTES);
    }
}

static int count_allocated(void)
{
    int n = 0;

    for (int i = 0; i < N; i++)
        n += heap_allocated(object[i]);
    return n;
}

/* Keeps each object of page 0, every other of page 1, none of the others. */
static void keep_some(void)
{
    static char *roots[2 * PER_PAGE];

    memset(roots, 0, sizeof roots);
    for (int i = 0; i < 2 * PER_PAGE; i++)
        if (i < PER_PAGE || i % 2)
            roots[i] = object[i];
    heap_collect(roots, 2 * PER_PAGE);
}

static void test_lazy(void)
{
    fill();
    size_t in_use = sgc_pool_in_use_bytes();
    keep_some();
    tap_ok(count_allocated() == PER_PAGE + PER_PAGE / 2, "after the flip exactly what was reached is allocated");
    int unswept = 0;
    for (int i = 0; i < PAGES; i++)
        unswept += !swept(heap_page(object[i * PER_PAGE]));
    tap_ok(unswept == PAGES && sgc_pool_in_use_bytes() == in_use, "though no page is swept and none has gone back");
    keep_some();
    tap_ok(count_allocated() == PER_PAGE + PER_PAGE / 2, "a second cycle on unswept pages changes nothing");
}

static void test_ahead(void)
{
    size_t in_use = sgc_pool_in_use_bytes();

    tap_ok(sgc_sweep_ahead(3, &cache->section), "three pages swept ahead leave more");
    int done = 0;
    for (int i = 0; i < PAGES; i++)
        done += sgc_page_state(&sgc_heap.pages[heap_page(object[i * PER_PAGE])]) == SGC_PAGE_FREE ||
                swept(heap_page(object[i * PER_PAGE]));
    tap_ok(done == 3, "three it was (%d)", done);
    heap_sweep_all();
    tap_ok(!sgc_sweep_ahead(1, &cache->section), "then nothing is left in this epoch");
    tap_ok(sgc_pool_in_use_bytes() == in_use - (PAGES - 2) * SGC_PAGE, "empty pages are back in the pool");
    tap_ok(swept(heap_page(object[0])) && swept(heap_page(object[PER_PAGE])), "the others are swept");
    tap_ok(sgc_list_of(&bin()->lists, heap_page(object[0])) == SGC_LIST_DONE &&
           sgc_list_of(&bin()->lists, heap_page(object[PER_PAGE])) == SGC_LIST_USABLE,
           "a full page is done, one with room is usable");
    tap_ok(heap_page(heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE)) == heap_page(object[PER_PAGE]),
           "and is used first");
}

/* An allocation looks at its own unswept pages before it takes a fresh one. */
static void test_on_demand(void)
{
    fill();
    keep_some();
    size_t in_use = sgc_pool_in_use_bytes();
    int live = 0, wrong = 0;

    for (int i = 0; i < N - 2 * PER_PAGE; i++) {
        char *again = heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
        for (int j = 0; j < 2 * PER_PAGE; j++)
            live += again == object[j] && (j < PER_PAGE || j % 2);
        wrong += !heap_zero(again, BYTES);
        memset(again, 0xa5, BYTES);
    }
    tap_ok(live == 0 && wrong == 0, "allocation finds dead slots, live ones never");
    tap_ok(sgc_pool_in_use_bytes() <= in_use, "without fresh pages");
}

/* What is left of an older epoch is seen as stale. */
static void test_stale_run(void)
{
    char *before = heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
    uint32_t epoch = bin()->active_epoch;

    heap_collect(&before, 1);
    tap_ok(bin()->active_epoch == epoch && epoch != sgc_heap.epoch && bin()->cur == NULL,
           "after a cycle the active page is of an older epoch, its run is given up");
    char *after = heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
    tap_ok(bin()->active_epoch == sgc_heap.epoch && swept(heap_page(after)) && after != before,
           "the next allocation comes from a page of this epoch");
}

static void test_skipped_epochs(void)
{
    char *keep[3];
    int wrong = 0;

    fill();
    for (int i = 0; i < 3; i++)
        keep[i] = object[i * PER_PAGE + 5];
    for (int i = 0; i < 7; i++)
        heap_collect(keep, 3);
    for (int i = 0; i < N; i++)
        wrong += heap_allocated(object[i]) != (i == 5 || i == PER_PAGE + 5 || i == 2 * PER_PAGE + 5);
    tap_ok(wrong == 0, "seven cycles without sweeping in between keep the same three objects");
    heap_sweep_all();
    wrong = 0;
    for (int i = 0; i < 3; i++)
        wrong += sgc_object_free(cache, keep[i]) != SGC_FREE_DONE;
    heap_empty();
    tap_ok(wrong == 0 && sgc_pool_in_use_bytes() == 0, "freed, nothing is left of them");
}

static void test_uncollectable(void)
{
    char **object_u = heap_small(cache, BYTES, SGC_KIND_UNCOLLECTABLE);
    char *plain = heap_small(cache, BYTES, SGC_KIND_POINTER_FREE_UNCOLLECTABLE);
    uint32_t page = heap_page(object_u);

    object_u[3] = heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE);
    memcpy(plain, &object_u, sizeof object_u);
    heap_empty();
    tap_ok(heap_allocated(object_u) && heap_allocated(object_u[3]) && heap_allocated(plain),
           "uncollectable objects live, so does what those with pointers point at");
    tap_ok(sgc_object_free(cache, object_u) == SGC_FREE_DONE && sgc_object_free(cache, plain) == SGC_FREE_DONE, "freed");
    heap_empty();
    tap_ok(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_FREE && sgc_pool_in_use_bytes() == 0 &&
           sgc_aw_load(&sgc_arena_of_page(page)->uncollectable) == 0, "their pages go back");
}

static void test_poison(void)
{
    sgc_heap.config.poison = true;
    fill();
    keep_some();
    sgc_sweep_ahead(2, &cache->section);
    heap_sweep_all();
    unsigned char *dead = (unsigned char *)object[PER_PAGE], *live = (unsigned char *)object[PER_PAGE + 1];
    tap_ok(dead[0] == 0xdb && dead[BYTES - 1] == 0xdb && heap_zero(live, BYTES), "swept slots are poisoned, live ones not");
    int wrong = 0;
    for (int i = 0; i < PER_PAGE; i++)
        wrong += !heap_zero(heap_small(cache, BYTES, SGC_KIND_CONSERVATIVE), BYTES);
    tap_ok(wrong == 0, "and zero again when they are handed out");
}

int main(void)
{
    heap_start((size_t)64 << 20, 0, false);
    cache = sgc_self;
    cache->max_pages = 1;
    heap_each(sgc_heap_check, test_lazy, test_ahead, test_on_demand, test_stale_run, test_skipped_epochs, test_uncollectable,
              test_poison);
    return tap_done();
}
