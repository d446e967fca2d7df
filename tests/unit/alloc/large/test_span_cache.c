/* SPDX-License-Identifier: MIT */
/*
 * alloc/large/span_free.c, alloc/large/span.c: dead spans that a thread keeps for its next requests,
 * and the zeroing of spans.
 */
#include "alloc/page_supply.h"
#include "alloc/large/span.h"
#include "tests/lib/heap.h"
#include "tests/lib/scrub.h"

enum { MOST = 40 };             /* pages a thread keeps */

static struct sgc_cache *cache;
static struct sgc_section *self;

static char *alloc(size_t pages, uint32_t kind)
{
    char *object = sgc_span_alloc(self, pages * SGC_PAGE, kind, SGC_GRANULE);

    if (object == NULL)
        tap_bail("no span of %zu pages", pages);
    return object;
}

static bool freed(char *object)
{
    return sgc_span_free(self, sgc_page_number((uintptr_t)object));
}

static uint32_t kept(void)
{
    return sgc_cached_span_pages(cache->id);
}

static void test_again(void)
{
    char *object = alloc(3, SGC_KIND_POINTER_FREE);
    size_t in_use = sgc_pool_in_use_bytes();
    struct sgc_object o;

    memset(object, 0x5a, 3 * SGC_PAGE);
    tap_ok(freed(object) && kept() == 3 && sgc_pool_in_use_bytes() == in_use, "a freed span is kept as it is");
    tap_ok(!heap_allocated(object) && !sgc_object_find((uintptr_t)object + 70000, &o), "though it is no object");
    tap_ok(!freed(object) && kept() == 3, "and cannot be freed twice");
    sgc_heap_check();
    tap_ok(alloc(2, SGC_KIND_POINTER_FREE) != object, "a request for other pages does not get it");
    tap_ok(sgc_span_alloc(self, 3 * SGC_PAGE, SGC_KIND_POINTER_FREE, 2 * SGC_ARENA) != object, "nor one for an alignment");
    if (SGC_TRACES)
        tap_ok(alloc(3, SGC_KIND_UNCOLLECTABLE) != object, "nor one for the uncollectable");
    tap_ok(alloc(3, SGC_KIND_POINTER_FREE) == object && kept() == 0 && heap_filled(object, 3 * SGC_PAGE, 0x5a),
           "one for as many does, pointer-free as it was");
    tap_ok(heap_allocated(object) && alloc(3, SGC_KIND_POINTER_FREE) != object, "once");
    freed(object);
    tap_ok(alloc(3, SGC_KIND_CONSERVATIVE) == object && heap_zero(object, 3 * SGC_PAGE), "or zeroed");
    sgc_heap_check();
}

/* The kind and the size are those of the new request. */
static void test_contents(void)
{
    char *object = alloc(2, SGC_KIND_POINTER_FREE), **slots, *inside;
    struct sgc_object o;

    sgc_span_set_reach(sgc_page_number((uintptr_t)object), 16);
    freed(object);
    slots = (char **)(void *)sgc_span_alloc(self, SGC_PAGE + 100, SGC_KIND_CONSERVATIVE, SGC_GRANULE);
    tap_ok((char *)slots == object && sgc_object_find((uintptr_t)object, &o) && o.bytes == SGC_PAGE + 112,
           "it has the new request's size");
    inside = slots[1000] = heap_small(cache, 40, SGC_KIND_CONSERVATIVE);
    object += 5000;                     /* beyond the reach that the one before had */
    heap_collect(&object, 1);
    tap_ok(heap_allocated(object - 5000) && heap_allocated(inside), "and its kind, and no reach");
}

/* A page may die and become a spare span while it is still in the inbox of the thread that had it: its place there is
 * its own, or the pages behind it would never be delivered, and never be put into an inbox again. */
static void test_inbox(void)
{
    enum { BYTES = 1024, N = 2 * SGC_PAGE / BYTES };
    struct sgc_cache *owner = heap_cache();
    char *small[N], *span[N];
    uint32_t kept_page, dead_page;
    int spans = 0;

    for (int i = 0; i < N; i++)
        small[i] = heap_small(owner, BYTES, SGC_KIND_CONSERVATIVE);
    kept_page = sgc_page_number((uintptr_t)small[0]);
    dead_page = sgc_page_number((uintptr_t)small[N - 1]);
    sgc_object_free(cache, small[1]);
    sgc_object_free(cache, small[N - 1]);
    heap_collect(small, 1);
    heap_sweep_all();
    do
        span[spans] = alloc(1, SGC_KIND_POINTER_FREE);
    while (sgc_page_number((uintptr_t)span[spans++]) != dead_page && spans < N);
    tap_ok(kept_page != dead_page && sgc_aw_load(&owner->inbox) == dead_page && freed(span[spans - 1]) && kept() == 1,
           "a page in an inbox becomes a spare span");
    heap_drain(owner);
    tap_ok(sgc_a32_load(&sgc_heap.records[kept_page].queued) == 0, "what is behind it in the inbox is delivered");
    sgc_object_free(cache, small[0]);
    tap_ok(sgc_aw_load(&owner->inbox) == kept_page, "and the owner hears of it again");
    sgc_heap_check();
    heap_cache_end(owner);
}

static char *seen_at_seam;

static void collect_once(void)
{
    char *object = seen_at_seam;

    seen_at_seam = NULL;
    if (object != NULL)
        heap_collect(&object, 1);
}

/* A cycle between taking a spare span and zeroing it. */
static void test_cycle_between(void)
{
    char **object = (char **)(void *)alloc(3, SGC_KIND_CONSERVATIVE), *stale;

    stale = object[100] = heap_small(cache, 40, SGC_KIND_CONSERVATIVE);
    freed((char *)object);
    seen_at_seam = (char *)object;
    sgc_section_hooks.seam = collect_once;
    tap_ok(alloc(3, SGC_KIND_CONSERVATIVE) == (char *)object && seen_at_seam == NULL, "a cycle comes before it is zeroed");
    sgc_section_hooks.seam = NULL;
    tap_ok(heap_allocated(object) && heap_zero(object, 3 * SGC_PAGE), "it lives");
    tap_ok(!heap_allocated(stale), "and what was in it keeps nothing");
    sgc_heap_check();
}

static void test_bounds(void)
{
    char *all[2 * MOST];
    size_t in_use = sgc_pool_in_use_bytes();

    for (int i = 0; i < 2 * MOST; i++)
        all[i] = alloc(1, SGC_KIND_POINTER_FREE);
    for (int i = 0; i < 2 * MOST; i++)
        freed(all[i]);
    tap_ok(kept() == MOST && sgc_pool_in_use_bytes() == in_use + MOST * SGC_PAGE, "not more than so much is kept");
    sgc_span_give_cached(cache->id, self);
    tap_ok(kept() == 0 && sgc_pool_in_use_bytes() == in_use, "and it can be given up");
    if (SGC_TRACES) {
        freed(alloc(5, SGC_KIND_UNCOLLECTABLE));
        tap_ok(kept() == 0 && sgc_pool_in_use_bytes() == in_use, "an uncollectable one is not kept");
    }
    freed(alloc(3, SGC_KIND_POINTER_FREE));
    freed(alloc(11, SGC_KIND_POINTER_FREE));
    tap_ok(kept() == 3, "nor two sizes in one place");
    sgc_heap_check();
    sgc_policy_owner_ends(cache->id, self);
    tap_ok(kept() == 0 && sgc_pool_in_use_bytes() == in_use, "an ending thread leaves none");
    sgc_heap_check();
}

/* What was spare is dead like any other after a flip: the sweepers', and only theirs. */
static void test_epochs(void)
{
    size_t in_use = sgc_pool_in_use_bytes();
    char *object = alloc(4, SGC_KIND_POINTER_FREE), *other;

    freed(object);
    heap_collect(NULL, 0);
    tap_ok(kept() == 0, "after a flip nothing is spare");
    heap_sweep_all();
    tap_ok(sgc_pool_in_use_bytes() == in_use, "and all is swept");
    object = alloc(4, SGC_KIND_POINTER_FREE);
    freed(object);
    sgc_section_enter(self);
    sgc_cached_span_pop(cache->id, 4);                        /* and lost: a jump out of the section */
    sgc_section_leave(self);
    sgc_heap_check();
    heap_empty();
    tap_ok(sgc_pool_in_use_bytes() == in_use, "even what was lost");
    object = alloc(4, SGC_KIND_POINTER_FREE);
    other = object;
    heap_collect(&other, 1);
    tap_ok(freed(object) && kept() == 0 && sgc_pool_in_use_bytes() == in_use, "what is not swept yet is not kept");
    heap_sweep_all();
    sgc_heap_check();
    object = other = alloc(4, SGC_KIND_POINTER_FREE);
    heap_collect(&other, 1);
    heap_sweep_all();
    tap_ok(freed(object) && kept() == 4, "what is swept is");
}

static void test_sweep_for(void)
{
    enum { N = 12 };
    char *all[2 * N], *again[N];
    int wrong = 0;

    for (int i = 0; i < 2 * N; i++)
        all[i] = alloc(2, SGC_KIND_POINTER_FREE);
    heap_collect(all, N);
    for (int i = 0; i < N; i++) {
        again[i] = alloc(2, SGC_KIND_POINTER_FREE);
        wrong += !heap_allocated(again[i]);
        for (int j = 0; j < N; j++)
            wrong += again[i] == all[j];
        for (int j = 0; j < i; j++)
            wrong += again[i] == again[j];
        wrong += i == 0 && kept() == 0;
    }
    tap_ok(wrong == 0, "who needs a span sweeps and keeps those that serve (%d wrong)", wrong);
    wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += !heap_allocated(all[i]);
    tap_ok(wrong == 0, "those alive are left alone");
    sgc_heap_check();
}

/* Memory that is kept is not missing elsewhere. */
static void test_limit(void)
{
    size_t most = (size_t)64 << 20, in_use = sgc_pool_in_use_bytes();
    char *object;

    sgc_pool_set_limit(most);
    object = alloc(2, SGC_KIND_POINTER_FREE);
    freed(object);
    tap_ok(kept() == 2, "below a limit a share of it is kept");
    tap_ok(sgc_span_alloc(self, most - in_use, SGC_KIND_POINTER_FREE, SGC_GRANULE) != NULL && kept() == 0,
           "and given up when the limit is reached");
    sgc_pool_set_limit(4 * SGC_PAGE);
    heap_empty();
    freed(alloc(1, SGC_KIND_POINTER_FREE));
    tap_ok(kept() == 0, "a small heap keeps nothing");
    sgc_pool_set_limit(0);
}

/* ---- zeroing ---- */

static void test_cold(void)
{
    static const size_t sizes[] = { 100000, 131071, 131072, 131073, 131088, 200016, 1048577, 5000001 };
    int wrong = 0;

    sgc_heap.config.cache_bytes = 1;
    for (int i = 0; i < 8; i++) {
        size_t all = sgc_round_up(sizes[i], SGC_PAGE) + SGC_PAGE, end = sgc_round_up(sizes[i], SGC_GRANULE);
        char *object = sgc_span_alloc(self, all, SGC_KIND_POINTER_FREE, SGC_GRANULE);

        memset(object, 0x77, all);
        freed(object);
        sgc_span_give_cached(cache->id, self);
        char *again = sgc_span_alloc(self, sizes[i], SGC_KIND_CONSERVATIVE, SGC_GRANULE);
        wrong += again != object || !heap_zero(again, end) || !heap_filled(again + end, all - end, 0x77);
        heap_empty();
    }
    tap_ok(wrong == 0, "cold spans are zero to their last byte and not beyond (%d are not)", wrong);
    sgc_heap.config.cache_bytes = 0;
}

/* ---- two threads free the same spans ---- */

enum { RACES = 2000 };

static pthread_barrier_t barrier;
static char *raced;

static void *race(void *argument)
{
    struct sgc_cache *mine = argument;
    int done = 0;

    for (int i = 0; i < RACES; i++) {
        pthread_barrier_wait(&barrier);
        done += sgc_span_free(&mine->section, sgc_page_number((uintptr_t)raced));
        pthread_barrier_wait(&barrier);
    }
    return (void *)(intptr_t)done;
}

static void test_race(void)
{
    pthread_t thread[2];
    intptr_t sum;

    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 2; i++)
        thread[i] = thread_start(race, heap_cache());
    for (int i = 0; i < RACES; i++) {
        raced = alloc(2, SGC_KIND_POINTER_FREE);
        if (i % 16 == 15) {
            heap_collect(&raced, 1);
            heap_sweep_all();
        }
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    sum = threads_sum(thread, 2);
    tap_ok(sum == RACES, "of two threads that free a span one succeeds (%d of %d)", (int)sum, (int)RACES);
    sgc_heap_check();
}

/* ---- stopped where a section ends ---- */

enum { COPIED = 4096 };

static uintptr_t bottom, copied[COPIED];        /* the words of the stack at the last stop */

__attribute__((no_sanitize("address")))
static void copy_stack(TEST_UNUSED void *unused, uintptr_t sp)
{
    for (size_t i = 0; i < COPIED; i++, sp += sizeof(uintptr_t))
        copied[i] = sp < bottom ? ~*(const uintptr_t *)sp : 0;
}

static void stand(struct sgc_section *unused)
{
    sgc_with_registers(copy_stack, unused);
}

static bool held_when_stopped(const char *object)
{
    for (size_t i = 0; i < COPIED; i++)
        if (copied[i] == ~(uintptr_t)object)
            return true;
    return false;
}

/* The object as a number that is no pointer: what the stop sees of it is the library's. */
TEST_NOINLINE static uintptr_t alloc_stopped(size_t pages, uint32_t kind)
{
    uintptr_t hidden;

    scrub_stack();
    bottom = (uintptr_t)__builtin_frame_address(0);
    sgc_a32_or(&self->state, SGC_STATE_STOPREQ);
    hidden = ~(uintptr_t)alloc(pages, kind);
    sgc_a32_and(&self->state, ~(uint32_t)SGC_STATE_STOPREQ);
    return hidden;
}

/* A cycle comes wherever a section ends: what has been published must be found on the stack then. */
static void test_held(size_t pages, uint32_t kind, const char *name)
{
    uintptr_t hidden = alloc_stopped(pages, kind);
    bool first = held_when_stopped((char *)~hidden);

    freed((char *)~hidden);
    hidden = alloc_stopped(pages, kind);
    tap_ok(first && held_when_stopped((char *)~hidden), "when its section ends, the stack holds a span: %s", name);
    freed((char *)~hidden);
}

static void test_stops(void)
{
    sgc_section_hooks.park = stand;
    test_held(3, SGC_KIND_POINTER_FREE, "spare");
    test_held(3, SGC_KIND_CONSERVATIVE, "spare, to be zeroed");
    test_held(MOST + 1, SGC_KIND_POINTER_FREE, "new");
    test_held(MOST + 1, SGC_KIND_CONSERVATIVE, "new, to be zeroed");
    sgc_section_hooks.park = NULL;
}

int main(void)
{
    struct sgc_heap_config config = {
        .reserve = (size_t)1 << 30, .interior_pointers = true, .end_byte = true, .spare_pages = MOST,
    };

    heap_start_with(&config);
    cache = sgc_self;
    self = &cache->section;
    heap_each(heap_empty, test_again);
    if (SGC_TRACES)
        heap_each(heap_empty, test_contents, test_inbox, test_cycle_between);
    heap_each(heap_empty, test_bounds);
    if (SGC_TRACES)
        heap_each(heap_empty, test_epochs, test_sweep_for);
    heap_each(heap_empty, test_limit, test_cold, test_race);
    if (SGC_TRACES)
        heap_each(heap_empty, test_stops);
    return tap_done();
}
