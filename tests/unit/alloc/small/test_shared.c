/* SPDX-License-Identifier: MIT */
/*
 * alloc/small/orphan.c: short runs in pages that no thread owns, what becomes of what is
 * freed there, and pages of bins that are idle.
 */
#include "alloc/small/orphan.h"
#include "tests/lib/heap.h"

enum { BYTES = 64, KIND = SGC_KIND_CONSERVATIVE, THREADS = 8, SIZES = 20 };

static struct sgc_cache *cache_of[THREADS];

/* So many objects: how often that took the slow way. */
static int refills(struct sgc_cache *cache, int n)
{
    uint32_t cls = sgc_class_for(BYTES / SGC_GRANULE);
    int slow = 0;

    for (int i = 0; i < n; i++) {
        if (sgc_small_try(cache, KIND, cls) != NULL)
            continue;
        if (sgc_small_claim(cache, KIND, cls) != NULL)
            continue;
        slow++;
        if (sgc_small_refill(cache, KIND, cls) == NULL)
            return -1;
    }
    return slow;
}

static uint32_t owner_of(const void *object)
{
    return sgc_page_owner(heap_page(object));
}

/* ---- sharing ---- */

static void test_shares(void)
{
    size_t before = sgc_pool_in_use_bytes();
    int wrong = 0;

    for (int t = 0; t < THREADS; t++)
        for (size_t bytes = 16; bytes <= 16 * SIZES; bytes += 16) {
            void *object = heap_small(cache_of[t], bytes, KIND);

            wrong += owner_of(object) != SGC_ORPHANS || !heap_allocated(object) || !heap_zero(object, bytes);
        }
    tap_ok(wrong == 0, "the first object of a size lies in a page that nobody owns (%d do not)", wrong);
    tap_ok(sgc_pool_in_use_bytes() - before <= SIZES * SGC_PAGE, "a page a size serves all threads (%zu KB)",
           (sgc_pool_in_use_bytes() - before) >> 10);
    sgc_heap_check();
    tap_ok(heap_count_allocated() == THREADS * SIZES, "what is claimed and not handed out is nobody's when the world stops");
    sgc_heap_check();
    heap_empty();
    tap_ok(sgc_pool_in_use_bytes() == before && sgc_aw_load(&sgc_orphans.count) == 0, "all goes back");
}

static void test_shows_need(void)
{
    struct sgc_cache *cache = cache_of[0];
    int first, second, few, after;

    first = refills(cache, 4 * SGC_PAGE / BYTES);
    tap_ok(first > 1 && first <= 12 && owner_of(heap_bin(cache, BYTES, KIND)->cur - BYTES) == cache->id,
           "who needs more gets pages of its own: 4 pages in %d slow ways", first);
    heap_collect(NULL, 0);
    second = refills(cache, 4 * SGC_PAGE / BYTES);
    tap_ok(second <= 4, "and after a cycle at once (%d)", second);
    for (int i = 0; i < 3; i++)
        heap_empty();
    few = refills(cache, 1);
    tap_ok(few == 1 && heap_bin(cache, BYTES, KIND)->end - heap_bin(cache, BYTES, KIND)->cur <= 512,
           "who has not needed any for long begins anew");
    after = refills(cache, 4 * SGC_PAGE / BYTES);
    tap_ok(after <= 12, "and finds its speed again: %d slow ways", after);
    for (int i = 0; i < 12; i++) {
        heap_empty();
        few = refills(cache, 50);
    }
    tap_ok(few <= 2, "50 objects after each cycle take %d slow ways", few);
}

/* ---- what others are first to take ---- */

static struct sgc_cache *first_comer;   /* adopts the next page for all, before the thread that got it claims a run there */

void __real_sgc_orphan_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken);
void __wrap_sgc_orphan_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken);
void __wrap_sgc_orphan_enlist(struct sgc_cache *cache, uint32_t kind, uint32_t cls, const struct sgc_taken *taken)
{
    struct sgc_cache *other = first_comer;

    first_comer = NULL;
    __real_sgc_orphan_enlist(cache, kind, cls, taken);
    if (other != NULL && sgc_orphan_adopt(other, kind, cls, 1) != 1)
        tap_bail("the page is not to be had");
}

static void test_taken_away(void)
{
    void *object;

    first_comer = cache_of[1];
    object = heap_small(cache_of[0], BYTES, KIND);
    tap_ok(first_comer == NULL && object != NULL && owner_of(object) == SGC_ORPHANS,
           "another thread adopts a new page for all before there is a run: there is a next page");
    sgc_heap_check();
}

/* ---- the end of sharing ---- */

enum { STEP = 8 };                  /* pages that one step looks at */

static int others_end;              /* while so many orphans are looked through, of which more are left */

uint32_t __real_sgc_lists_next_usable(struct sgc_page_lists *lists, uintptr_t tag, bool *more);
uint32_t __wrap_sgc_lists_next_usable(struct sgc_page_lists *lists, uintptr_t tag, bool *more);
uint32_t __wrap_sgc_lists_next_usable(struct sgc_page_lists *lists, uintptr_t tag, bool *more)
{
    if (others_end == 0 || sgc_tag_owner(tag) != SGC_ORPHANS)
        return __real_sgc_lists_next_usable(lists, tag, more);
    others_end--;
    sgc_a32_store(&sgc_shared.threads, 1);
    *more = true;
    return SGC_NO_PAGE;
}

static void test_others_end(void)
{
    char *object;

    alarm(60);
    others_end = STEP;
    object = heap_small(cache_of[0], BYTES, KIND);
    alarm(0);
    tap_ok(others_end == 0 && object != NULL && owner_of(object) == cache_of[0]->id,
           "all other threads end while one looks for a page to share: it gets one of its own");
    sgc_a32_store(&sgc_shared.threads, THREADS);
    sgc_heap_check();
}

/* ---- what is freed ---- */

static void test_frees(void)
{
    struct sgc_cache *a = cache_of[0], *b = cache_of[1];
    enum { N = 6 };
    char *object[N];
    size_t before = sgc_pool_in_use_bytes();
    uint32_t page;

    for (int i = 0; i < N; i++)
        object[i] = heap_small(i % 2 == 0 ? a : b, BYTES, KIND);
    page = heap_page(object[0]);
    sgc_self = a;
    tap_ok(sgc_object_free(a, heap_bin(a, BYTES, KIND)->cur) == SGC_FREE_NOT_ALLOCATED,
           "a claimed slot is no object of its thread's");
    tap_ok(sgc_object_free(a, object[0]) == SGC_FREE_DONE && sgc_object_free(b, object[2]) == SGC_FREE_DONE &&
           !heap_allocated(object[0]) && !heap_allocated(object[2]), "anybody frees there");
    tap_ok(sgc_object_free(a, object[0]) == SGC_FREE_NOT_ALLOCATED && sgc_object_free(b, object[0]) == SGC_FREE_NOT_ALLOCATED,
           "once");
    tap_ok(sgc_aw_load(&sgc_orphan_inbox.inbox) == page && sgc_a32_load(&sgc_heap.records[page].queued) == 1,
           "the page waits in the orphans' inbox");
    sgc_heap_check();
    tap_ok(heap_small(cache_of[2], BYTES, KIND) == object[0] && sgc_aw_load(&sgc_orphan_inbox.inbox) == SGC_INBOX_EMPTY &&
           sgc_a32_load(&sgc_heap.records[page].queued) == 0, "who claims next gets what was freed");
    heap_empty();
    tap_ok(sgc_pool_in_use_bytes() == before, "all goes back");
}

/* No cycle comes: slots that were freed serve again, and pages go back. */
static void test_without_cycles(void)
{
    enum { ROUNDS = 400, N = 8 };
    size_t before = sgc_pool_in_use_bytes(), most = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct sgc_cache *cache = cache_of[round % THREADS];
        char *object[N];

        for (int i = 0; i < N; i++)
            object[i] = heap_small(cache, 1008, KIND);
        for (int i = 0; i < N; i++)
            sgc_object_free(cache, object[i]);
        if (round % 10 == 9) {              /* a thread ends, and another begins */
            sgc_cache_close(cache, &cache->section);
            sgc_cache_open(cache, false);
        }
        most = sgc_pool_in_use_bytes() > most ? sgc_pool_in_use_bytes() : most;
    }
    sgc_heap_check();
    tap_ok(most <= before + (THREADS + 4) * SGC_PAGE, "what is freed without cycles is used again (%zu KB at most)",
           most >> 10);
    heap_empty();
    tap_ok(sgc_pool_in_use_bytes() == before, "all goes back");
}

/* Pages that have left their owners may wait in inboxes still; what is freed there later is passed
 * on when these are looked through. */
static void drain_all(void)
{
    for (int t = 0; t < THREADS; t++)
        heap_drain(cache_of[t]);
}

/* A thread ends, another frees all that it has left, and asks for pages of another size. */
static void test_left_and_freed(void)
{
    enum { N = 1000 };
    struct sgc_cache *ends = cache_of[0], *other = cache_of[1];
    static char *object[N];
    size_t before = sgc_pool_in_use_bytes(), with;

    drain_all();
    sgc_a32_store(&sgc_shared.threads, 1);
    for (int i = 0; i < N; i++)
        object[i] = heap_small(ends, 320, KIND);
    sgc_cache_close(ends, &ends->section);
    sgc_cache_open(ends, false);
    with = sgc_pool_in_use_bytes();
    sgc_self = other;
    for (int i = 0; i < N; i++)
        sgc_object_free(other, object[i]);
    sgc_orphan_adopt(other, KIND, sgc_class_for(2), 1);
    tap_ok(with >= before + 4 * SGC_PAGE && sgc_pool_in_use_bytes() == before,
           "what an ended thread has left, and others have freed, goes back without a cycle (%zu KB are left)",
           (sgc_pool_in_use_bytes() - before) >> 10);
    sgc_heap_check();
    sgc_a32_store(&sgc_shared.threads, THREADS);
}

/* The free that empties a page says so; nobody asks for pages. */
static void test_last_freed(void)
{
    struct sgc_cache *ends = cache_of[0], *other = cache_of[1];
    char *object[3];
    size_t before = sgc_pool_in_use_bytes();

    sgc_a32_store(&sgc_shared.threads, 1);
    for (int i = 0; i < 3; i++)
        object[i] = heap_small(ends, 320, KIND);
    sgc_cache_close(ends, &ends->section);
    sgc_cache_open(ends, false);
    for (int i = 0; i < 3; i++) {
        tap_ok(sgc_pool_in_use_bytes() == before + SGC_PAGE, "a page stays while %d objects are left", 3 - i);
        sgc_object_free(other, object[i]);
        sgc_orphan_freed(sgc_granule_number((uintptr_t)object[i]), &other->section);
    }
    tap_ok(sgc_pool_in_use_bytes() == before, "and goes back with the last");
    sgc_heap_check();
    sgc_a32_store(&sgc_shared.threads, THREADS);
}

/* ---- threads that end, sections that are left ---- */

static void test_ends(void)
{
    struct sgc_cache *cache = cache_of[3];
    char *object = heap_small(cache, BYTES, SGC_KIND_UNCOLLECTABLE);
    size_t next = sgc_granule_number((uintptr_t)heap_bin(cache, BYTES, SGC_KIND_UNCOLLECTABLE)->cur);
    bool claimed = sgc_alloc_bit(next) && !sgc_remote_bit(next);

    heap_small(cache_of[4], BYTES, SGC_KIND_UNCOLLECTABLE);
    sgc_cache_close(cache, &cache->section);
    tap_ok(claimed && sgc_remote_bit(next) && heap_allocated(object),
           "a thread that ends leaves its claimed slots, and its objects");
    sgc_heap_check();
    heap_small(cache_of[5], BYTES, SGC_KIND_UNCOLLECTABLE);
    tap_ok(!sgc_remote_bit(next), "they are free");
    sgc_cache_repair(cache_of[5]);
    sgc_cache_open(cache, false);
    tap_ok(heap_count_allocated() == 3, "nothing is left of a section that was left");
    sgc_heap_check();
    heap_empty();
    tap_ok(heap_count_allocated() == 3, "uncollectable objects stay where they are");
}

/* ---- idle bins ---- */

static void *fill(struct sgc_cache *cache, size_t bytes)
{
    void *object = NULL;

    for (size_t i = 0; i < 3 * SGC_PAGE / bytes; i++)
        object = heap_small(cache, bytes, KIND);
    return object;
}

/* What an idle thread has free serves others, an active one keeps its pages. */
static void test_idle(void)
{
    struct sgc_cache *idle = cache_of[0], *active = cache_of[1];
    void *kept[2];
    size_t in_use;
    int new_pages = 0;

    heap_empty();
    kept[0] = fill(idle, 320);
    kept[1] = fill(active, 320);
    for (int i = 0; i < 2; i++) {
        heap_collect(kept, 2);
        heap_small(active, 320, KIND);
        sgc_leave_idle(&sgc_self->section);
    }
    tap_ok(owner_of(kept[0]) == SGC_ORPHANS && owner_of(kept[1]) == active->id,
           "pages of a bin that claimed nothing in a whole epoch are everybody's, those of another stay (%u, %u)",
           owner_of(kept[0]), owner_of(kept[1]));
    sgc_heap_check();
    heap_sweep_all();
    in_use = sgc_pool_in_use_bytes();
    for (int i = 0; i < 100; i++)
        heap_small(cache_of[2], 320, KIND);
    new_pages = (int)((sgc_pool_in_use_bytes() - in_use) / SGC_PAGE);
    tap_ok(new_pages == 0, "and serve before the heap grows (%d pages)", new_pages);
    tap_ok(sgc_object_free(idle, kept[0]) == SGC_FREE_DONE && !heap_allocated(kept[0]), "their objects are freed as ever");
}

static void test_stay(void)
{
    void *kept = fill(cache_of[0], 320);

    sgc_a32_store(&sgc_leave.stay, 1);
    for (int i = 0; i < 3; i++) {
        heap_collect(&kept, 1);
        sgc_leave_idle(&sgc_self->section);
    }
    tap_ok(owner_of(kept) == cache_of[0]->id, "where owners count objects pages stay");
    sgc_a32_store(&sgc_leave.stay, 0);
}

/* The world stands still. */
static void test_run_out(void)
{
    uint32_t cls = sgc_class_for(320 / SGC_GRANULE);
    struct sgc_cache *user = cache_of[0];
    void *object = fill(user, 320);
    char *next = heap_bin(user, 320, KIND)->cur;

    tap_ok(sgc_leave_others_have(cache_of[1], KIND, cls) && !sgc_leave_others_have(user, KIND, cls),
           "it is known who has pages");
    sgc_object_free(user, object);
    sgc_leave_class(KIND, cls, &sgc_self->section);
    sgc_heap_check();
    tap_ok(owner_of(object) == SGC_ORPHANS && !sgc_alloc_bit(sgc_granule_number((uintptr_t)next)) &&
           !sgc_bin_has_freed(heap_bin(user, 320, KIND)), "a page in use is everybody's, with what was in hand");
    sgc_leave_class(KIND, cls, &sgc_self->section);
    heap_small(user, 320, KIND);
    sgc_heap_check();
}

int main(void)
{
    heap_start((size_t)256 << 20, 0, false);
    for (int t = 0; t < THREADS; t++)
        cache_of[t] = heap_cache();
    sgc_a32_store(&sgc_shared.threads, THREADS);
    heap_each(heap_empty, test_shares, test_shows_need, test_taken_away, test_others_end, test_frees, test_without_cycles,
              test_left_and_freed, test_last_freed, test_idle, test_stay, test_run_out, test_ends);
    return tap_done();
}
