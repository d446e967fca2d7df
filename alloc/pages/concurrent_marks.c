/* SPDX-License-Identifier: MIT */
/*
 * Noting pages in which objects are freed beside a mark, and dropping the marks of these objects.
 * alloc/pages/concurrent_marks.h says which thread may call each function.
 */
#include "alloc/pages/concurrent_marks.h"

#include "platform/faults.h"
#include "platform/report.h"

static uint32_t arenas_in_use(void)
{
    return (uint32_t)(sgc_aw_load(&sgc_heap.limit) / SGC_ARENA);
}

/* ---- noting ---- */

/* Mostly it is noted already, and then its word is not written: other threads have pages of the arena, too. */
void sgc_marks_note(uint32_t page)
{
    sgc_aw_t *noted = &sgc_arena_of_page(page)->noted;
    uintptr_t bit = sgc_arena_bit(page);

    sgc_assert(sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL);
    if ((sgc_aw_load(noted) & bit) == 0 && !sgc_fault(SGC_FAULT_NOTE_FORGOTTEN))
        sgc_aw_or(noted, bit);
}

void sgc_marks_forget_noted(void)
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

size_t sgc_marks_drop_freed(void)
{
    size_t bytes = 0;

    sgc_assert(sgc_heap_is_marking());
    for (uint32_t arena = 0; arena < arenas_in_use(); arena++) {
        uint32_t first = arena * SGC_ARENA_PAGES;

        for (uintptr_t noted = sgc_aw_load(&sgc_heap.arenas[arena].noted); noted != 0; noted &= noted - 1)
            bytes += drop_of_page(first + (uint32_t)__builtin_ctzll(noted));
        bytes += drop_spans(first);
    }
    sgc_marks_forget_noted();
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

void sgc_marks_check_none(void)
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
