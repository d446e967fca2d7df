/* SPDX-License-Identifier: MIT */
/*
 * alloc/small/small.c and alloc/small/cache.c on one thread: order of addresses, zeroing, claims, retiring, flushing, wrong
 * frees, batches.
 *
 * Also: platform/registers_x86_64.c, platform/registers_aarch64.c (zeroing).
 */
#include "tests/lib/heap.h"

static struct sgc_cache *cache;

static enum sgc_free_result free_it(void *object)
{
    return heap_free_local(cache, object);
}

/* ---- order and contents ---- */

static void test_ascending(void)
{
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        uint32_t bytes = sgc_class_bytes(cls), per_page = sgc_size_classes.of[cls].per_page;
        char *first = heap_small(cache, bytes, SGC_KIND_CONSERVATIVE), *last = first;

        wrong += (uintptr_t)first % SGC_PAGE != 0;
        for (uint32_t i = 1; i < per_page; i++) {
            char *next = heap_small(cache, bytes, SGC_KIND_CONSERVATIVE);
            wrong += next != last + bytes || !heap_new(next, bytes);
            memset(next, 0xa5, bytes);
            last = next;
        }
        wrong += (uintptr_t)heap_small(cache, bytes, SGC_KIND_CONSERVATIVE) % SGC_PAGE != 0;
    }
    tap_ok(wrong == 0, "in each class objects come zeroed, in ascending, contiguous addresses to the end of the page");
}

static bool can_populate(void)
{
    char *memory = heap_map(sgc_os_page_size());

    sgc_mem_populate(memory, memory + 1);
    return sgc_mem_resident(memory, 1) != 0;
}

/* Of pages that were never used, as soon as their first object is there: the first few have what was touched, the later ones
 * are there as a whole. */
static void test_populated(void)
{
    enum { PAGES = 12, BYTES = 64 };
    size_t resident[PAGES] = { 0 }, whole = 0;
    int pages = 0;

    heap_collect(NULL, 0);
    while (pages < PAGES) {
        char *object = heap_small(cache, BYTES, SGC_KIND_POINTER_FREE);

        if ((uintptr_t)object % SGC_PAGE == 0)
            resident[pages++] = sgc_mem_resident(object, SGC_PAGE);
    }
    for (int i = 4; i < PAGES; i++)
        whole += resident[i] == SGC_PAGE;
    tap_ok(sgc_os_page_size() == SGC_PAGE || (resident[0] < SGC_PAGE && resident[1] < SGC_PAGE),
           "pages get their memory as it is touched (%zu bytes)", resident[0]);
    if (!can_populate())
        tap_skip("Linux before 5.14 cannot populate memory");
    else
        tap_ok(whole == PAGES - 4, "the pages of a class in demand at once (%zu of %d)", whole, PAGES - 4);
}

/* Everything dies; the slots, full of old words, are handed out again. */
static void test_reuse(void)
{
    int wrong = 0, reused = 0;
    enum { N = 3000 };
    static char *old[N];

    for (int i = 0; i < N; i++) {
        old[i] = heap_small(cache, 48, SGC_KIND_CONSERVATIVE);
        memset(old[i], 0xa5, 48);
    }
    heap_collect(NULL, 0);
    char *last = NULL;
    int ascending = 0;
    for (int i = 0; i < N; i++) {
        char *again = heap_small(cache, 48, SGC_KIND_CONSERVATIVE);
        wrong += !heap_new(again, 48);
        for (int j = 0; j < N && i % 100 == 0; j++)
            reused += again == old[j];
        ascending += again == last + 48;
        last = again;
    }
    if (SGC_TRACES) {
        tap_ok(reused > 0, "dead slots are used again");
        tap_ok(wrong == 0, "and are zero then (%d are not)", wrong);
    }
    tap_ok(ascending > N - 10, "still in ascending, contiguous addresses (%d of %d)", ascending, N);
}

enum { IN_A_PAGE = 1365 };      /* objects of 48 bytes */

static char *kept[IN_A_PAGE];

/* Every third object lives. */
static void make_holes(void)
{
    heap_empty();
    for (int i = 0; i < IN_A_PAGE; i++) {
        char *object = heap_small(cache, 48, SGC_KIND_CONSERVATIVE);

        kept[i] = i % 3 == 0 ? object : NULL;
        memset(object, 0, 48);
    }
    heap_collect(kept, IN_A_PAGE);
}

/* How often the object is one that lives. */
static int among_kept(const void *object)
{
    int found = 0;

    for (int i = 0; i < IN_A_PAGE; i += 3)
        found += object == kept[i];
    return found;
}

static void test_holes(void)
{
    char *last = NULL;
    int wrong = 0;

    make_holes();
    for (int i = 0; i < IN_A_PAGE / 3; i++) {
        char *object = heap_small(cache, 48, SGC_KIND_CONSERVATIVE);

        wrong += among_kept(object);
        wrong += last != NULL && object <= last;
        last = object;
    }
    tap_ok(wrong == 0, "slots between live objects are handed out upward, live ones never");
}

static void test_pointer_free(void)
{
    char *object = heap_small(cache, 64, SGC_KIND_POINTER_FREE);

    memset(object, 0x77, 64);
    free_it(object);
    char *again = heap_small(cache, 64, SGC_KIND_POINTER_FREE);
    tap_ok(again == object && again[sizeof(struct sgc_freed)] == 0x77, "pointer-free slots are not zeroed");
    char *pointers = heap_small(cache, 64, SGC_KIND_CONSERVATIVE);
    memset(pointers, 0x77, 64);
    free_it(pointers);
    tap_ok(heap_small(cache, 64, SGC_KIND_CONSERVATIVE) == pointers && heap_new(pointers, 64),
           "those with pointers are");
}

/* ---- claims ---- */

static size_t claimed_bits(const struct sgc_bin *bin)
{
    size_t set = 0;

    for (char *slot = bin->cur; slot != NULL && slot < bin->end; slot += bin->size)
        set += sgc_alloc_bit(sgc_granule_number((uintptr_t)slot));
    return set;
}

static void test_claims(void)
{
    char *object = heap_small(cache, 16, SGC_KIND_CONSERVATIVE);
    struct sgc_bin *bin = heap_bin(cache, 16, SGC_KIND_CONSERVATIVE);
    size_t left = (size_t)(bin->end - bin->cur) / 16;

    tap_ok(left > 10 && left * 16 <= 2 * SGC_CLAIM_BYTES, "a few kilobytes are claimed (%zu bytes left)", left * 16);
    tap_ok(claimed_bits(bin) == left, "what is claimed has its allocation bits");
    tap_ok(heap_allocated(object) && !heap_allocated(bin->cur) && !heap_allocated(bin->end - 16),
           "but only what was handed out is allocated");
    char *next = bin->cur;
    size_t claimed = left;
    heap_retire();
    tap_ok(bin->cur == NULL && sgc_alloc_bit(sgc_granule_number((uintptr_t)object)), "retired, the object stays");
    size_t still = 0;
    for (size_t i = 0; i < claimed; i++)
        still += sgc_alloc_bit(sgc_granule_number((uintptr_t)next + i * 16));
    tap_ok(still == 0, "and the rest of the run is not allocated");
    tap_ok(heap_small(cache, 16, SGC_KIND_CONSERVATIVE) == next, "the run goes on where it stood");
    size_t before = sgc_aw_load(&cache->claimed);
    while (bin->cur < bin->end)
        heap_small(cache, 16, SGC_KIND_CONSERVATIVE);
    tap_ok(sgc_aw_load(&cache->claimed) == before, "handing out claimed slots counts nothing twice");
    heap_small(cache, 16, SGC_KIND_CONSERVATIVE);
    tap_ok(sgc_aw_load(&cache->claimed) - before == (size_t)(bin->end - bin->cur) + 16, "the next claim is counted");
}

/* A bin that has filled pages since the last cycle. */
static void test_demand(void)
{
    struct sgc_bin *bin;
    size_t all, first, longest = 0;

    heap_small(cache, 1000, SGC_KIND_POINTER_FREE);
    bin = heap_bin(cache, 1000, SGC_KIND_POINTER_FREE);
    all = SGC_PAGE / bin->size * bin->size;
    first = (size_t)(bin->end - bin->cur) + bin->size;
    while (bin->taken < 4) {
        size_t run;

        heap_small(cache, 1000, SGC_KIND_POINTER_FREE);
        run = (size_t)(bin->end - bin->cur) + bin->size;
        longest = run > longest ? run : longest;
    }
    tap_ok(first < 2 * SGC_CLAIM_BYTES && longest == all, "a bin in demand claims whole pages (%zu bytes, at first %zu)",
           longest, first);
}

/* ---- freeing ---- */

/* By a jump, when the run was used up and its end was forgotten. */
static void test_claim_left(void)
{
    const struct sgc_bin *bin = heap_bin(cache, 64, SGC_KIND_CONSERVATIVE);
    char *last = heap_small(cache, 64, SGC_KIND_CONSERVATIVE), *next;

    while (bin->cur != bin->end)
        last = heap_small(cache, 64, SGC_KIND_CONSERVATIVE);
    heap_bin(cache, 64, SGC_KIND_CONSERVATIVE)->end = NULL;
    next = heap_small(cache, 64, SGC_KIND_CONSERVATIVE);
    tap_ok(next != NULL && next > last && bin->cur == next + 64, "after a claim that was left half way the next one goes on");
}

static size_t freed_bytes(void)
{
    sgc_cache_count_freed(cache);
    return sgc_aw_load(&cache->freed_bytes);
}

/* The first and the last slot that are claimed and were not handed out, if there are any. */
static bool at_hand(const struct sgc_bin *bin, char **first, char **last)
{
    *first = SGC_TRACES ? bin->cur : sgc_bin_freed(bin)->object;
    *last = SGC_TRACES ? bin->end - bin->size : bin->freed[-1].object;
    return SGC_TRACES ? bin->cur < bin->limit : sgc_bin_has_freed(bin);
}

static void test_free(void)
{
    char *a = heap_small(cache, 100, SGC_KIND_CONSERVATIVE), *b = heap_small(cache, 100, SGC_KIND_CONSERVATIVE);
    size_t before = freed_bytes();

    tap_ok(free_it(a) == SGC_FREE_DONE && !heap_allocated(a) && heap_allocated(b), "a freed object is not allocated");
    tap_ok(freed_bytes() - before == 112, "its bytes are counted");
    tap_ok(free_it(a) == SGC_FREE_NOT_ALLOCATED, "freeing it twice is told");
    tap_ok(free_it(b + 16) == SGC_FREE_INTERIOR && free_it(b + 1) == SGC_FREE_INTERIOR &&
           free_it(b + 111) == SGC_FREE_INTERIOR && heap_allocated(b), "so is freeing the inside of one");
    tap_ok(heap_small(cache, 100, SGC_KIND_CONSERVATIVE) == a, "the last freed is the next");
    tap_ok(free_it(a) == SGC_FREE_DONE && free_it(b) == SGC_FREE_DONE &&
           heap_small(cache, 100, SGC_KIND_CONSERVATIVE) == b && heap_small(cache, 100, SGC_KIND_CONSERVATIVE) == a,
           "last in, first out");
    tap_ok(freed_bytes() == before, "who gets a freed slot gets what was counted");
    char *first, *last;
    tap_ok(at_hand(heap_bin(cache, 100, SGC_KIND_CONSERVATIVE), &first, &last) && free_it(first) == SGC_FREE_NOT_ALLOCATED &&
           free_it(last) == SGC_FREE_NOT_ALLOCATED, "a slot claimed but not handed out is refused");
    char *page = (char *)sgc_round_down((uintptr_t)a, SGC_PAGE);
    uint32_t per_page = sgc_size_classes.of[sgc_class_for(7)].per_page;
    tap_ok(free_it(page + (size_t)per_page * 112 - 112) == SGC_FREE_NOT_ALLOCATED, "a slot never used is refused");
    tap_ok(per_page * 112 == SGC_PAGE || free_it(page + (size_t)per_page * 112) == SGC_FREE_NOT_HERE,
           "the unused end of a page is no object");
}

static void test_free_after_cycle(void)
{
    char *keep[1] = { heap_small(cache, 100, SGC_KIND_CONSERVATIVE) };
    char *dead = heap_small(cache, 100, SGC_KIND_CONSERVATIVE);

    heap_collect(keep, 1);
    tap_ok(free_it(keep[0]) == SGC_FREE_NOT_HERE, "in a page that is not swept yet the short way does not free");
    tap_ok(sgc_object_free(cache, dead) == SGC_FREE_NOT_ALLOCATED, "a dead object is not allocated, swept or not");
    tap_ok(sgc_object_free(cache, keep[0]) == SGC_FREE_DONE && !heap_allocated(keep[0]), "the long way sweeps and frees");
    tap_ok(sgc_object_free(cache, keep[0]) == SGC_FREE_NOT_ALLOCATED, "once");
}

/* However many are freed, they are the next to be handed out. */
static void test_free_many(void)
{
    enum { N = SGC_TRACES ? 1000 : SGC_BOUND_BYTES / 128 / 2 };
    static char *objects[N];
    const struct sgc_bin *bin = heap_bin(cache, 128, SGC_KIND_CONSERVATIVE);
    uint32_t before;
    int wrong = 0;

    for (int i = 0; i < N; i++)
        objects[i] = heap_small(cache, 128, SGC_KIND_CONSERVATIVE);
    before = sgc_bin_nfreed(bin);
    for (int i = 0; i < N; i++) {
        memset(objects[i], 0xa5, 128);
        wrong += free_it(objects[i]) != SGC_FREE_DONE;
    }
    tap_ok(wrong == 0 && sgc_bin_nfreed(bin) == before + N, "%d slots are freed and stay at hand", N);
    sgc_heap_check();
    for (int i = N - 1; i >= 0; i--)
        wrong += heap_small(cache, 128, SGC_KIND_CONSERVATIVE) != objects[i] || !heap_new(objects[i], 128);
    tap_ok(wrong == 0, "each is handed out again, once and zero");
}

static void test_retire_freed(void)
{
    char *object = heap_small(cache, 500, SGC_KIND_CONSERVATIVE);

    free_it(object);
    heap_retire();
    tap_ok(!sgc_bin_has_freed(heap_bin(cache, 500, SGC_KIND_CONSERVATIVE)) && !heap_allocated(object),
           "retired caches forget freed slots, which stay free");
    heap_collect(NULL, 0);
    tap_ok(heap_small(cache, 500, SGC_KIND_CONSERVATIVE) != NULL, "and are found by the next sweep");
}

/* ---- batches ---- */

static void test_many(void)
{
    uint32_t cls = sgc_class_for(2), n = 0;
    int wrong = 0;
    char *first = sgc_small_many(cache, SGC_KIND_CONSERVATIVE, cls, 20), *last = NULL;

    for (void **object = (void **)(void *)first; object != NULL; object = *object, n++) {
        wrong += !heap_allocated(object) || !heap_zero((char *)object + 8, 24) || (last != NULL && (char *)object <= last);
        last = (char *)object;
    }
    tap_ok(n >= 1 && n <= 20 && wrong == 0, "a batch is linked upward, allocated and zero behind the link (%u)", n);
    heap_retire();
    wrong = 0;
    for (void **object = (void **)(void *)first; object != NULL; object = *object)
        wrong += !heap_allocated(object);
    tap_ok(wrong == 0, "and stays allocated when the cache is retired");
    void **one = sgc_small_many(cache, SGC_KIND_CONSERVATIVE, cls, 1);
    tap_ok(one != NULL && *one == NULL, "a batch of one");
}

static void test_many_runs(void)
{
    uint32_t n = 0;
    int wrong = 0;

    make_holes();
    for (void **object = sgc_small_many(cache, SGC_KIND_CONSERVATIVE, sgc_class_for(3), UINT32_MAX); object != NULL;
         object = *object, n++) {
        wrong += among_kept(object);
        wrong += !heap_allocated(object) || !heap_zero((char *)object + 8, 40);
    }
    tap_ok(wrong == 0 && n > 20 && n * 48 < 2 * SGC_ZERO_BYTES, "a batch takes several runs between live objects (%u)", n);
}

/* ---- the torture setting: no slot is kept, no run is claimed ahead ---- */

static void test_torture(void)
{
    struct sgc_cache *other = heap_cache();

    heap_cache_end(other);
    tap_ok(sgc_cache_open(other, true), "a cache is opened again");
    heap_test.open[heap_test.count - 1] = true;
    char *a = heap_small(other, 32, SGC_KIND_CONSERVATIVE), *b = heap_small(other, 32, SGC_KIND_CONSERVATIVE);
    struct sgc_bin *bin = &other->bin[SGC_KIND_CONSERVATIVE][sgc_class_for(2)];
    tap_ok(b == a + 32 && bin->cur == bin->end, "under torture slots are claimed one by one");
    tap_ok(heap_free_local(other, a) == SGC_FREE_DONE && !sgc_bin_has_freed(bin) &&
           heap_small(other, 32, SGC_KIND_CONSERVATIVE) != a, "and a freed one is not reused at once");
}

/* ---- threads in turn that have one cache ---- */

/* Fills the lists of freed slots of some classes, as a thread does that ends. */
static void free_some(struct sgc_cache *other)
{
    enum { OBJECTS = 600 };
    void *object[OBJECTS];

    for (uint32_t bytes = 32; bytes <= 256; bytes += 32) {
        for (int i = 0; i < OBJECTS; i++)
            object[i] = heap_small(other, bytes, SGC_KIND_POINTER_FREE);
        for (int i = 0; i < OBJECTS; i++)
            heap_free_local(other, object[i]);
    }
}

static void test_arrays_stay(void)
{
    struct sgc_cache *other = heap_cache();
    const char *array;

    free_some(other);
    array = other->array;
    for (int i = 0; i < 100; i++) {
        heap_cache_end(other);
        if (!sgc_cache_open(other, false))
            tap_bail("no cache");
        free_some(other);
    }
    heap_test.open[heap_test.count - 1] = true;
    tap_ok(array != NULL && other->array == array, "a cache that is closed and opened needs no other memory for freed slots");
    sgc_heap_check();
    heap_cache_end(other);
}

int main(void)
{
    heap_start((size_t)256 << 20, 0, false);
    cache = sgc_self;
    if (SGC_TRACES)
        heap_each(sgc_heap_check, test_populated);
    heap_each(sgc_heap_check, test_ascending, test_reuse, test_holes, test_pointer_free);
    if (SGC_TRACES)
        heap_each(sgc_heap_check, test_claims, test_demand, test_claim_left);
    heap_each(sgc_heap_check, test_free, test_free_many, test_retire_freed, test_arrays_stay);
    if (SGC_TRACES)
        heap_each(sgc_heap_check, test_free_after_cycle, test_many, test_many_runs, test_torture);
    return tap_done();
}
