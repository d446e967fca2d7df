/* SPDX-License-Identifier: MIT */
/*
 * alloc/small/remote_free.c, alloc/small/orphan.c: frees by threads that do not own the page, at the same time as the owner
 * allocates, drains and ends; pages without an owner and who adopts them.
 *
 * Also: alloc/page_supply.c.
 */
#include "alloc/small/orphan.h"
#include "tests/lib/child.h"
#include "tests/lib/heap.h"

enum { BYTES = 128, KIND = SGC_KIND_CONSERVATIVE };

static struct sgc_cache *main_cache;

/* Everything dies and goes back: what is left in use is lost. */
static size_t left_over(void)
{
    heap_empty();
    sgc_heap_check();
    return sgc_pool_in_use_bytes();
}

/* ---- one thing after the other ---- */

static void test_free(void)
{
    struct sgc_cache *other = heap_cache();
    char *a = heap_small(main_cache, BYTES, KIND), *b = heap_small(main_cache, BYTES, KIND);
    const struct sgc_page *d = &sgc_heap.pages[heap_page(a)];

    tap_ok(sgc_object_free(other, a + 16) == SGC_FREE_INTERIOR, "a remote free of the inside of an object is told");
    tap_ok(sgc_object_free(other, a) == SGC_FREE_DONE && !heap_allocated(a) && heap_allocated(b),
           "a remote free frees that object");
    tap_ok(sgc_aw_load(&other->freed_bytes) == BYTES, "who freed it counts it");
    tap_ok(sgc_object_free(other, a) == SGC_FREE_NOT_ALLOCATED && sgc_object_free(main_cache, a) == SGC_FREE_NOT_ALLOCATED,
           "a second free is told, by whichever thread");
    tap_ok(sgc_a8_load(&d->remote) == 1 && sgc_a32_load(&sgc_heap.records[heap_page(a)].queued) == 1 &&
           sgc_aw_load(&main_cache->inbox) == heap_page(a), "its page waits in the owner's inbox");
    tap_ok(sgc_object_free(other, b) == SGC_FREE_DONE && sgc_aw_load(&main_cache->inbox) == heap_page(a) &&
           sgc_heap.records[heap_page(a)].inbox_next == 0, "once, however many of its objects are freed");
    tap_ok(sgc_object_free(main_cache, b) == SGC_FREE_NOT_ALLOCATED, "the owner knows");
}

/* The owner finds the slots when it needs a page. */
static void test_drain(void)
{
    struct sgc_cache *other = heap_cache();
    enum { N = 2 * SGC_PAGE / BYTES };
    static char *object[N];
    int found = 0, again = 0;

    for (int i = 0; i < N; i++) {
        object[i] = heap_small(main_cache, BYTES, KIND);
        memset(object[i], 0xa5, BYTES);
    }
    for (int i = 0; i < N; i += 2)
        sgc_object_free(other, object[i]);
    size_t in_use = sgc_pool_in_use_bytes();
    for (int i = 0; i < N; i++) {
        char *got = heap_small(main_cache, BYTES, KIND);
        for (int j = 0; j < N; j++) {
            found += got == object[j] && j % 2 == 0;
            again += got == object[j] && j % 2 == 1;
        }
        again += !heap_new(got, BYTES);
    }
    tap_ok(found >= N / 2 - 16, "slots freed remotely are used again (%d of %d)", found, N / 2);
    tap_ok(again == 0, "zeroed, and no others");
    tap_ok(sgc_pool_in_use_bytes() <= in_use + SGC_PAGE, "before fresh pages are");
}

static enum sgc_free_step free_quickly(struct sgc_cache *cache, char *object)
{
    enum sgc_free_step step;

    sgc_section_enter(&cache->section);
    step = sgc_free_in_section(cache, object, sgc_exact_granule(object));
    sgc_section_leave(&cache->section);
    return step;
}

/* What others have freed in a page does not keep its owner from the common way of freeing. */
static void test_own_frees(void)
{
    struct sgc_cache *other = heap_cache();
    char *before = heap_small(main_cache, BYTES, KIND), *theirs = heap_small(main_cache, BYTES, KIND);
    char *ours = heap_small(main_cache, BYTES, KIND);
    const struct sgc_page *d = &sgc_heap.pages[heap_page(theirs)];

    sgc_object_free(main_cache, before);        /* so that the bin is open */
    sgc_object_free(other, theirs);
    tap_ok(heap_page(ours) == heap_page(theirs) && sgc_a8_load(&d->remote) == 1 &&
           free_quickly(main_cache, ours) == SGC_FREE_STEP_DONE && !heap_allocated(ours),
           "an owner frees by the common way beside what others have freed");
    tap_ok(free_quickly(main_cache, theirs) == SGC_FREE_STEP_MISSED &&
           sgc_object_free(main_cache, theirs) == SGC_FREE_NOT_ALLOCATED, "but not that itself, a second time");
}

/* The page of the first of that many new objects of the cache. */
static uint32_t page_of_new(struct sgc_cache *cache, char **object, int count)
{
    for (int i = 0; i < count; i++)
        object[i] = heap_small(cache, BYTES, KIND);
    return heap_page(object[0]);
}

/* Until the owner has merged, nobody tells it again. */
static void test_told_once(void)
{
    struct sgc_cache *other = heap_cache();
    char *object[4];
    uint32_t page = page_of_new(main_cache, object, 4);

    sgc_page_merge(page);
    heap_drain(main_cache);
    sgc_object_free(other, object[0]);
    heap_drain(main_cache);
    sgc_object_free(other, object[1]);
    tap_ok(sgc_a32_load(&sgc_heap.records[page].queued) == 0 && sgc_aw_load(&main_cache->inbox) == SGC_INBOX_EMPTY,
           "an owner that was told of a page is not told again");
    sgc_page_merge(page);
    tap_ok(!sgc_alloc_bit(sgc_granule_number((uintptr_t)object[0])) && !sgc_alloc_bit(sgc_granule_number((uintptr_t)object[1])),
           "it merges what was freed before and since");
    sgc_object_free(other, object[2]);
    tap_ok(sgc_aw_load(&main_cache->inbox) == page, "then it is told again");
    tap_ok(heap_allocated(object[3]), "of each object that was freed, and of no other");
}

/* ---- owners that end ---- */

static void test_orphans(void)
{
    struct sgc_cache *ending = heap_cache(), *other = heap_cache();
    enum { N = 3 * SGC_PAGE / BYTES };
    static char *object[N];
    int wrong = 0;

    for (int i = 0; i < N; i++)
        object[i] = heap_small(ending, BYTES, KIND);
    char *claimed = ending->bin[KIND][sgc_class_for(BYTES / SGC_GRANULE)].cur;
    sgc_object_free(other, object[5]);
    sgc_object_free(ending, object[6]);
    heap_cache_end(ending);
    for (int i = 0; i < N; i++)
        wrong += sgc_page_owner(heap_page(object[i])) != SGC_ORPHANS || heap_allocated(object[i]) == (i == 5 || i == 6);
    tap_ok(wrong == 0, "an ended thread's pages have no owner, its objects stay");
    tap_ok(claimed == NULL || !sgc_alloc_bit(sgc_granule_number((uintptr_t)claimed)), "its claims are given up");
    sgc_heap_check();
    tap_ok(sgc_object_free(other, object[7]) == SGC_FREE_DONE && sgc_object_free(other, object[7]) == SGC_FREE_NOT_ALLOCATED,
           "objects of orphans can be freed, once");
    bool adopted = false;
    int of_ours = 0;
    for (int i = 0; i < 3; i++) {
        char *got = heap_small(other, BYTES, KIND);
        of_ours += got == object[5] || got == object[6] || got == object[7];
        adopted = adopted || sgc_page_owner(heap_page(object[5])) == other->id;
    }
    tap_ok(adopted && of_ours > 0, "a thread in need adopts a page with room, and uses it (%d)", of_ours);
}

static void test_orphans_swept(void)
{
    struct sgc_cache *ending = heap_cache();
    char *object = NULL;

    for (int i = 0; i < 4 * SGC_PAGE / BYTES; i++)
        object = heap_small(ending, BYTES, KIND);
    heap_cache_end(ending);
    heap_collect(&object, 1);
    size_t before = sgc_pool_in_use_bytes();
    heap_sweep_all();
    tap_ok(sgc_pool_in_use_bytes() < before && heap_allocated(object) && sgc_page_owner(heap_page(object)) == SGC_ORPHANS,
           "orphans are swept: empty ones go back, the others wait");
    tap_ok(left_over() == 0, "nothing is left when all has died");
}

/* The only orphan of its class that has room stays; what is freed there later must be heard of, too. */
static void test_orphan_told_again(void)
{
    struct sgc_cache *ending = heap_cache(), *other = heap_cache();
    char *object[3];
    uint32_t page = page_of_new(ending, object, 3);

    heap_cache_end(ending);
    heap_collect(object, 3);
    heap_sweep_all();
    sgc_object_free(other, object[0]);
    sgc_guard_enter(&other->section);
    sgc_orphan_adopt(other, KIND, sgc_class_for(2 * BYTES / SGC_GRANULE), 1);
    sgc_guard_leave(&other->section);
    tap_ok(sgc_page_owner(page) == SGC_ORPHANS && sgc_a8_load(&sgc_heap.pages[page].remote) == 0,
           "an orphan is merged when there is news of it");
    sgc_object_free(other, object[1]);
    tap_ok(sgc_aw_load(&sgc_orphan_inbox.inbox) == page, "so there will be again");
    heap_collect(NULL, 0);
    tap_ok(left_over() == 0, "nothing is left when all has died");
}

static bool waited;

/* Where who sweeps orphans waits for the pool, with pages in hand, another thread may fork. */
static void check_there(TEST_UNUSED struct sgc_section *self, TEST_UNUSED sgc_a32_t *word, TEST_UNUSED uint32_t expected)
{
    sgc_orphan_check();
    sgc_unlock(&sgc_pool.lock, NULL);
    waited = true;
}

static int sweep_while_pool_is_locked(void)
{
    struct sgc_cache *ending = heap_cache();

    for (int i = 0; i < 4 * SGC_PAGE / BYTES; i++)
        heap_small(ending, BYTES, KIND);
    heap_cache_end(ending);
    heap_collect(NULL, 0);
    sgc_section_hooks.sleep = check_there;
    sgc_lock(&sgc_pool.lock, NULL);
    sgc_orphan_sweep(UINT32_MAX, &main_cache->section);
    return waited ? 0 : 1;
}

/* A page that is in its owner's inbox when that ends. */
static void test_inbox_of_ended(void)
{
    struct sgc_cache *ending = heap_cache(), *other = heap_cache();
    char *object = heap_small(ending, BYTES, KIND);

    sgc_object_free(other, object);
    heap_cache_end(ending);
    tap_ok(sgc_a32_load(&sgc_heap.records[heap_page(object)].queued) == 0, "an inbox is emptied when its owner ends");
    heap_collect(NULL, 0);
    tap_ok(!heap_allocated(object), "and nothing comes back to life");
    tap_ok(sgc_cache_open(ending, false), "the record serves another thread");
    for (int i = 0; i < heap_test.count; i++)
        if (heap_test.cache[i] == ending)
            heap_test.open[i] = true;
    char *next = heap_small(ending, BYTES, KIND);
    tap_ok(next != NULL && sgc_object_free(other, next) == SGC_FREE_DONE && sgc_aw_load(&ending->inbox) == heap_page(next),
           "whose inbox works");
}

/* ---- threads at the same time ---- */

static pthread_barrier_t barrier;
enum { RACES = 3000 };
static char *raced[RACES];
static enum sgc_free_result result[2][RACES];

static void *race(void *arg)
{
    intptr_t me = (intptr_t)arg;

    sgc_self = heap_test.cache[1 + me];
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < RACES; i++) {
        if (i % 100 == 0)
            pthread_barrier_wait(&barrier);
        result[me][i] = sgc_object_free(sgc_self, raced[i]);
    }
    return NULL;
}

static void test_double_free(void)
{
    pthread_t thread[2];
    int once = 0;

    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < RACES; i++)
        raced[i] = heap_small(main_cache, BYTES, KIND);
    threads_start(thread, 2, race);
    threads_join(thread, 2);
    for (int i = 0; i < RACES; i++)
        once += (result[0][i] == SGC_FREE_DONE) != (result[1][i] == SGC_FREE_DONE) &&
                (result[0][i] == SGC_FREE_NOT_ALLOCATED) != (result[1][i] == SGC_FREE_NOT_ALLOCATED);
    tap_ok(once == RACES, "two threads free the same objects: each succeeds for one of them (%d of %d)", once, RACES);
}

/*
 * Objects travel through slots: whoever finds one there owns it, checks its contents, frees it or replaces it.
 * Some threads end now and then and are followed by others in the same record.
 */
enum { TRAVELLERS = 4, SLOTS = 256, STEPS = 15000 };
static sgc_aw_t slot[SLOTS];
static sgc_a32_t damage, double_frees;
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;

static size_t bytes_of(uint64_t word)
{
    return 16 + word % 40 * 16;
}

static void put(struct sgc_cache *cache, uint64_t *seed)
{
    uint64_t stamp = heap_random(seed, UINT32_MAX) | 1;
    uint64_t *object = heap_small(cache, bytes_of(stamp), KIND);
    uintptr_t old;

    if (object == NULL || !heap_new(object, bytes_of(stamp)))
        sgc_a32_add(&damage, 1);
    object[0] = stamp;
    ((uint64_t *)(void *)((char *)object + bytes_of(stamp)))[-1] = stamp;
    old = sgc_aw_swap(&slot[heap_random(seed, SLOTS)], (uintptr_t)object);
    if (old == 0)
        return;
    object = (uint64_t *)old;
    stamp = object[0];
    if (((uint64_t *)(void *)((char *)object + bytes_of(stamp)))[-1] != stamp)
        sgc_a32_add(&damage, 1);
    if (sgc_object_free(cache, object) != SGC_FREE_DONE)
        sgc_a32_add(&double_frees, 1);
}

static void *travel(void *arg)
{
    struct sgc_cache *cache = arg;
    uint64_t seed = cache->id;

    sgc_self = cache;
    for (int i = 0; i < STEPS; i++) {
        put(cache, &seed);
        if (heap_random(&seed, 600) != 0 || cache->id % 2 == 0)
            continue;
        pthread_mutex_lock(&registry);
        sgc_cache_close(cache, &cache->section);
        pthread_mutex_unlock(&registry);
        sgc_yield();
        pthread_mutex_lock(&registry);
        sgc_cache_open(cache, false);
        pthread_mutex_unlock(&registry);
    }
    return NULL;
}

static sgc_a32_t travelled;

/* What the service thread does meanwhile: there is nothing to sweep in this epoch, or a little. */
static void *serve(void *arg)
{
    struct sgc_cache *cache = arg;

    sgc_self = cache;
    while (sgc_a32_load_acq(&travelled) == 0) {
        sgc_sweep_ahead(16, &cache->section);
        sgc_pool_decay(sgc_clock_ns(), 0, 4, &cache->section);
    }
    return NULL;
}

static void travel_once(struct sgc_cache *const *cache)
{
    pthread_t thread[TRAVELLERS + 1];

    sgc_a32_store(&travelled, 0);
    for (int i = 0; i < TRAVELLERS; i++)
        thread[i] = thread_start(travel, cache[i]);
    thread[TRAVELLERS] = thread_start(serve, cache[TRAVELLERS]);
    threads_join(thread, TRAVELLERS);
    sgc_a32_store_rel(&travelled, 1);
    pthread_join(thread[TRAVELLERS], NULL);
    sgc_heap_check();
}

static int live_slots(void)
{
    int n = 0;

    for (int i = 0; i < SLOTS; i++)
        n += sgc_aw_load(&slot[i]) != 0 && heap_allocated((void *)sgc_aw_load(&slot[i]));
    return n;
}

static void test_travel(void)
{
    struct sgc_cache *cache[TRAVELLERS + 1];

    for (int i = 0; i <= TRAVELLERS; i++)
        cache[i] = heap_cache();
    for (int i = 0; i < SLOTS; i++)
        sgc_aw_store(&slot[i], 0);
    for (int round = 0; round < 3; round++) {
        travel_once(cache);
        heap_collect(slot, SLOTS);          /* so that the next round begins with unswept pages */
    }
    tap_ok(sgc_a32_load(&damage) == 0, "objects that travel between threads keep their contents and come zeroed (%u did not)",
           sgc_a32_load(&damage));
    tap_ok(sgc_a32_load(&double_frees) == 0, "each can be freed once (%u could not)", sgc_a32_load(&double_frees));
    tap_ok(live_slots() == SLOTS, "what is in the slots in the end is allocated");
    tap_ok((SGC_TRACES ? heap_marker()->objects : (size_t)heap_count_allocated()) == SLOTS, "and is all that is");
    tap_ok(left_over() == 0, "nothing is lost");
}

int main(void)
{
    heap_start((size_t)256 << 20, 0, false);
    main_cache = sgc_self;
    heap_each(sgc_heap_check, test_free, test_drain, test_own_frees, test_told_once, test_orphans, test_orphans_swept,
              test_orphan_told_again);
    child_ok(sweep_while_pool_is_locked, "orphans are counted as they come and go");
    heap_each(sgc_heap_check, test_inbox_of_ended, test_double_free, test_travel);
    if (SGC_TRACES) {                   /* a plain malloc has no pages that threads share */
        sgc_a32_store(&sgc_shared.threads, TRAVELLERS);
        test_travel();
    }
    return tap_done();
}
