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

static void small_goes(void) { flip_bit(small, sgc_heap.alloc_role); }
static void large_goes(void) { flip_bit(large, sgc_heap.alloc_role); }
static void small_is_marked(void) { flip_bit(small, sgc_mark_role()); }
static void large_is_marked(void) { flip_bit(large, sgc_mark_role()); }

/* The slots behind the newest were never handed out. */
static size_t unused_slot(void)
{
    struct sgc_object o = find(small);

    return o.granule + 2 * o.bytes / SGC_GRANULE;
}

static void small_comes(void)
{
    sgc_alloc_bit_set(unused_slot());
}

static void mark_of_nothing(void)
{
    sgc_aw_or(sgc_mark_word(unused_slot()), sgc_bit_mask(unused_slot()));
}

static void new_tag(void)
{
    uint32_t page = find(small).page;

    sgc_aw_store(&sgc_heap.pages[page].tag, sgc_tag(sgc_page_owner(page), sgc_heap.epoch + 1));
}

/* Between the beginning of a mark and its end. */
static void page_goes(void)
{
    sgc_survival_begin();
    sgc_survival_check_shapes();
    sgc_page_set_state(&sgc_heap.pages[find(small).page], SGC_PAGE_RESERVED);
}

static void span_shrinks(void)
{
    sgc_survival_begin();
    sgc_heap.records[find(large).page].span_pages--;
}

enum when { UNSWEPT, SWEPT, AT_MARK_END };

static const struct wrong {
    const char *name, *message;
    enum when when;
    void (*damage)(void), (*then)(void);
} wrongs[] = {
    { "an object is gone when its page is swept", "an object that the last mark has reached is gone",
      UNSWEPT, small_goes, sweep_all },
    { "an object is gone from a page that nobody sweeps", "an object that the last mark has reached is gone",
      UNSWEPT, small_goes, GC_gcollect },
    { "a large object is gone", "an object that the last mark has reached is gone", UNSWEPT, large_goes, sweep_all },
    { "a slot is allocated that was handed to nobody", "an object is allocated that the last mark has not reached",
      UNSWEPT, small_comes, sweep_all },
    { "a mark without an object", "a mark stands where no object is allocated", AT_MARK_END, mark_of_nothing, GC_gcollect },
    { "a page that counts as swept", "a page counts as swept in the epoch that the flip begins",
      AT_MARK_END, new_tag, GC_gcollect },
    { "a mark from before", "a mark stands before the mark begins", SWEPT, small_is_marked, GC_gcollect },
    { "a mark of a large object from before", "a span's mark stands before the mark begins",
      SWEPT, large_is_marked, GC_gcollect },
    { "a page that was taken down in a mark", "a page is not what it was", SWEPT, page_goes, sgc_survival_check_shapes },
    { "a span that became shorter in a mark", "a page is not what it was", SWEPT, span_shrinks, sgc_survival_check_shapes },
};

static int do_wrong(const struct wrong *w)
{
    begin();
    if (w->when == SWEPT) {
        sweep_all();
        sgc_clear_finish();
    }
    if (w->when == AT_MARK_END) {
        GC_set_on_collection_event(at_event);
        before_flip = w->damage;
    } else {
        w->damage();
    }
    w->then();
    return 0;
}

int main(void)
{
    child_says(nothing, 0, NULL, "nothing is said of what is right");
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        child_says_of(do_wrong(&wrongs[i]), 128 + SIGABRT, wrongs[i].message, "noticed: %s", wrongs[i].name);
    return tap_done();
}
