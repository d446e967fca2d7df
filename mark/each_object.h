/* SPDX-License-Identifier: MIT */
/* Objects found page by page.  Inline: what is done with each is called directly.  On any marker, world stopped. */
#ifndef SGC_MARK_EACH_OBJECT_H
#define SGC_MARK_EACH_OBJECT_H

#include "alloc/large/span.h"
#include "mark/marker.h"

/* Objects by their first granule, and their page. */
typedef void (*sgc_slot_fn)(struct sgc_marker *marker, size_t granule, const struct sgc_page *d);

/* Calls fn for each object whose bit is set in the bitmap of that role, of a page of small objects. */
SGC_INLINE void sgc_each_slot(struct sgc_marker *marker, uint32_t page, uint32_t role, sgc_slot_fn fn)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t first = (size_t)page * SGC_PAGE_WORDS;

    for (size_t w = first; w < first + SGC_PAGE_WORDS; w++) {
        uintptr_t bits = sgc_aw_load(sgc_bits_word(w, role));

        for (; bits != 0; bits &= bits - 1)
            fn(marker, w * 64 + (size_t)__builtin_ctzll(bits), d);
    }
}

SGC_INLINE void sgc_each_object_in(struct sgc_marker *marker, uint32_t page, uint32_t role, sgc_slot_fn fn)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    if (sgc_page_state(d) == SGC_PAGE_SMALL)
        sgc_each_slot(marker, page, role, fn);
    else if (sgc_page_state(d) == SGC_PAGE_SPAN && (sgc_aw_load(sgc_span_word(page, role)) & sgc_arena_bit(page)) != 0)
        fn(marker, sgc_page_first_granule(page), d);
}

/* Calls fn for the objects of every page whose bit is set in `pages`. */
SGC_INLINE void sgc_each_object(struct sgc_marker *marker, uint32_t arena, uint64_t pages, uint32_t role, sgc_slot_fn fn)
{
    for (; pages != 0; pages &= pages - 1)
        sgc_each_object_in(marker, arena * SGC_ARENA_PAGES + (uint32_t)__builtin_ctzll(pages), role, fn);
}

#endif
