/* SPDX-License-Identifier: MIT */
/*
 * Marking while threads allocate, set pages up, make spans and free small objects: whatever words the marker is given, it
 * marks nothing but first granules of slots and first pages of spans, and nothing crashes.  Descriptors that make no sense, as
 * a page has them that is being set up for another size, lead to nothing.
 *
 * Pages are not taken down here: that does not happen to pages that had objects when a mark beside the program began.
 *
 * Also: mark/edge.c.
 */
#include "mark/edge.h"
#include "mark/mark_roots.h"
#include "tests/lib/heap.h"
#include "tests/lib/sanitized.h"

enum { THREADS = 3, KEPT = 64, WORDS = 512, ROUNDS = TEST_SANITIZED ? 300 : 2000,
       ROUNDS_MAX = 100 * ROUNDS, ENOUGH_MARKED = 4 << 20, ENOUGH_BYTES = 96 << 20 };

static sgc_a32_t over;
static sgc_aw_t kept[THREADS][KEPT];        /* some objects of each thread's */
static uint64_t seed = 1;

/* ---- the program ---- */

static size_t random_bytes(uint64_t *state)
{
    switch (heap_random(state, 200)) {
    case 0: return SGC_SMALL_MAX + 1 + heap_random(state, 4 * SGC_PAGE);
    case 1:
    case 2: return 1024 + heap_random(state, SGC_SMALL_MAX - 1024);
    default: return 1 + heap_random(state, 600);
    }
}

/* Stores go to memory that the marker reads, as a program's do. */
__attribute__((no_sanitize("thread")))
static void link_up(uintptr_t *object, size_t bytes, uintptr_t to)
{
    object[heap_random(&(uint64_t){ to }, (uint32_t)(bytes / sizeof *object))] = to;
}

static void *mutate(void *raw)
{
    static sgc_a32_t threads;
    struct sgc_cache *cache = raw;
    uint32_t me = sgc_a32_add(&threads, 1);
    uint64_t state = me + 10;
    size_t total = 0;

    sgc_cache_use(cache);
    while (sgc_a32_load(&over) == 0) {
        size_t bytes = sgc_round_up(random_bytes(&state), SGC_GRANULE);
        uint32_t kind = heap_random(&state, 4) == 0 ? SGC_KIND_POINTER_FREE : SGC_KIND_CONSERVATIVE;
        uint32_t slot = heap_random(&state, KEPT);
        uintptr_t old = sgc_aw_load(&kept[me][slot]), *object = NULL;

        if (total < ENOUGH_BYTES)
            object = heap_alloc(cache, bytes, kind);
        if (object == NULL) {
            sgc_yield();
            continue;
        }
        total += bytes;
        link_up(object, bytes, sgc_aw_load(&kept[(me + 1) % THREADS][slot]));
        sgc_aw_store(&kept[me][slot], (uintptr_t)object);
        if (old != 0 && heap_random(&state, 2) == 0 &&
            sgc_page_state(&sgc_heap.pages[heap_page((void *)old)]) == SGC_PAGE_SMALL)
            heap_free_local(cache, (void *)old);
    }
    return NULL;
}

/* ---- the marker ---- */

/* Words that lead anywhere in the heap, many near its end, where pages are being set up. */
static void random_words(uintptr_t *words)
{
    size_t limit = sgc_aw_load(&sgc_heap.limit);

    for (int i = 0; i < WORDS; i++) {
        size_t pages = limit / SGC_PAGE, near = pages < 64 ? pages : 64;
        size_t page = i % 2 == 0 ? heap_random(&seed, (uint32_t)pages) : pages - 1 - heap_random(&seed, (uint32_t)near);

        words[i] = i % 8 == 7 ? sgc_aw_load(&kept[heap_random(&seed, THREADS)][heap_random(&seed, KEPT)])
                              : sgc_heap.base + page * SGC_PAGE + heap_random(&seed, SGC_PAGE);
    }
}

static bool now_and_then(TEST_UNUSED void *unused)
{
    return heap_random(&seed, 3) == 0;
}

static void mark_round(struct sgc_team *team)
{
    uintptr_t words[WORDS];
    uint64_t written[SGC_WRITTEN_WORDS];

    sgc_marker_renew(sgc_team_first(team));
    random_words(words);
    sgc_mark_roots_now(heap_marker(), words, words + WORDS);
    for (int i = 0; i < SGC_WRITTEN_WORDS; i++)
        written[i] = (uint64_t)heap_random(&seed, 1u << 31) << 32 | heap_random(&seed, 1u << 31);
    sgc_mark_written(heap_marker(), heap_random(&seed, sgc_marker_arenas(heap_marker())), written);
    sgc_mark_uncollectable(heap_marker());
    while (!sgc_team_go_on(team, now_and_then, NULL))
        continue;
}

/* ---- what is marked ---- */

static bool begins_slot(const struct sgc_page *d, uint32_t granule)
{
    return granule % d->granules == 0 && granule / d->granules < sgc_size_classes.of[d->cls].per_page;
}

static size_t wrong_bits(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t wrong = 0;

    for (uint32_t g = 0; g < SGC_PAGE_GRANULES; g++)
        wrong += sgc_mark_bit(sgc_page_first_granule(page) + g) && (sgc_page_state(d) != SGC_PAGE_SMALL || !begins_slot(d, g));
    if ((sgc_aw_load(sgc_span_word(page, sgc_mark_role())) & sgc_arena_bit(page)) != 0)
        wrong += sgc_page_state(d) != SGC_PAGE_SPAN;
    return wrong;
}

static size_t all_wrong_bits(void)
{
    size_t wrong = 0;

    for (uint32_t page = 1; page < sgc_aw_load(&sgc_heap.limit) / SGC_PAGE; page++)
        wrong += wrong_bits(page);
    return wrong;
}

static void test_race(struct sgc_team *team)
{
    pthread_t thread[THREADS];
    struct sgc_team_totals totals;

    heap_retire();
    sgc_team_begin_concurrent(team);
    sgc_marking_begin();                /* no page is given back meanwhile */
    sgc_team_program_runs(team);
    for (int i = 0; i < THREADS; i++)
        thread[i] = thread_start(mutate, heap_cache());
    for (int i = 0; i < ROUNDS || (sgc_team_marked(team) < ENOUGH_MARKED && i < ROUNDS_MAX); i++)
        mark_round(team);               /* more where threads are late to run */
    sgc_a32_store(&over, 1);
    threads_join(thread, THREADS);
    sgc_team_totals(team, &totals);
    size_t wrong = all_wrong_bits();
    tap_ok(wrong == 0 && totals.objects > 1000, "%zu objects marked beside %d threads, each where one begins (%zu not)",
           totals.objects, THREADS, wrong);
    sgc_marking_finish();
    sgc_team_abandon(team);
    heap_unmark();
}

/* ---- descriptors that make no sense ---- */

static void mark_all_of(uint32_t page)
{
    for (uint32_t at = 0; at < SGC_PAGE; at += 8)
        sgc_mark_address(heap_marker(), sgc_page_start(page) + at + 1);
}

static void test_half_set_up(struct sgc_team *team)
{
    uint32_t page, few = sgc_class_for(SGC_SMALL_MAX / SGC_GRANULE), wrong = 0;
    struct sgc_page *d, before;

    heap_retire();
    page = sgc_pool_take(1, &sgc_self->section, &(bool){ false });
    d = &sgc_heap.pages[page];
    before = *d;
    sgc_team_begin_concurrent(team);
    sgc_team_program_runs(team);
    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls += 7) {
        d->granules = (uint16_t)(cls % 2 == 0 ? sgc_size_classes.of[few].granules : UINT16_MAX);
        d->reciprocal = sgc_size_classes.of[cls].reciprocal;
        sgc_page_set_state(d, SGC_PAGE_SMALL);
        mark_all_of(page);
    }
    for (uint32_t back = 0; back < 40; back++) {
        sgc_a32_store(&d->bin, back < 32 ? UINT32_C(1) << back : back == 32 ? 0 : page - 36 + back);
        sgc_page_set_state(d, SGC_PAGE_SPAN_TAIL);
        mark_all_of(page);
    }
    sgc_page_set_state(d, SGC_PAGE_SPAN);
    mark_all_of(page);
    sgc_mark_span(heap_marker(), page);
    wrong = (uint32_t)heap_marker()->objects;
    *d = before;
    sgc_pool_give(page, 1, &sgc_self->section);
    sgc_team_go_on(team, NULL, NULL);
    tap_ok(wrong == 0, "nothing is found by descriptors that make no sense (%u marked)", wrong);
    sgc_team_abandon(team);
    heap_unmark();
}

int main(void)
{
    struct sgc_team *team;

    heap_start((size_t)1 << 30, 0, false);
    team = heap_alone(&HEAP_MARK);
    test_half_set_up(team);
    test_race(team);
    sgc_heap_check();
    return tap_done();
}
