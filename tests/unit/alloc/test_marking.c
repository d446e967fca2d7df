/* SPDX-License-Identifier: MIT */
/*
 * alloc/marking.c: marks that a test sets as a marker beside the program would, and what becomes of objects that are
 * allocated and freed meanwhile: after the flip exactly the right slots are allocated.  What must not be taken down:
 * test_marking_quarantine.c.
 *
 * Also: alloc/pages/marks.c.
 */
#include <signal.h>

#include "alloc/pages/marks.h"
#include "tests/lib/child.h"
#include "tests/lib/heap.h"

enum { BYTES = 64, KIND = SGC_KIND_CONSERVATIVE };

static struct sgc_cache *cache, *other;

static char *small(uint32_t kind)
{
    return heap_small(cache, BYTES, kind);
}

static bool freed(struct sgc_cache *by, void *object)
{
    return sgc_object_free(by, object) == SGC_FREE_DONE && !heap_allocated(object);
}

/* Are these allocated, and nothing else?  NULL: none. */
static bool only(const void *a, const void *b)
{
    int count = (a != NULL) + (b != NULL);

    return heap_count_allocated() == count && (a == NULL || heap_allocated(a)) && (b == NULL || heap_allocated(b));
}

/* These have served; nothing is left, of uncollectable ones either. */
static void finish_with(void *a, void *b, const char *name)
{
    heap_sweep_all();
    tap_ok(only(a, b), "%s: nor after sweeping", name);
    sgc_heap_check();
    if (a != NULL)
        sgc_object_free(cache, a);
    if (b != NULL)
        sgc_object_free(cache, b);
    heap_empty();
    tap_ok(heap_count_allocated() == 0 && sgc_pool_in_use_bytes() == 0, "%s: and nothing is left over", name);
    sgc_heap_check();
}

/* ---- the common path of freeing ---- */

static enum sgc_free_step free_commonly(struct sgc_cache *c, void *object)
{
    enum sgc_free_step step;

    sgc_brief_enter(&c->section);
    step = sgc_free_in_section(c, object, sgc_exact_granule(object));
    sgc_brief_end(&c->section);
    return step;
}

static void test_common(void)
{
    char *a, *b;

    freed(cache, small(KIND));      /* the first one makes room for others */
    a = small(KIND);
    tap_ok(!sgc_heap_is_marking() && free_commonly(cache, a) == SGC_FREE_STEP_DONE, "the common path of freeing frees");
    heap_marking_begin();
    b = small(KIND);
    tap_ok(sgc_heap_is_marking() && free_commonly(cache, b) == SGC_FREE_STEP_MISSED && heap_allocated(b),
           "while a mark goes on it frees nothing");
    tap_ok(freed(cache, b) && small(KIND) == b, "the slow one does, and the slot is used again");
    heap_marking_end();
    b = small(KIND);
    tap_ok(!sgc_heap_is_marking() && free_commonly(cache, b) == SGC_FREE_STEP_DONE, "and after the flip the common one, again");
    heap_empty();
}

/* ---- freed after it was marked ---- */

static void test_own(uint32_t kind, const char *name)
{
    char *a = small(kind), *b = small(kind), *c = small(kind);

    heap_marking_begin();
    heap_set_mark(a);
    heap_set_mark(b);
    heap_set_mark(c);
    tap_ok(freed(cache, b) && sgc_object_free(cache, b) == SGC_FREE_NOT_ALLOCATED, "%s: a second free is told", name);
    tap_ok(heap_marking_end() == BYTES && only(a, c), "%s: what is freed after it was marked is not allocated after the flip",
           name);
    finish_with(a, c, name);
}

static void merge(uint32_t page)
{
    sgc_lock(cache->lock, &cache->section);
    sgc_page_merge(page);
    sgc_unlock(cache->lock, &cache->section);
}

static void test_others(uint32_t kind, const char *name)
{
    char *a = small(kind), *b = small(kind), *c = small(kind);

    heap_marking_begin();
    heap_set_mark(a);
    heap_set_mark(b);
    heap_set_mark(c);
    tap_ok(freed(other, a) && sgc_object_free(cache, a) == SGC_FREE_NOT_ALLOCATED, "%s: what another thread frees is free",
           name);
    merge(heap_page(a));
    tap_ok(!sgc_alloc_bit(sgc_granule_number((uintptr_t)a)) && freed(other, b), "%s: it is merged, another is not", name);
    tap_ok(heap_marking_end() == BYTES && only(c, NULL), "%s: neither is allocated after the flip", name);
    finish_with(c, NULL, name);
}

/* The marker has seen the allocation bit, and is slow. */
static void test_late(void)
{
    char *a = small(KIND), *b = small(KIND), *span = heap_alloc(cache, 100000, KIND);

    heap_marking_begin();
    tap_ok(freed(cache, a) && freed(cache, span), "objects are freed");
    heap_set_mark(a);
    heap_set_mark(b);
    heap_set_mark(span);
    tap_ok(heap_marking_end() == BYTES + sgc_span_bytes(heap_page(span)) && only(b, NULL),
           "a mark that comes late counts for nothing");
    finish_with(b, NULL, "a late mark");
}

static void test_used_again(void)
{
    char *a, *b;

    heap_marking_begin();
    a = small(KIND);
    heap_set_mark(a);
    tap_ok(freed(cache, a) && small(KIND) == a, "a marked slot is freed and used again");
    tap_ok(heap_marking_end() == 0 && only(a, NULL), "then it is allocated after the flip");
    finish_with(a, NULL, "used again");
    heap_marking_begin();
    b = small(KIND);
    tap_ok(freed(cache, b) && small(KIND) == b && heap_marking_end() == 0 && only(NULL, NULL),
           "or it is not, if nobody marked it");
    heap_empty();
}

/* ---- claimed slots, which a stray word may lead to ---- */

static void retire(struct sgc_cache *c)
{
    sgc_cache_retire(c);
}

static void repair(struct sgc_cache *c)
{
    sgc_cache_repair(c);
}

static void test_claimed(void (*give_up)(struct sgc_cache *c), uint32_t kind, const char *name)
{
    struct sgc_cache *c = heap_cache();
    const struct sgc_bin *bin = heap_bin(c, BYTES, kind);
    char *a;
    int marked = 0;

    heap_marking_begin();
    a = heap_small(c, BYTES, kind);
    heap_set_mark(a);
    for (char *slot = bin->cur; slot < bin->end; slot += bin->size, marked++)
        heap_set_mark(slot);
    give_up(c);
    tap_ok(marked > 10 && heap_marking_end() == (size_t)marked * BYTES && only(a, NULL),
           "%s: marked slots that were claimed and not handed out are not allocated after the flip", name);
    if (give_up != heap_cache_end)
        heap_cache_end(c);
    finish_with(a, NULL, name);
}

/* ---- caches that come and go meanwhile ---- */

static void test_caches(void)
{
    struct sgc_cache *c;
    char *a;

    heap_marking_begin();
    c = heap_cache();
    a = heap_small(c, BYTES, KIND);
    tap_ok(c->tag == sgc_tag(c->id, sgc_heap.epoch) && free_commonly(c, a) == SGC_FREE_STEP_MISSED,
           "a cache that is opened while a mark goes on frees nothing by the common path");
    tap_ok(freed(c, a), "but by the slow one");
    heap_cache_end(c);
    tap_ok(c->tag == 0 && c->free_tag == SGC_TAG_OF_NONE, "nor does one that was closed");
    tap_ok(sgc_cache_open(c, false) && c->tag == sgc_tag(c->id, sgc_heap.epoch) && c->free_tag == SGC_TAG_OF_NONE,
           "nor one that is opened again");
    sgc_marking_cancel();
    tap_ok(c->free_tag == c->tag && cache->free_tag == cache->tag, "until the mark is given up");
    sgc_clear_finish();
    heap_cache_end(c);
    heap_empty();
}

/* ---- given up ---- */

static void test_cancel(void)
{
    char *a = small(KIND), *b = small(KIND), *c = small(SGC_KIND_UNCOLLECTABLE), *span = heap_alloc(cache, 100000, KIND);

    heap_marking_begin();
    heap_set_mark(a);
    heap_set_mark(b);
    heap_set_mark(c);
    heap_set_mark(span);
    tap_ok(freed(cache, b) && freed(cache, span), "objects are freed while a mark goes on");
    sgc_marking_cancel();
    tap_ok(!sgc_heap_is_marking() && heap_marked(a), "which is given up");
    sgc_clear_finish();
    tap_ok(!heap_marked(a) && !heap_marked(b) && !heap_marked(c) && !heap_marked(span), "its marks go");
    tap_ok(only(a, c), "and what was not freed is allocated as before");
    b = small(KIND);
    tap_ok(free_commonly(cache, b) == SGC_FREE_STEP_DONE, "the common path of freeing frees");
    heap_marking_begin();
    heap_set_mark(a);
    heap_set_mark(c);
    tap_ok(heap_marking_end() == 0 && only(a, c), "another mark may begin");
    finish_with(a, c, "given up");
}

static int cancel_in_child(void)
{
    alarm(5);
    sgc_marking_cancel();
    sgc_clear_finish();
    sgc_marking_check();
    return 0;
}

static void test_fork(void)
{
    char *a = small(KIND), *b = small(KIND);

    heap_marking_begin();
    heap_set_mark(a);
    heap_set_mark(b);
    freed(cache, b);
    child_ok(cancel_in_child, "the child of a fork gives the mark up");
    tap_ok(heap_marking_end() == BYTES && only(a, NULL), "and its parent goes on");
    finish_with(a, NULL, "fork");
}

/* ---- what must hold before ---- */

static void begin_unswept(void)
{
    char *a = small(KIND);

    heap_collect(&a, 1);
    sgc_clear_finish();
}

static void begin_marked(void)
{
    heap_set_mark(small(KIND));
}

static void begin_span_marked(void)
{
    heap_set_mark(heap_alloc(cache, 100000, KIND));
}

static void begin_noted(void)
{
    sgc_marks_note(heap_page(small(KIND)));
}

static int check_after(void (*begin)(void))
{
    begin();
    sgc_marking_check();
    return 0;
}

static void test_check(void)
{
    child_says_of(check_after(begin_unswept), 128 + SIGABRT, "expected everything to be swept",
                  "an unswept page before a mark is found");
    child_says_of(check_after(begin_marked), 128 + SIGABRT, "has marks before a mark", "so is a mark");
    child_says_of(check_after(begin_span_marked), 128 + SIGABRT, "has marks of spans", "that of a span, too");
    child_says_of(check_after(begin_noted), 128 + SIGABRT, "noted", "and a note of the mark before");
    child_says_of(check_after(heap_marking_begin), 128 + SIGABRT, "!sgc_heap_is_marking()", "one mark goes on at a time");
}

int main(void)
{
    const struct sgc_kind client = { .scan = SGC_SCAN_WORDS, .clear = true };
    uint32_t kind = sgc_kind_make(&client);

    heap_start((size_t)16 * SGC_ARENA, 0, false);
    cache = sgc_self;
    other = heap_cache();
    test_common();
    test_own(KIND, "own");
    test_own(SGC_KIND_POINTER_FREE, "pointer-free");
    test_own(SGC_KIND_UNCOLLECTABLE, "uncollectable");
    test_own(kind, "of a client's kind");
    test_others(KIND, "remote");
    test_others(SGC_KIND_UNCOLLECTABLE, "remote, uncollectable");
    test_late();
    test_used_again();
    test_claimed(retire, KIND, "retired");
    test_claimed(repair, KIND, "repaired");
    test_claimed(heap_cache_end, KIND, "ended");
    test_claimed(heap_cache_end, SGC_KIND_UNCOLLECTABLE, "ended, uncollectable");
    return tap_all(test_caches, test_cancel, test_fork, test_check);
}
