/* SPDX-License-Identifier: MIT */
/*
 * alloc/small/slots.c against a slot-by-slot rendering of the same: every class, random patterns of taken slots, every kind of
 * beginning and end.
 */
#include "alloc/small/slots.h"
#include "tests/lib/heap.h"

static uint32_t page;
static uint64_t seed = 88172645463325252u;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)(seed >> 20) % n;
}

static size_t granule_of(uint32_t cls, uint32_t slot)
{
    return sgc_page_first_granule(page) + (size_t)slot * sgc_size_classes.of[cls].granules;
}

/* Taken with a chance of `taken` in 16; runs of them, too. */
static void fill(uint32_t cls, uint32_t taken)
{
    bool on = false;

    for (uint32_t slot = 0; slot < sgc_size_classes.of[cls].per_page; slot++) {
        if (below(4) == 0)
            on = below(16) < taken;
        if (on)
            sgc_alloc_bit_set(granule_of(cls, slot));
        else
            sgc_alloc_bit_clear(granule_of(cls, slot));
    }
}

/* The words of the page, both roles. */
static void copy(uintptr_t *to)
{
    for (size_t w = 0; w < 2 * SGC_PAGE_WORDS; w++)
        to[w] = sgc_aw_load(&sgc_heap.bits[(size_t)page * 2 * SGC_PAGE_WORDS + w]);
}

static bool claim_agrees(uint32_t cls, uint32_t from, uint32_t most)
{
    uint32_t per_page = sgc_size_classes.of[cls].per_page, first = from, end;
    static uintptr_t expected[2 * SGC_PAGE_WORDS], before[2 * SGC_PAGE_WORDS], found[2 * SGC_PAGE_WORDS];
    struct sgc_slots s;

    copy(before);
    while (first < per_page && sgc_alloc_bit(granule_of(cls, first)))
        first++;
    for (end = first; end < per_page && end - first < most && !sgc_alloc_bit(granule_of(cls, end)); end++)
        sgc_alloc_bit_set(granule_of(cls, end));
    copy(expected);
    for (uint32_t slot = first; slot < end; slot++)
        sgc_alloc_bit_clear(granule_of(cls, slot));
    s = sgc_slots_claim(page, cls, granule_of(cls, from), most);
    copy(found);
    if (s.first != granule_of(cls, first) || s.end != granule_of(cls, end) || memcmp(found, expected, sizeof found) != 0)
        return false;
    sgc_slots_release(page, cls, s);
    copy(found);
    return memcmp(found, before, sizeof found) == 0;
}

static void test_all_classes(uint32_t taken)
{
    uint32_t wrong = 0, tried = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        uint32_t per_page = sgc_size_classes.of[cls].per_page;

        sgc_page_set_up_small(page, cls, SGC_KIND_CONSERVATIVE, sgc_bin_of_page(SGC_KIND_CONSERVATIVE, cls),
                              sgc_tag(1, sgc_heap.epoch), false);
        for (int i = 0; i < 40; i++, tried++) {
            fill(cls, taken);
            wrong += !claim_agrees(cls, i == 0 ? 0 : below(per_page + 1), i % 3 == 0 ? UINT32_MAX : 1 + below(per_page));
        }
        for (uint32_t from = 0; from < 70 && from <= per_page; from++, tried++)
            wrong += !claim_agrees(cls, from, 1 + below(70));
        sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_RESERVED);
    }
    tap_ok(wrong == 0, "%u claims and releases in pages %u sixteenths full: %u wrong", tried, taken, wrong);
}

/* Empty, full, and neither by one slot at any place. */
static bool fill_agrees(uint32_t cls)
{
    uint32_t per_page = sgc_size_classes.of[cls].per_page;
    bool right = true;

    for (uint32_t slot = 0; slot < per_page; slot++)
        sgc_alloc_bit_clear(granule_of(cls, slot));
    right = right && sgc_slots_fill(page, cls) == SGC_FILL_EMPTY;
    for (uint32_t slot = 0; slot < per_page; slot++) {
        sgc_alloc_bit_set(granule_of(cls, slot));
        right = right && sgc_slots_fill(page, cls) == SGC_FILL_PART;
        sgc_alloc_bit_clear(granule_of(cls, slot));
    }
    for (uint32_t slot = 0; slot < per_page; slot++)
        sgc_alloc_bit_set(granule_of(cls, slot));
    right = right && sgc_slots_fill(page, cls) == SGC_FILL_FULL;
    for (uint32_t slot = 0; slot < per_page; slot++) {
        sgc_alloc_bit_clear(granule_of(cls, slot));
        right = right && sgc_slots_fill(page, cls) == SGC_FILL_PART;
        sgc_alloc_bit_set(granule_of(cls, slot));
    }
    return right;
}

static void test_fill(void)
{
    int wrong = 0;

    for (uint32_t cls = 0; cls < sgc_size_classes.count; cls++) {
        sgc_page_set_up_small(page, cls, SGC_KIND_CONSERVATIVE, sgc_bin_of_page(SGC_KIND_CONSERVATIVE, cls),
                              sgc_tag(1, sgc_heap.epoch), false);
        wrong += !fill_agrees(cls);
        sgc_page_set_state(&sgc_heap.pages[page], SGC_PAGE_RESERVED);
    }
    tap_ok(wrong == 0, "empty, partly taken and full pages are told apart");
}

int main(void)
{
    bool zero;

    heap_start((size_t)64 << 20, 0, false);
    page = sgc_pool_take(1, &sgc_self->section, &zero);
    test_all_classes(0);
    test_all_classes(3);
    test_all_classes(8);
    test_all_classes(14);
    test_all_classes(16);
    sgc_heap_flip();
    test_all_classes(8);
    test_fill();
    return tap_done();
}
