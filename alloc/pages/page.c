/* SPDX-License-Identifier: MIT */
/*
 * Setting pages up and checking them.  By whoever holds the page.
 */
#include "alloc/pages/page.h"

#include "platform/report.h"

void sgc_page_clear_bits(uint32_t page)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;

    sgc_assert(sgc_page_ok(page));
    sgc_assert(!sgc_heap_is_marking() || sgc_page_state(&sgc_heap.pages[page]) != SGC_PAGE_SMALL);
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++) {
        for (uint32_t role = 0; role < SGC_BITMAPS; role++)
            sgc_aw_store(sgc_bits_word(w, role), 0);
        if (sgc_aw_load(&sgc_heap.remote_bits[w]) != 0)
            sgc_aw_store(&sgc_heap.remote_bits[w], 0);
    }
}

/* Fills in the fields that tell the marker how to scan each object of the page: see struct
 * sgc_page. */
static void describe_scan(struct sgc_page *d, uint32_t kind)
{
    uint32_t scan = sgc_kinds.of[kind].scan;

    sgc_assert(sgc_kind_ok(kind) && d->granules != 0);
    d->weight = sgc_mark_tally(d->granules, scan != SGC_SCAN_NOTHING);
    d->piece = scan == SGC_SCAN_DESCRIBED ? SGC_PIECE_DESCRIBED : 0;
}

/* `remote` goes to 0 last: a thread that was held up freeing an object of the page's former life
 * may set it at any time, and looks for an owner then.  Were it 1 still and nobody told, threads
 * that free new objects would take the owner for told (doc/design/remote-free.md). */
void sgc_page_set_up_small(uint32_t page, uint32_t cls, uint32_t kind, uint32_t bin, uintptr_t tag, bool zero)
{
    const struct sgc_size_class *c = &sgc_size_classes.of[cls];
    struct sgc_page *d = &sgc_heap.pages[page];
    struct sgc_page_record *r = &sgc_heap.records[page];

    sgc_assert(sgc_page_ok(page) && sgc_kind_ok(kind) && cls < sgc_size_classes.count);
    sgc_assert(sgc_page_state(d) == SGC_PAGE_FREE || sgc_page_state(d) == SGC_PAGE_RESERVED);
    sgc_page_clear_bits(page);
    d->reciprocal = c->reciprocal;
    d->granules = (uint16_t)c->granules;
    sgc_a32_store(&d->bin, bin);
    sgc_page_set_kind(d, kind);
    d->cls = (uint8_t)cls;
    describe_scan(d, kind);
    r->zero_from = zero ? 0 : SGC_PAGE_GRANULES;
    r->list = 0;
    r->offered = false;
    sgc_page_set_state(d, SGC_PAGE_SMALL);
    if (sgc_kind_uncollectable(kind))
        sgc_aw_or(&sgc_arena_of_page(page)->uncollectable, sgc_arena_bit(page));
    sgc_aw_store_sc(&d->tag, tag);
    sgc_a8_swap_sc(&d->remote, 0);
}

/* Of larger slots most words have none; counting bits is a call where the processor's instruction
 * for it may be missing. */
uint32_t sgc_page_live(uint32_t page)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;
    uint32_t live = 0;

    sgc_assert(sgc_page_ok(page));
    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++) {
        uintptr_t bits = sgc_aw_load(sgc_bits_word(w, sgc_heap.alloc_role));

        if (bits != 0)
            live += (uint32_t)__builtin_popcountll(bits);
    }
    return live;
}

/* Allocation bits may stand only where an object begins. */
static void check_small_bits(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t first = sgc_page_first_granule(page);
    uint32_t per_page = sgc_size_classes.of[d->cls].per_page;

    for (uint32_t g = 0; g < SGC_PAGE_GRANULES; g++) {
        uint32_t slot = sgc_slot_of(g, d->reciprocal);

        if (slot * d->granules == g && slot < per_page)
            continue;
        if (sgc_alloc_bit(first + g))
            sgc_fatal("page %u: allocation bit at granule %u, where no object of %u granules begins",
                      page, g, d->granules);
    }
}

static void check_span(uint32_t page)
{
    const struct sgc_page_record *r = &sgc_heap.records[page];

    sgc_verify(r->span_pages >= 1);
    sgc_verify(sgc_span_bytes(page) <= (size_t)r->span_pages * SGC_PAGE);
    for (uint32_t i = 1; i < r->span_pages; i++) {
        sgc_verify(sgc_page_state(&sgc_heap.pages[page + i]) == SGC_PAGE_SPAN_TAIL);
        sgc_verify(sgc_heap.pages[page + i].back == i);
    }
    (void)r;
}

/* The marker takes an allocation bit for an object without a look at the page. */
static void check_no_bits(uint32_t page)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;

    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++)
        for (uint32_t role = 0; role < SGC_BITMAPS; role++)
            sgc_verify(sgc_aw_load(sgc_bits_word(w, role)) == 0);
}

void sgc_page_check(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    sgc_assert(sgc_page_ok(page));
    if (sgc_page_state(d) == SGC_PAGE_SMALL) {
        sgc_verify(d->kind < sgc_kind_count() && d->cls < sgc_size_classes.count);
        sgc_verify(d->granules == sgc_size_classes.of[d->cls].granules);
        sgc_verify(d->weight == sgc_mark_tally(d->granules, sgc_kind_has_pointers(d->kind)));
        sgc_verify(sgc_heap.records[page].zero_from <= SGC_PAGE_GRANULES);
        check_small_bits(page);
        return;
    }
    check_no_bits(page);
    if (sgc_page_state(d) == SGC_PAGE_SPAN)
        check_span(page);
}

const char *sgc_page_state_name(uint32_t state)
{
    static const char *const names[] = { "free", "reserved", "small", "span", "span tail" };

    return state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}
