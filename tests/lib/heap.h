/* SPDX-License-Identifier: MIT */
/*
 * The heap and the marker without the collector above them, for white-box tests: caches that the
 * test opens itself, and a cycle whose every step the test can look between.
 *
 * Nobody is ever stopped here, so steps that need a stopped world (heap_retire, heap_mark, heap_flip)
 * are for moments at which the test's other threads stand still.
 *
 * Where nothing marks (SGC_TRACES 0), heap_collect and what is made of it do by frees what they can
 * of the same (tests/lib/heap_frees.h); heap_mark, heap_flip and the like are not for there.
 */
#ifndef TESTS_LIB_HEAP_H
#define TESTS_LIB_HEAP_H

#include <string.h>

#include "alloc/free.h"
#include "alloc/new_objects.h"
#include "alloc/marking.h"
#include "alloc/object.h"
#include "alloc/page_supply.h"
#include "alloc/large/span.h"
#include "alloc/pages/marks.h"
#include "alloc/pages/pool.h"
#include "alloc/small/orphan.h"
#include "alloc/small/remote_free.h"
#include "alloc/small/small.h"
#include "alloc/whole_heap.h"
#include "alloc/small/sweep.h"
#include "mark/marker.h"
#include "mark/mark_roots.h"
#include "mark/team/team.h"
#include "tests/lib/heap_frees.h"
#include "tests/lib/threads.h"

enum { HEAP_CACHES = 32 };

static struct {
    struct sgc_cache *cache[HEAP_CACHES];
    bool open[HEAP_CACHES];
    int count;
    struct sgc_team team;           /* of one marker, unless a test adds helpers */
    bool team_ready;
    enum sgc_numa numa;             /* of the heap that is started next: see tests/lib/fake_nodes.h */
} heap_test;

static const struct sgc_mark_config HEAP_MARK = {
    .interior_pointers = true, .split_bytes = 128 << 10, .edges = 64, .stack_bytes = 16 << 20,
};

/* The calling thread's marker. */
TEST_UNUSED static struct sgc_marker *heap_marker(void)
{
    return sgc_team_first(&heap_test.team);
}

TEST_UNUSED static void *heap_map(size_t bytes)
{
    void *start = sgc_mem_reserve(bytes, sgc_os_page_size());

    if (start == NULL || !sgc_mem_commit(start, bytes))
        tap_bail("no %zu bytes for the test itself", bytes);
    return start;
}

/* A cache that belongs to no thread yet. */
TEST_UNUSED static struct sgc_cache *heap_cache(void)
{
    struct sgc_cache *cache = heap_map(sgc_round_up(sizeof *cache, sgc_os_page_size()));

    if (heap_test.count == HEAP_CACHES || !sgc_cache_open(cache, false))
        tap_bail("no cache number");
    heap_test.open[heap_test.count] = true;
    heap_test.cache[heap_test.count++] = cache;
    return cache;
}

/* The short way of freeing alone. */
TEST_UNUSED static enum sgc_free_result heap_free_local(struct sgc_cache *cache, const void *object)
{
    struct sgc_object o;

    if (!sgc_object_slot((uintptr_t)object, &o))
        return SGC_FREE_NOT_HERE;
    return o.start == (uintptr_t)object ? sgc_small_free_local(cache, o.page, o.granule) : SGC_FREE_INTERIOR;
}

/* A kind whose objects are scanned by that descriptor. */
TEST_UNUSED static uint32_t heap_kind(uintptr_t descriptor, bool add_size)
{
    const struct sgc_kind kind = { .scan = SGC_SCAN_DESCRIBED, .descriptor = descriptor, .add_size = add_size, .clear = true };

    return sgc_kind_make(&kind);
}

/* By its own thread, or by the only one. */
TEST_UNUSED static void heap_cache_end(struct sgc_cache *cache)
{
    sgc_cache_close(cache, &cache->section);
    for (int i = 0; i < heap_test.count; i++)
        if (heap_test.cache[i] == cache)
            heap_test.open[i] = false;
}

/* A heap that is so configured; the calling thread gets a cache. */
TEST_UNUSED static void heap_start_with(const struct sgc_heap_config *config)
{
    if (!sgc_heap_init(config))
        tap_bail("no heap of %zu bytes", config->reserve);
    sgc_self = heap_cache();
}

/* Of at most `bytes` of address space. */
TEST_UNUSED static void heap_start(size_t bytes, size_t limit, bool poison)
{
    struct sgc_heap_config config = {
        .reserve = bytes, .limit = limit, .interior_pointers = true, .end_byte = true, .poison = poison,
        .numa = heap_test.numa,
    };

    heap_start_with(&config);
}

TEST_UNUSED static struct sgc_bin *heap_bin(struct sgc_cache *cache, size_t bytes, uint32_t kind)
{
    return &cache->bin[kind][sgc_class_for((bytes + SGC_GRANULE - 1) / SGC_GRANULE)];
}

/* Pages of the cache of which others have freed objects. */
TEST_UNUSED static void heap_drain(struct sgc_cache *cache)
{
    sgc_lock(cache->lock, &cache->section);
    while (sgc_cache_drain(cache))
        continue;
    sgc_unlock(cache->lock, &cache->section);
}

TEST_UNUSED static void *heap_small(struct sgc_cache *cache, size_t bytes, uint32_t kind)
{
    uint32_t cls = sgc_class_for((bytes + SGC_GRANULE - 1) / SGC_GRANULE);
    void *object = SGC_TRACES ? sgc_small_try(cache, kind, cls) : NULL;

    return object != NULL ? object : sgc_small_refill(cache, kind, cls);
}

TEST_UNUSED static void *heap_alloc(struct sgc_cache *cache, size_t bytes, uint32_t kind)
{
    if (bytes <= SGC_SMALL_MAX)
        return heap_small(cache, bytes, kind);
    return sgc_span_alloc(&cache->section, bytes, kind, SGC_GRANULE);
}

TEST_UNUSED static bool heap_allocated(const void *p)
{
    struct sgc_object object;

    return sgc_object_find((uintptr_t)p, &object) && object.start == (uintptr_t)p;
}

TEST_UNUSED static uint32_t heap_page(const void *p)
{
    return sgc_page_number((uintptr_t)p);
}

/* The word with the mark bit of the object that begins at p, and the bit. */
static sgc_aw_t *heap_mark_word(const void *p, uintptr_t *bit)
{
    size_t granule = sgc_granule_number((uintptr_t)p);
    uint32_t page = sgc_page_number((uintptr_t)p);
    bool span = sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SPAN;

    *bit = span ? sgc_arena_bit(page) : sgc_bit_mask(granule);
    return span ? sgc_span_word(page, sgc_mark_role()) : sgc_mark_word(granule);
}

TEST_UNUSED static void heap_set_mark(const void *p)
{
    uintptr_t bit;
    sgc_aw_t *word = heap_mark_word(p, &bit);

    sgc_aw_or(word, bit);
}

TEST_UNUSED static bool heap_marked(const void *p)
{
    uintptr_t bit;
    sgc_aw_t *word = heap_mark_word(p, &bit);

    return (sgc_aw_load(word) & bit) != 0;
}

TEST_UNUSED static bool heap_filled(const void *start, size_t bytes, unsigned char with)
{
    const unsigned char *p = start;

    for (size_t i = 0; i < bytes; i++)
        if (p[i] != with)
            return false;
    return true;
}

TEST_UNUSED static bool heap_zero(const void *start, size_t bytes)
{
    return heap_filled(start, bytes, 0);
}

/* As new small objects with pointers have to be: where nothing marks they have any contents. */
TEST_UNUSED static bool heap_new(const void *start, size_t bytes)
{
    return !SGC_TRACES || heap_zero(start, bytes);
}

/* ---- a cycle, step by step ---- */

/* All slots that are at hand go back to their pages. */
TEST_UNUSED static void heap_retire(void)
{
    for (int i = 0; i < heap_test.count; i++)
        if (SGC_TRACES)
            sgc_cache_retire(heap_test.cache[i]);
        else if (heap_test.open[i])
            frees_give_up(heap_test.cache[i]);
}

/* The team of the marks to come, if there is none yet. */
TEST_UNUSED static struct sgc_team *heap_team(const struct sgc_team_config *config)
{
    if (!heap_test.team_ready && !sgc_team_init(&heap_test.team, config))
        tap_bail("no memory for a team of markers");
    heap_test.team_ready = true;
    return &heap_test.team;
}

/* One marker. */
TEST_UNUSED static struct sgc_team *heap_alone(const struct sgc_mark_config *config)
{
    return heap_team(&(struct sgc_team_config){ .mark = *config, .max_markers = 1, .balance = true });
}

/* Marks from the words [roots, roots+words), with up to `want` markers; the marks stay. */
TEST_UNUSED static void heap_mark_by(struct sgc_team *team, uint32_t want, const void *roots, size_t words)
{
    sgc_clear_finish();
    sgc_team_begin(team, want);
    sgc_mark_roots(sgc_team_first(team), roots, (const char *)roots + words * sizeof(uintptr_t));
    sgc_mark_uncollectable(sgc_team_first(team));
    if (!sgc_team_mark(team, NULL) || !sgc_team_rescan(team, NULL))
        tap_bail("a mark gave up though nobody asked it to");
    sgc_team_check(team);
}

TEST_UNUSED static void heap_mark(const struct sgc_mark_config *config, const void *roots, size_t words)
{
    heap_mark_by(heap_alone(config), 1, roots, words);
}

/* The next heap_mark makes a new marker. */
TEST_UNUSED static void heap_marker_end(void)
{
    if (heap_test.team_ready)
        sgc_team_release(&heap_test.team);
    heap_test.team_ready = false;
}

/* Forgets the marks, as an abandoned cycle does. */
TEST_UNUSED static void heap_unmark(void)
{
    sgc_clear_again();
    sgc_clear_finish();
}

TEST_UNUSED static void heap_flip(void)
{
    sgc_heap_flip();
    for (int i = 0; i < heap_test.count; i++)
        if (heap_test.open[i])
            sgc_cache_set_tag(heap_test.cache[i], sgc_tag(heap_test.cache[i]->id, sgc_heap.epoch));
    sgc_clear_begin();
}

/* What is reachable from the roots is allocated afterwards, nothing is swept. */
TEST_UNUSED static void heap_collect(const void *roots, size_t words)
{
    heap_retire();
    if (SGC_TRACES) {
        heap_mark(&HEAP_MARK, roots, words);
        heap_flip();
    } else {
        frees_all_but(roots, words, heap_test.cache, heap_test.open, heap_test.count);
        heap_retire();
    }
}

TEST_UNUSED static void heap_sweep_all(void)
{
    if (!SGC_TRACES)
        heap_retire();
    while (sgc_sweep_ahead(64, &sgc_self->section))
        continue;
}

TEST_UNUSED static void heap_count_one(TEST_UNUSED const struct sgc_object *o, void *count)
{
    ++*(int *)count;
}

/* Objects of the heap, as a mark in a stop would find them. */
TEST_UNUSED static int heap_count_allocated(void)
{
    int count = 0;

    heap_retire();
    sgc_walk_objects(heap_count_one, &count);
    return count;
}

/* ---- a mark beside the program, step by step; the marks are the test's ---- */

TEST_UNUSED static void heap_marking_begin(void)
{
    heap_retire();
    heap_sweep_all();
    sgc_clear_finish();
    sgc_marking_begin();
}

/* What is marked, and not freed, is allocated afterwards.  The bytes of what was freed after it was marked. */
TEST_UNUSED static size_t heap_marking_end(void)
{
    size_t freed;

    heap_retire();
    freed = sgc_marking_finish();
    heap_flip();
    return freed;
}

/* Runs `n` threads, each with a cache of its own, to their ends. */
TEST_UNUSED static void heap_run_threads(int n, void *(*body)(void *cache))
{
    pthread_t thread[HEAP_CACHES];

    for (int i = 0; i < n; i++)
        thread[i] = thread_start(body, heap_cache());
    threads_join(thread, n);
}

/* Nothing is allocated any more, and all that is free has been found. */
TEST_UNUSED static void heap_empty(void)
{
    heap_collect(NULL, 0);
    heap_sweep_all();
}

/* Pages. */
TEST_UNUSED static size_t heap_in_use(void)
{
    return sgc_pool_in_use_bytes() / SGC_PAGE;
}

/* At the end of a check: nothing is allocated any more, and no page is left over. */
TEST_UNUSED static void heap_must_be_empty(void)
{
    sgc_heap_check();
    heap_empty();
    sgc_heap_check();
    if (heap_in_use() != 0)
        tap_bail("pages are left over from the check before");
}

TEST_UNUSED static void heap_call(void (*const *test)(void), void (*then)(void))
{
    for (; *test != NULL; test++) {
        (*test)();
        then();
    }
}

/* As tap_each; `then` is called after each test. */
#define heap_each(then, ...) heap_call((void (*const[])(void)){ __VA_ARGS__, NULL }, then)

/* ---- what tests put there ---- */

/* Two objects below each, so deep. */
TEST_UNUSED static uintptr_t heap_tree(int depth)
{
    uintptr_t *inner = heap_alloc(sgc_self, 24, SGC_KIND_CONSERVATIVE);

    if (depth > 0) {
        inner[0] = heap_tree(depth - 1);
        inner[1] = heap_tree(depth - 1);
    }
    return (uintptr_t)inner;
}

/* One after the other. */
TEST_UNUSED static uintptr_t heap_list(int cells)
{
    uintptr_t first = 0;

    for (int i = 0; i < cells; i++) {
        uintptr_t *cell = heap_alloc(sgc_self, 48, SGC_KIND_CONSERVATIVE);

        cell[0] = first;
        first = (uintptr_t)cell;
    }
    return first;
}

/* An array of objects that point at it: plenty to steal. */
TEST_UNUSED static uintptr_t *heap_fan(int objects)
{
    uintptr_t *top = heap_alloc(sgc_self, (size_t)objects * sizeof *top, SGC_KIND_CONSERVATIVE);

    if (top == NULL)
        tap_bail("the heap of the test is too small");
    for (int i = 0; i < objects; i++) {
        uintptr_t *leaf = heap_alloc(sgc_self, 48, SGC_KIND_CONSERVATIVE);

        leaf[0] = (uintptr_t)top;
        top[i] = (uintptr_t)leaf;
    }
    return top;
}

/* ---- numbers that look random and are the same in every run ---- */

TEST_UNUSED static uint32_t heap_random(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

#endif
