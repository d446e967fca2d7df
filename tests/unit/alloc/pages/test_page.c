/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/page.c: setting a page up in any state its bits and records may be in, counting live objects, and what
 * the page check calls a contradiction (more of that in tests/unit/alloc/test_check.c).
 */
#include "tests/lib/heap.h"

static uint32_t page;

static void dirty_everything(void)
{
    size_t word = (size_t)page * SGC_PAGE_WORDS;
    struct sgc_page_record *r = &sgc_heap.records[page];

    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++) {
        for (uint32_t role = 0; role < SGC_BITMAPS; role++)
            sgc_aw_store(sgc_bits_word(w, role), UINTPTR_MAX);
        sgc_aw_store(&sgc_heap.remote_bits[w], UINTPTR_MAX);
    }
    sgc_a8_store(&sgc_heap.pages[page].remote, 1);
    sgc_heap.pages[page].back = 77;
    r->list = 5;
    r->zero_from = 99;
    sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_RESERVED);
}

static bool bits_clear(uint32_t p)
{
    size_t word = (size_t)p * SGC_PAGE_WORDS;
    uintptr_t any = 0;

    for (size_t w = word; w < word + SGC_PAGE_WORDS; w++) {
        for (uint32_t role = 0; role < SGC_BITMAPS; role++)
            any |= sgc_aw_load(sgc_bits_word(w, role));
        any |= sgc_aw_load(&sgc_heap.remote_bits[w]);
    }
    return any == 0;
}

static void test_set_up(void)
{
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++)
        for (uint32_t kind = 0; kind < SGC_KINDS_AT_START; kind++) {
            const struct sgc_page *d = &sgc_heap.pages[page];
            const struct sgc_page_record *r = &sgc_heap.records[page];
            uintptr_t tag = sgc_tag(3, sgc_heap.epoch);
            bool zero = (cls + kind) % 2;
            uint32_t bin = sgc_kind_uncollectable(kind) ? sgc_bin_watched(SGC_WATCH_UNCOLLECTABLE) : sgc_bin_offset(kind, cls);

            dirty_everything();
            sgc_page_set_up_small(page, cls, kind, sgc_bin_of_page(kind, cls), tag, zero);
            sgc_page_check(page);
            wrong += sgc_page_state(d) != SGC_PAGE_SMALL || d->kind != kind || d->cls != cls || sgc_a32_load(&d->bin) != bin ||
                     d->granules != sgc_size_classes.of[cls].granules || sgc_a8_load(&d->remote) != 0 ||
                     r->list != 0 || sgc_aw_load(&d->tag) != tag || sgc_page_owner(page) != 3 ||
                     r->zero_from != (zero ? 0 : SGC_PAGE_GRANULES) || !bits_clear(page) || sgc_page_live(page) != 0;
            uintptr_t listed = sgc_aw_load(&sgc_arena_of_page(page)->uncollectable) & sgc_arena_bit(page);
            wrong += (listed != 0) != sgc_kind_uncollectable(kind);
            sgc_aw_and(&sgc_arena_of_page(page)->uncollectable, ~sgc_arena_bit(page));
        }
    tap_ok(wrong == 0, "set up for each class and kind, a page remembers nothing (%d do)", wrong);
}

static void test_neighbours(void)
{
    size_t before = (size_t)page * SGC_PAGE_WORDS - 1, after = ((size_t)page + 1) * SGC_PAGE_WORDS;

    for (uint32_t role = 0; role < SGC_BITMAPS; role++) {
        sgc_aw_store(sgc_bits_word(before, role), 42);
        sgc_aw_store(sgc_bits_word(after, role), 42);
    }
    dirty_everything();
    sgc_page_set_up_small(page, 0, 0, sgc_bin_of_page(0, 0), sgc_tag(1, 1), true);
    bool kept = true;
    for (uint32_t role = 0; role < SGC_BITMAPS; role++) {
        kept = kept && sgc_aw_load(sgc_bits_word(before, role)) == 42 && sgc_aw_load(sgc_bits_word(after, role)) == 42;
        sgc_aw_store(sgc_bits_word(before, role), 0);
        sgc_aw_store(sgc_bits_word(after, role), 0);
    }
    tap_ok(kept, "its neighbours' bits are not touched");
}

static void test_live(void)
{
    uint32_t cls = sgc_class_for(3), per_page = sgc_size_classes.of[cls].per_page, expected = 0;
    size_t first = sgc_page_first_granule(page);

    sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_RESERVED);
    sgc_page_set_up_small(page, cls, 0, sgc_bin_of_page(0, cls), sgc_tag(1, 1), true);
    for (uint32_t slot = 0; slot < per_page; slot += 1 + slot % 7, expected++)
        sgc_alloc_bit_set(first + (size_t)slot * 3);
    sgc_page_check(page);
    tap_ok(sgc_page_live(page) == expected, "%u objects are counted", expected);
    if (SGC_TRACES) {
        sgc_aw_or(sgc_mark_word(first + 6), sgc_bit_mask(first + 6));
        tap_ok(sgc_page_live(page) == expected, "mark bits are not");
    }
    sgc_alloc_bit_clear(first);
    tap_ok(sgc_page_live(page) == expected - 1 && !sgc_alloc_bit(first), "one less");
}

static void test_kinds(void)
{
    tap_ok(!sgc_kind_has_pointers(SGC_KIND_POINTER_FREE) && sgc_kind_has_pointers(SGC_KIND_CONSERVATIVE) &&
           sgc_kind_has_pointers(SGC_KIND_UNCOLLECTABLE) &&
           !sgc_kind_has_pointers(SGC_KIND_POINTER_FREE_UNCOLLECTABLE), "which kinds have pointers");
    tap_ok(!sgc_kind_uncollectable(SGC_KIND_POINTER_FREE) && !sgc_kind_uncollectable(SGC_KIND_CONSERVATIVE) &&
           sgc_kind_uncollectable(SGC_KIND_UNCOLLECTABLE) &&
           sgc_kind_uncollectable(SGC_KIND_POINTER_FREE_UNCOLLECTABLE), "which are uncollectable");
    tap_ok(strcmp(sgc_page_state_name(SGC_PAGE_SPAN_TAIL), "span tail") == 0 &&
           strcmp(sgc_page_state_name(99), "unknown") == 0, "states have names");
}

static void test_tags(void)
{
    uintptr_t tag = sgc_tag(SGC_CACHES_MAX - 1, UINT32_MAX);

    tap_ok(sgc_tag_owner(tag) == SGC_CACHES_MAX - 1 && sgc_tag_epoch(tag) == UINT32_MAX,
           "a tag holds the highest owner and epoch");
}

int main(void)
{
    bool zero;

    heap_start(16 << 20, 0, false);
    page = sgc_pool_take(3, &sgc_self->section, &zero) + 1;
    return tap_all(test_set_up, test_neighbours, test_live, test_kinds, test_tags);
}
