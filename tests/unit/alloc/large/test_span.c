/* SPDX-License-Identifier: MIT */
/*
 * alloc/large/span.c: large objects: one step from any address to the first page, zeroing, alignment,
 * resizing, freeing, sweeping.
 *
 * Also: alloc/large/span_resize.c, alloc/new_objects.c.
 */
#include "tests/lib/child.h"
#include "tests/lib/heap.h"

static struct sgc_cache *cache;
static struct sgc_section *self;

static char *alloc(size_t bytes, uint32_t kind)
{
    char *object = sgc_span_alloc(self, bytes, kind, SGC_GRANULE);

    if (object == NULL)
        tap_bail("no span of %zu bytes", bytes);
    return object;
}

static uint8_t state_of(uint32_t page)
{
    return sgc_page_state(&sgc_heap.pages[page]);
}

static void test_lookup(void)
{
    static const size_t sizes[] = { SGC_SMALL_MAX + 1, SGC_PAGE, SGC_PAGE + 1, 3 * SGC_ARENA + 12345 };
    int wrong = 0;

    for (int i = 0; i < 4; i++) {
        char *object = alloc(sizes[i], SGC_KIND_POINTER_FREE);
        uint32_t first = heap_page(object), count = (uint32_t)((sizes[i] + SGC_PAGE - 1) / SGC_PAGE);
        struct sgc_object o;

        wrong += state_of(first) != SGC_PAGE_SPAN || (uintptr_t)object % SGC_PAGE != 0;
        for (uint32_t p = 1; p < count; p++) {
            wrong += state_of(first + p) != SGC_PAGE_SPAN_TAIL || first + p - sgc_heap.pages[first + p].back != first;
            wrong += !sgc_object_find(sgc_page_start(first + p), &o) || o.start != (uintptr_t)object;
        }
        wrong += sgc_page_owner(first) != SGC_NO_OWNER;
        sgc_heap_check();
        wrong += !sgc_span_free(self, first);
    }
    tap_ok(wrong == 0, "from every page of a span one step leads to the first");
}

static void test_zero(void)
{
    char *object = alloc(4 * SGC_PAGE, SGC_KIND_CONSERVATIVE);

    tap_ok(heap_zero(object, 4 * SGC_PAGE), "a new span is zero");
    memset(object, 0xa5, 4 * SGC_PAGE);
    sgc_span_free(self, heap_page(object));
    char *again = alloc(3 * SGC_PAGE + 32, SGC_KIND_CONSERVATIVE);
    tap_ok(again == object && heap_zero(again, 3 * SGC_PAGE + 32), "so is one whose pages had contents");
    memset(again, 0xa5, 3 * SGC_PAGE + 32);
    sgc_span_free(self, heap_page(again));
    char *plain = alloc(2 * SGC_PAGE, SGC_KIND_POINTER_FREE);
    tap_ok(plain == object && plain[100] == (char)0xa5, "a pointer-free one is left as it is");
    sgc_span_free(self, heap_page(plain));
}

/* The pages around it stay without contents. */
static void test_align_clean(void)
{
    size_t in_use = sgc_pool_in_use_bytes(), used, more;
    char *object = sgc_span_alloc(self, 3 * SGC_PAGE, SGC_KIND_POINTER_FREE, (size_t)8 * SGC_ARENA);

    sgc_span_free(self, heap_page(object));     /* what was unswept, or kept for somebody, is the pool's now */
    sgc_guard_enter(self);
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
    sgc_guard_leave(self);
    object = sgc_span_alloc(self, 3 * SGC_PAGE, SGC_KIND_POINTER_FREE, (size_t)8 * SGC_ARENA);
    used = sgc_pool_used_bytes();
    more = sgc_pool_in_use_bytes() - in_use;
    sgc_heap_check();
    tap_ok(object != NULL && used == 0 && more == 3 * SGC_PAGE, "what an alignment takes too much has no contents (%zu, %zu)",
           used, more);
    sgc_span_free(self, heap_page(object));
}

static void test_align(void)
{
    size_t in_use = sgc_pool_in_use_bytes();
    int wrong = 0;

    for (size_t align = SGC_GRANULE; align <= (size_t)8 * SGC_ARENA; align *= 2)
        for (size_t pages = 1; pages < 80; pages += 39) {
            alloc(SGC_PAGE, SGC_KIND_POINTER_FREE);
            char *object = sgc_span_alloc(self, pages * SGC_PAGE, SGC_KIND_CONSERVATIVE, align);
            wrong += object == NULL || (uintptr_t)object % align != 0;
            sgc_heap_check();
        }
    tap_ok(wrong == 0, "spans at multiples of a granule up to eight arenas (%d are not)", wrong);
    tap_ok(sgc_span_alloc(self, 1, 0, (size_t)1 << 62) == NULL && sgc_span_alloc(self, SIZE_MAX / 2, 0, 16) == NULL &&
           sgc_span_alloc(self, (size_t)1 << 40, 0, (size_t)1 << 40) == NULL, "what cannot be is refused");
    heap_collect(NULL, 0);
    while (sgc_span_sweep(8, self))
        continue;
    tap_ok(sgc_pool_in_use_bytes() == in_use, "and all of it comes back");
}

/* ---- resizing ---- */

static void test_resize(void)
{
    char *object = alloc(6 * SGC_PAGE, SGC_KIND_CONSERVATIVE);
    uint32_t first = heap_page(object);
    struct sgc_object o;

    memset(object, 0xa5, 6 * SGC_PAGE);
    size_t in_use = sgc_pool_in_use_bytes();
    tap_ok(sgc_span_resize(self, first, 2 * SGC_PAGE + 100) && sgc_pool_in_use_bytes() == in_use - 3 * SGC_PAGE,
           "made smaller, three pages go back");
    tap_ok(state_of(first + 2) == SGC_PAGE_SPAN_TAIL && state_of(first + 3) == SGC_PAGE_FREE, "those at the end");
    tap_ok(sgc_object_find((uintptr_t)object + 2 * SGC_PAGE + 111, &o) && o.bytes == 2 * SGC_PAGE + 112 &&
           !sgc_object_find((uintptr_t)object + 2 * SGC_PAGE + 112, &o), "its end moves (in granules)");
    sgc_heap_check();
    tap_ok(!sgc_span_resize(self, first, (size_t)1 << 40) && sgc_object_find((uintptr_t)object, &o) &&
           o.bytes == 2 * SGC_PAGE + 112, "it does not grow beyond the heap");
    tap_ok(sgc_span_resize(self, first, 3 * SGC_PAGE) && heap_zero(object + 2 * SGC_PAGE + 112, SGC_PAGE - 112) &&
           object[2 * SGC_PAGE + 111] == (char)0xa5, "within them it does; what is gained is zero, the rest as it was");
    tap_ok(sgc_span_resize(self, first, 1) && state_of(first) == SGC_PAGE_SPAN && state_of(first + 1) == SGC_PAGE_FREE,
           "one byte keeps one page");
    tap_ok(sgc_span_free(self, first), "and can be freed");
}

/* Pages behind it that have contents, a neighbour in the sixth. */
static void test_grow(void)
{
    char *object = alloc(8 * SGC_PAGE, SGC_KIND_CONSERVATIVE), *neighbour = object + 5 * SGC_PAGE;
    uint32_t first = heap_page(object);
    size_t in_use;
    struct sgc_object o;
    bool zero;

    memset(object, 0xa5, 8 * SGC_PAGE);
    sgc_span_resize(self, first, 2 * SGC_PAGE - 32);
    if (!sgc_pool_take_at(first + 5, 1, self, &zero))
        tap_bail("a page that has gone back cannot be had");
    memset(neighbour, 0x77, SGC_PAGE);
    in_use = sgc_pool_in_use_bytes();
    tap_ok(sgc_span_resize(self, first, 5 * SGC_PAGE) && sgc_pool_in_use_bytes() == in_use + 3 * SGC_PAGE &&
           state_of(first + 4) == SGC_PAGE_SPAN_TAIL && state_of(first + 5) == SGC_PAGE_FREE, "a span grows into free pages");
    tap_ok(heap_filled(object, 2 * SGC_PAGE - 32, 0xa5) && heap_zero(object + 2 * SGC_PAGE - 32, 3 * SGC_PAGE + 32),
           "what is gained is zero, the rest as it was");
    tap_ok(sgc_object_find((uintptr_t)object + 5 * SGC_PAGE - 1, &o) && o.start == (uintptr_t)object,
           "its last byte leads to it");
    memset(object, 0xa5, 5 * SGC_PAGE);
    tap_ok(!sgc_span_resize(self, first, 5 * SGC_PAGE + 1) && sgc_span_bytes(first) == 5 * SGC_PAGE &&
           sgc_pool_in_use_bytes() == in_use + 3 * SGC_PAGE, "not where a page is in use");
    tap_ok(heap_filled(neighbour, SGC_PAGE, 0x77) && heap_filled(object, 5 * SGC_PAGE, 0xa5), "both keep what they have");
    sgc_heap_check();
    sgc_pool_give(first + 5, 1, self);
    tap_ok(sgc_span_resize(self, first, 8 * SGC_PAGE) && heap_zero(neighbour, 3 * SGC_PAGE), "unless that is given back");
    sgc_heap_check();
    tap_ok(sgc_span_free(self, first) && sgc_pool_in_use_bytes() == in_use - 3 * SGC_PAGE &&
           state_of(first + 7) == SGC_PAGE_FREE, "freed, all of it goes back");
}

/* ---- resizing: a fork ---- */

static uint32_t growing;                /* from two pages to five */

static int not_only_two_pages(void)
{
    sgc_pool_after_fork();
    sgc_pool_take_back_lost();
    sgc_heap_check();
    return sgc_span_bytes(growing) != 2 * SGC_PAGE || state_of(growing + 1) != SGC_PAGE_SPAN_TAIL ||
           state_of(growing + 2) != SGC_PAGE_FREE || state_of(growing + 4) != SGC_PAGE_FREE;
}

/* Another thread forks where this one has made its new pages tails, and does not count them yet. */
static void fork_at_tail(void)
{
    if (state_of(growing + 4) != SGC_PAGE_SPAN_TAIL)
        return;
    sgc_section_hooks.seam = NULL;
    child_ok(not_only_two_pages, "a fork beside a span that grows takes back what is in hand");
}

static void test_grow_fork(void)
{
    growing = heap_page(alloc(8 * SGC_PAGE, SGC_KIND_POINTER_FREE));
    sgc_span_resize(self, growing, 2 * SGC_PAGE);
    sgc_section_hooks.seam = fork_at_tail;
    tap_ok(sgc_span_resize(self, growing, 5 * SGC_PAGE) && sgc_section_hooks.seam == NULL, "which goes on growing");
    sgc_heap_check();
    sgc_span_free(self, growing);
}

/* ---- resizing: into new memory ---- */

/* Step by step through arenas that were never used, for which the heap has to grow, and which nobody has
 * to zero. */
static void test_grow_far(void)
{
    enum { STEP = 1 << 20, MOST = 400 };
    static const uint32_t kinds[] = { SGC_KIND_POINTER_FREE, SGC_KIND_CONSERVATIVE };
    size_t in_use = sgc_pool_in_use_bytes();

    for (int k = 0; k < 2; k++) {
        char *object = alloc(STEP, kinds[k]);
        uint32_t first = heap_page(object);
        int moved = 0;

        for (size_t n = 2; n <= MOST; n++)
            moved += !sgc_span_resize(self, first, n * STEP);
        tap_ok(moved == 0 && sgc_span_bytes(first) == (size_t)MOST * STEP, "a span of %u MB by steps of one moves %d times",
               MOST, moved);
        sgc_heap_check();
        sgc_pool_set_limit(sgc_pool_in_use_bytes() + SGC_PAGE);
        tap_ok(!sgc_span_resize(self, first, (size_t)MOST * STEP + SGC_PAGE + 1), "nor is the heap's limit exceeded");
        sgc_pool_set_limit(0);
        sgc_span_free(self, first);
        while (sgc_pool_used_bytes() != 0)
            sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
    }
    tap_ok(sgc_pool_in_use_bytes() == in_use, "it goes back as a whole");
}

/* ---- freeing and sweeping ---- */

static void test_free(void)
{
    size_t in_use = sgc_pool_in_use_bytes();
    struct sgc_span_bytes taken;
    char *object = alloc(200000, SGC_KIND_CONSERVATIVE);
    uint32_t first = heap_page(object);

    tap_ok(!sgc_span_free(self, first + 1), "a tail is no span to free");
    tap_ok(sgc_span_free(self, first) && state_of(first) == SGC_PAGE_FREE && state_of(first + 3) == SGC_PAGE_FREE,
           "freed, its pages are free");
    tap_ok(!sgc_span_free(self, first), "once");
    tap_ok(sgc_pool_in_use_bytes() == in_use, "and back in the pool");
    sgc_span_take_bytes();
    object = alloc(70000, SGC_KIND_CONSERVATIVE);
    sgc_span_free(self, heap_page(object));
    taken = sgc_span_take_bytes();
    tap_ok(taken.allocated == taken.freed, "what is freed counts as much as what was allocated");
}

static void test_sweep(void)
{
    enum { N = 40 };
    char *all[N], *keep[N / 2];
    size_t in_use = sgc_pool_in_use_bytes();
    int wrong = 0;

    for (int i = 0; i < N; i++) {
        all[i] = alloc(SGC_PAGE + (size_t)i * 3000, SGC_KIND_POINTER_FREE);
        memset(all[i], i, SGC_PAGE);
        if (i % 2)
            keep[i / 2] = all[i] + SGC_PAGE - 1;        /* an interior pointer is enough */
    }
    size_t before = sgc_pool_in_use_bytes();
    heap_collect(keep, N / 2);
    for (int i = 0; i < N; i++)
        wrong += heap_allocated(all[i]) != (i % 2 == 1);
    tap_ok(wrong == 0, "dead spans are unallocated from the flip on");
    if (SGC_TRACES)
        tap_ok(sgc_pool_in_use_bytes() == before, "their pages come back by sweeping only");
    tap_ok(!sgc_span_free(self, heap_page(all[0])), "a dead one cannot be freed");
    sgc_heap_check();
    tap_ok(sgc_span_sweep(5, self) == SGC_TRACES && sgc_pool_in_use_bytes() < before,
           SGC_TRACES ? "sweeping goes in steps" : "where no cycle comes there is nothing to sweep");
    while (sgc_span_sweep(5, self))
        continue;
    for (int i = 0; i < N; i++)
        wrong += (state_of(heap_page(all[i])) == SGC_PAGE_SPAN) != (i % 2 == 1) || (i % 2 == 1 && all[i][SGC_PAGE - 1] != i);
    tap_ok(wrong == 0, "dead spans' pages are free then, live ones keep their contents");
    for (int i = 1; i < N; i += 2)
        wrong += !sgc_span_free(self, heap_page(all[i]));
    tap_ok(wrong == 0 && sgc_pool_in_use_bytes() == in_use, "and can be freed");
}

static void test_uncollectable(void)
{
    char *object, **inside;
    uint32_t first;

    if (!SGC_TRACES)
        return;
    object = alloc(100000, SGC_KIND_UNCOLLECTABLE);
    first = heap_page(object);
    inside = (char **)(void *)object;
    inside[5] = heap_small(cache, 40, SGC_KIND_CONSERVATIVE);
    heap_empty();
    tap_ok(heap_allocated(object) && heap_allocated(inside[5]), "an uncollectable span and what it points at stay");
    sgc_span_free(self, first);
    tap_ok((sgc_aw_load(&sgc_arena_of_page(first)->uncollectable) & sgc_arena_bit(first)) == 0, "until it is freed");
}

/* ---- against a model: what is allocated keeps its contents ---- */

static void test_random(void)
{
    enum { N = 50 };
    struct { unsigned char *object; size_t bytes; unsigned char fill; } model[N] = { { NULL, 0, 0 } };
    uint64_t seed = 3;
    int wrong = 0;

    for (int step = 0; step < 2000; step++) {
        int i = (int)heap_random(&seed, N);
        size_t bytes = 1 + heap_random(&seed, 600000);
        if (model[i].object != NULL) {
            wrong += model[i].object[0] != model[i].fill || model[i].object[model[i].bytes - 1] != model[i].fill;
            if (heap_random(&seed, 2) && sgc_span_resize(self, heap_page(model[i].object), bytes)) {
                wrong += bytes > sgc_round_up(model[i].bytes, SGC_GRANULE) && model[i].object[bytes - 1] != 0;
                memset(model[i].object, model[i].fill, bytes);
                model[i].bytes = bytes;
                continue;
            }
            wrong += !sgc_span_free(self, heap_page(model[i].object));
        }
        model[i].object = sgc_span_alloc(self, bytes, SGC_KIND_CONSERVATIVE, (size_t)16 << heap_random(&seed, 16));
        if (model[i].object == NULL)
            continue;
        wrong += model[i].object[0] != 0 || model[i].object[bytes / 2] != 0 || model[i].object[bytes - 1] != 0;
        model[i].bytes = bytes;
        model[i].fill = (unsigned char)(1 + step % 255);
        memset(model[i].object, model[i].fill, bytes);
        if (step % 64 == 0)
            sgc_heap_check();
    }
    tap_ok(wrong == 0, "2000 random allocations, resizes and frees keep contents and zero (%d wrong)", wrong);
    heap_collect(NULL, 0);
    while (sgc_span_sweep(16, self))
        continue;
    tap_ok(sgc_pool_in_use_bytes() <= 8 * SGC_PAGE, "in the end nothing is left");
}

int main(void)
{
    heap_start((size_t)1 << 30, 0, false);
    cache = sgc_self;
    self = &cache->section;
    heap_each(sgc_heap_check, test_lookup, test_zero, test_resize, test_grow, test_grow_fork, test_grow_far, test_free,
              test_sweep, test_align_clean, test_align, test_uncollectable, test_random);
    return tap_done();
}
