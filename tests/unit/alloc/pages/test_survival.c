/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/survival.c: what sweeping, clearing or a flip does to objects that a mark has reached is noticed: each child does
 * one wrong thing to the bits by hand, and is to end with the message for it.  A child that does nothing wrong goes on.
 */
#include "alloc/pages/survival.h"

#include <gc/gc.h>
#include <gc/gc_mark.h>

#include "alloc/large/span.h"
#include "alloc/pages/marks.h"
#include "gc/collect/background.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

enum { SMALL_BYTES = 48, SPAN_BYTES = 200000 };

static void *volatile small, *volatile large;

/* The service thread does not run, so nothing is swept before somebody wants it. */
static void begin(void)
{
    setenv("SGC_BACKGROUND_THREAD", "off", 1);
    setenv("SGC_MODE", "stop", 1);
    setenv("SGC_VERIFY", "marks", 1);
    white_init();
    if (!sgc_survival_checked())
        tap_bail("nothing is checked");
    for (int i = 0; i < 100; i++)
        small = GC_malloc(SMALL_BYTES);
    large = GC_malloc(SPAN_BYTES);
    GC_gcollect();
}

static struct sgc_object find(const void *object)
{
    struct sgc_object o;

    if (!sgc_object_find((uintptr_t)object, &o))
        tap_bail("an object that is held is not there");
    return o;
}

static void flip_bit(const void *object, uint32_t role)
{
    struct sgc_object o = find(object);
    sgc_aw_t *word = o.span ? sgc_span_word(o.page, role) : sgc_bits_word(o.granule / 64, role);

    sgc_aw_store(word, sgc_aw_load(word) ^ (o.span ? sgc_arena_bit(o.page) : sgc_bit_mask(o.granule)));
}

/* In a callback between the end of the mark and the flip. */
static void (*before_flip)(void);

static void GC_CALLBACK at_event(GC_EventType event)
{
    if (event == GC_EVENT_MARK_END && before_flip != NULL)
        before_flip();
}

static void sweep_all(void)
{
    sgc_service_do_all(sgc_mutator_self());
}

/* ---- what is done wrong ---- */

static int nothing(void)
{
    begin();
    GC_free(large);
    GC_gcollect();
    sweep_all();
    GC_free(small);
    GC_gcollect();
    return 0;
}

static int small_goes_before_sweep(void)
{
    begin();
    flip_bit(small, sgc_heap.alloc_role);
    sweep_all();
    return 0;
}

static int small_goes_before_mark(void)
{
    begin();
    flip_bit(small, sgc_heap.alloc_role);
    GC_gcollect();
    return 0;
}

static int large_goes(void)
{
    begin();
    flip_bit(large, sgc_heap.alloc_role);
    sweep_all();
    return 0;
}

/* The slots behind the newest were never handed out. */
static int small_comes(void)
{
    struct sgc_object o;

    begin();
    o = find(small);
    sgc_alloc_bit_set(o.granule + 2 * o.bytes / SGC_GRANULE);
    sweep_all();
    return 0;
}

static void mark_of_nothing(void)
{
    struct sgc_object o = find(small);
    size_t granule = o.granule + 2 * o.bytes / SGC_GRANULE;

    sgc_aw_or(sgc_mark_word(granule), sgc_bit_mask(granule));
}

static int stray_mark(void)
{
    begin();
    GC_set_on_collection_event(at_event);
    before_flip = mark_of_nothing;
    GC_gcollect();
    return 0;
}

static void new_tag(void)
{
    uint32_t page = find(small).page;

    sgc_aw_store(&sgc_heap.pages[page].tag, sgc_tag(sgc_page_owner(page), sgc_heap.epoch + 1));
}

static int early_tag(void)
{
    begin();
    GC_set_on_collection_event(at_event);
    before_flip = new_tag;
    GC_gcollect();
    return 0;
}

static int mark_left(void)
{
    begin();
    sweep_all();
    flip_bit(small, sgc_mark_role());
    GC_gcollect();
    return 0;
}

static int span_mark_left(void)
{
    begin();
    sweep_all();
    sgc_clear_finish();
    flip_bit(large, sgc_mark_role());
    GC_gcollect();
    return 0;
}

/* Between the beginning of a mark and its end. */
static int page_goes(void)
{
    begin();
    sweep_all();
    sgc_clear_finish();
    sgc_survival_begin();
    sgc_survival_check_shapes();
    sgc_page_set_state(&sgc_heap.pages[find(small).page], SGC_PAGE_RESERVED);
    sgc_survival_check_shapes();
    return 0;
}

static int span_shrinks(void)
{
    begin();
    sweep_all();
    sgc_clear_finish();
    sgc_survival_begin();
    sgc_heap.records[find(large).page].span_pages--;
    sgc_survival_check_shapes();
    return 0;
}

static const struct {
    const char *name, *message;
    int (*run)(void);
} wrongs[] = {
    { "an object is gone when its page is swept", "an object that the last mark has reached is gone", small_goes_before_sweep },
    { "an object is gone from a page that nobody sweeps", "an object that the last mark has reached is gone",
      small_goes_before_mark },
    { "a large object is gone", "an object that the last mark has reached is gone", large_goes },
    { "a slot is allocated that was handed to nobody", "an object is allocated that the last mark has not reached",
      small_comes },
    { "a mark without an object", "a mark stands where no object is allocated", stray_mark },
    { "a page that counts as swept", "a page counts as swept in the epoch that the flip begins", early_tag },
    { "a mark from before", "a mark stands before the mark begins", mark_left },
    { "a mark of a large object from before", "a span's mark stands before the mark begins", span_mark_left },
    { "a page that was taken down in a mark", "a page is not what it was", page_goes },
    { "a span that became shorter in a mark", "a page is not what it was", span_shrinks },
};

static size_t at;

int main(void)
{
    child_says(nothing, 0, NULL, "nothing is said of what is right");
    for (at = 0; at < sizeof wrongs / sizeof *wrongs; at++)
        child_says_of(wrongs[at].run(), 128 + SIGABRT, wrongs[at].message, "noticed: %s", wrongs[at].name);
    return tap_done();
}
