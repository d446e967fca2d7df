/* SPDX-License-Identifier: MIT */
/* See alloc/marking.h. */
#include "alloc/marking.h"

#include "alloc/pages/marks.h"
#include "alloc/pages/survival.h"
#include "alloc/small/cache.h"
#include "platform/report.h"

enum { CHECKED_BYTES = 64 << 20 };      /* heaps up to that size are checked each time, with
                                         * assertions */

static uint32_t arenas_in_use(void)
{
    return (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);
}

/* World stopped, or one thread only. */
static void forget_noted(void)
{
    for (uint32_t arena = 0; arena < arenas_in_use(); arena++)
        if (sgc_aw_load(&sgc_heap.arenas[arena].noted) != 0)
            sgc_aw_store(&sgc_heap.arenas[arena].noted, 0);
}

/* ---- dropping ---- */

/* Leaves of a word of marks what is allocated; what is dropped. */
static uintptr_t drop(sgc_aw_t *marks, const sgc_aw_t *allocated)
{
    uintptr_t marked = sgc_aw_load(marks), freed = marked & ~sgc_aw_load(allocated);

    if (freed != 0)
        sgc_aw_store(marks, marked & ~freed);
    return freed;
}

static size_t drop_of_page(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t word = (size_t)page * SGC_PAGE_WORDS, slots = 0;

    sgc_assert(sgc_page_ok(page) && sgc_page_state(d) == SGC_PAGE_SMALL);
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++)
        slots += (size_t)__builtin_popcountll(
            drop(sgc_bits_word(w, sgc_mark_role()), sgc_bits_word(w, sgc_heap.alloc_role)));
    return slots * d->granules * SGC_GRANULE;
}

static size_t drop_spans(uint32_t first)
{
    uintptr_t freed = drop(sgc_span_word(first, sgc_mark_role()), sgc_span_word(first, sgc_heap.alloc_role));
    size_t bytes = 0;

    sgc_assert(first % SGC_ARENA_PAGES == 0);
    for (; freed != 0; freed &= freed - 1)
        bytes += sgc_span_bytes(first + (uint32_t)__builtin_ctzll(freed));
    return bytes;
}

/* Takes away the marks of what was freed while it was marked, and forgets the notes.  The bytes of
 * the objects.  World stopped, the mark is complete. */
static size_t drop_freed(void)
{
    size_t bytes = 0;

    sgc_assert(sgc_heap_is_marking());
    for (uint32_t arena = 0; arena < arenas_in_use(); arena++) {
        uint32_t first = arena * SGC_ARENA_PAGES;

        for (uintptr_t noted = sgc_aw_load(&sgc_heap.arenas[arena].noted); noted != 0; noted &= noted - 1)
            bytes += drop_of_page(first + (uint32_t)__builtin_ctzll(noted));
        bytes += drop_spans(first);
    }
    forget_noted();
    return bytes;
}

/* ---- the check ---- */

static void check_page(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t word = (size_t)page * SGC_PAGE_WORDS;
    uint32_t epoch = sgc_tag_epoch(sgc_aw_load(&d->tag));

    if (sgc_page_state(d) != SGC_PAGE_SMALL)
        return;
    if (epoch != sgc_heap.epoch)
        sgc_fatal("page %u was last swept in epoch %u, and now it is %u; expected everything to be swept before a mark "
                  "beside the program", page, epoch, sgc_heap.epoch);
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++)
        if (sgc_aw_load(sgc_bits_word(w, sgc_mark_role())) != 0)
            sgc_fatal("page %u has marks before a mark; expected all to be cleared", page);
}

/* Panics if something is unswept, marked or noted.  World stopped. */
static void check_none(void)
{
    for (uint32_t arena = 0; arena < arenas_in_use(); arena++) {
        uint32_t first = arena * SGC_ARENA_PAGES;

        sgc_verify(sgc_aw_load(&sgc_heap.arenas[arena].noted) == 0);
        if (sgc_aw_load(sgc_span_word(first, sgc_mark_role())) != 0)
            sgc_fatal("arena %u has marks of spans before a mark; expected all to be cleared", arena);
        for (uint32_t page = first; page < first + SGC_ARENA_PAGES; page++)
            check_page(page);
    }
}

/* ---- beginning and ending ---- */

/* Caches of ended threads, too: the next thread of the number finds it right. */
static void set_marking(bool marking)
{
    uint32_t count = sgc_a32_load_acq(&sgc_cache_count);

    sgc_a32_store(&sgc_heap.marking, marking);
    for (uint32_t id = 1; id < count; id++)
        sgc_cache_set_tag(sgc_cache_of(id), sgc_cache_of(id)->tag);
}

void sgc_marking_check(void)
{
    sgc_verify(!sgc_heap_is_marking());
    check_none();
}

void sgc_marking_begin(void)
{
    sgc_assert(!sgc_heap_is_marking());
    if (SGC_ASSERTS && sgc_aw_load(&sgc_heap.limit) <= CHECKED_BYTES)
        sgc_marking_check();
    set_marking(true);
}

size_t sgc_marking_finish(void)
{
    size_t freed;

    sgc_survival_check_shapes();
    freed = drop_freed();
    set_marking(false);
    return freed;
}

/* Which pages have marks nothing says, since all have been swept. */
void sgc_marking_cancel(void)
{
    sgc_assert(sgc_heap_is_marking());
    forget_noted();
    set_marking(false);
    sgc_clear_again();
}
