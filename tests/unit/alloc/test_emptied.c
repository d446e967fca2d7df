/* SPDX-License-Identifier: MIT */
/*
 * alloc/release.c: a page leaves its class when nothing is left in it, and not before: not while its bin expects it, freed
 * slots of it are at hand, or a mark goes on beside the program.
 *
 * It is linked with sgc_sweep_give wrapped (tests/list.txt): that is where a walk over a bin's pages holds no lock.
 */
#include "alloc/free.h"
#include "alloc/release.h"
#include "tests/lib/heap.h"

enum { BYTES = SGC_TRACES ? 1040 : 1024, PER_PAGE = SGC_PAGE / BYTES, PAGES = 40, N = PAGES * PER_PAGE };

static struct sgc_cache *cache;
static void *object[N];
static uint32_t cls;

static struct sgc_bin *bin(void)
{
    return &cache->bin[SGC_KIND_POINTER_FREE][cls];
}

static void fill(void)
{
    for (int i = 0; i < N; i++)
        object[i] = heap_small(cache, BYTES, SGC_KIND_POINTER_FREE);
}

/* Pages of the bin are ready; how many objects that took. */
static int fill_until_ready(void)
{
    int n = 0;

    do
        object[n++] = heap_small(cache, BYTES, SGC_KIND_POINTER_FREE);
    while (bin()->ready_end == bin()->next_ready && n < N);
    return n;
}

static void free_some(int from, int to)
{
    for (int i = from; i < to; i++)
        heap_free_local(cache, object[i]);
}

/* Does that page leave? */
static bool leaves(uint32_t page)
{
    struct sgc_sweep_step step = { .swept = 1 };
    bool left;

    sgc_guard_enter(&cache->section);
    sgc_lock(cache->lock, &cache->section);
    left = sgc_emptied_leave(cache, page, &step);
    sgc_sweep_announce(&step);
    sgc_unlock(cache->lock, &cache->section);
    sgc_sweep_give(&step, cache->id, &cache->section);
    sgc_guard_leave(&cache->section);
    sgc_heap_check();
    return left;
}

static void test_leave(void)
{
    uint32_t page;
    size_t used;

    fill();
    page = heap_page(object[0]);
    used = heap_in_use();
    free_some(0, PER_PAGE - 1);
    tap_ok(!leaves(page) && heap_in_use() == used, "a page with one object left stays");
    free_some(PER_PAGE - 1, PER_PAGE);
    tap_ok(leaves(page) && heap_in_use() == used - 1 && sgc_bin_nfreed(bin()) == 0,
           "an empty one leaves, with its freed slots");
}

static void test_many_at_hand(void)
{
    fill();
    free_some(PER_PAGE, 3 * PER_PAGE);
    tap_ok(!leaves(heap_page(object[PER_PAGE])) && sgc_bin_nfreed(bin()) == 2 * PER_PAGE,
           "an empty page stays if so many slots are at hand that looking for its own would take long");
}

static void test_expected(void)
{
    uint32_t ready;

    fill_until_ready();
    ready = bin()->ready[bin()->next_ready];
    tap_ok(bin()->ready_end > bin()->next_ready && leaves(ready) && !sgc_bin_expects(bin(), ready),
           "a page that was to be active next leaves, and is not expected any more");
}

/* Its last run is used up, and no slots are at hand, since they are dropped. */
static void test_active(void)
{
    uintptr_t last[PER_PAGE];

    fill_until_ready();
    while (bin()->cur < bin()->end)
        heap_small(cache, BYTES, SGC_KIND_POINTER_FREE);
    for (uint32_t i = 0; i < PER_PAGE; i++)
        last[i] = sgc_page_start(bin()->page) + (uintptr_t)i * BYTES;
    tap_ok(sgc_drop(cache, last, PER_PAGE).objects == PER_PAGE && !leaves(bin()->page),
           "the active one stays, though nothing is in it");
}

/* The numbers of pages that were to be active stand there still. */
static void test_forgotten(void)
{
    struct sgc_sweep_step step = { .swept = 0 };
    int n = fill_until_ready();
    bool waited = bin()->ready_end > bin()->next_ready;

    free_some(0, n);
    sgc_emptied_give_up(cache, SGC_KIND_POINTER_FREE, cls);
    sgc_lock(cache->lock, &cache->section);
    sgc_emptied_unexpect(cache, SGC_KIND_POINTER_FREE, cls, &step);
    sgc_unlock(cache->lock, &cache->section);
    tap_ok(waited && step.empties == 0 && heap_in_use() == 0, "pages that a bin has given up do not leave twice");
}

static void test_figures(void)
{
    size_t freed = sgc_aw_load(&cache->freed_bytes), claimed = sgc_aw_load(&cache->claimed);

    fill();
    free_some(0, N);
    leaves(heap_page(object[0]));
    sgc_emptied_give_up(cache, SGC_KIND_POINTER_FREE, cls);
    sgc_cache_count_freed(cache);
    freed = sgc_aw_load(&cache->freed_bytes) - freed;
    claimed = sgc_aw_load(&cache->claimed) - claimed;
    tap_ok(freed == claimed && freed >= (size_t)N * BYTES, "what is given up counts as freed once (%zu bytes of %zu)", freed,
           claimed);
}

static void test_give_up(void)
{
    size_t live = 0;
    int again = 0;

    fill();
    for (int i = 0; i < N; i++)
        if (i / PER_PAGE % 4 == 0 && i % PER_PAGE == 5)
            live++;
        else
            heap_free_local(cache, object[i]);
    tap_ok(sgc_emptied_give_up(cache, SGC_KIND_POINTER_FREE, cls) >= PAGES * 3 / 4 && heap_in_use() == live,
           "a bin that gives up has only pages with objects (%zu)", live);
    sgc_heap_check();
    for (size_t i = 0; i < live * (PER_PAGE - 1); i++)
        again += heap_small(cache, BYTES, SGC_KIND_POINTER_FREE) == NULL;
    tap_ok(again == 0 && heap_in_use() == live, "whose free slots are found");
}

static void test_count(void)
{
    fill();
    tap_ok(sgc_emptied_more_pages(cache, SGC_KIND_POINTER_FREE, cls, PAGES - 1) &&
           !sgc_emptied_more_pages(cache, SGC_KIND_POINTER_FREE, cls, PAGES + SGC_READY_MAX + 1), "a bin's pages are counted");
}

static void test_after_flip(void)
{
    size_t used;

    fill();
    used = heap_in_use();
    heap_collect((void *)object, N);
    tap_ok(sgc_emptied_give_up(cache, SGC_KIND_POINTER_FREE, cls) == 0 && heap_in_use() == used && heap_allocated(object[0]),
           "pages that are to be swept are left alone");
}

static void test_marking(void)
{
    size_t used;

    fill();
    free_some(0, PER_PAGE);
    used = heap_in_use();
    sgc_marking_begin();
    tap_ok(!leaves(heap_page(object[0])) && sgc_emptied_give_up(cache, SGC_KIND_POINTER_FREE, cls) == 0 &&
           heap_in_use() == used, "no page leaves while a mark goes on beside the program");
    heap_marking_end();
}

/* ---- a cycle between two steps of a walk ---- */

static bool cycle_is_due;
static size_t used_after_cycle;

void __real_sgc_sweep_give(const struct sgc_sweep_step *step, uint32_t owner, struct sgc_section *self);
void __wrap_sgc_sweep_give(const struct sgc_sweep_step *step, uint32_t owner, struct sgc_section *self);

/* Nothing is live, and a thread sweeps all pages of all others before the walk goes on. */
void __wrap_sgc_sweep_give(const struct sgc_sweep_step *step, uint32_t owner, struct sgc_section *self)
{
    __real_sgc_sweep_give(step, owner, self);
    if (!cycle_is_due)
        return;
    cycle_is_due = false;
    heap_collect(NULL, 0);
    heap_sweep_all();
    used_after_cycle = heap_in_use();
}

static void test_cycle_between(void)
{
    struct sgc_cache *other = heap_cache();

    for (int i = 0; i < N; i++)
        object[i] = heap_small(other, BYTES, SGC_KIND_POINTER_FREE);
    cycle_is_due = true;
    sgc_emptied_give_up(other, SGC_KIND_POINTER_FREE, cls);
    tap_ok(!cycle_is_due && used_after_cycle == 0 && heap_in_use() == 0,
           "a walk ends when a cycle has come, after which others have swept its pages");
    heap_cache_end(other);
}

/* ---- the end of a thread ---- */

static void test_thread_end(void)
{
    struct sgc_cache *other = heap_cache();
    void *theirs[N];

    for (int i = 0; i < N; i++)
        theirs[i] = heap_small(other, BYTES, SGC_KIND_POINTER_FREE);
    for (int i = 1; i < N; i++)
        heap_free_local(other, theirs[i]);
    heap_cache_end(other);
    tap_ok(heap_in_use() == 1 && heap_allocated(theirs[0]) && sgc_aw_load(&sgc_orphans.count) == 1,
           "a thread that ends leaves pages with objects behind, and no others (%zu)", heap_in_use());
}

int main(void)
{
    heap_start((size_t)256 << 20, 0, false);
    cache = sgc_self;
    cls = sgc_class_for(BYTES / SGC_GRANULE);
    if (sgc_size_classes.of[cls].per_page != PER_PAGE)
        tap_bail("%d objects of %d bytes were expected in a page", PER_PAGE, BYTES);
    heap_each(heap_must_be_empty, test_leave, test_expected, test_forgotten, test_give_up, test_count, test_thread_end);
    if (SGC_TRACES)
        heap_each(heap_must_be_empty, test_many_at_hand, test_active, test_figures, test_after_flip, test_marking,
                  test_cycle_between);
    return tap_done();
}
