/* SPDX-License-Identifier: MIT */
/*
 * Runs of slots in a page's allocation bits, a word at a time.
 *
 * Of one word the bits where a slot may begin are a pattern of the class (`starts`), shifted.  So one look says which of
 * up to 64 slots are free, and one store claims them.  Only by the page's owner, in a section, or while the world is stopped:
 * nobody else writes these words.
 */
#ifndef SGC_ALLOC_SMALL_SLOTS_H
#define SGC_ALLOC_SMALL_SLOTS_H

#include "alloc/pages/page.h"

/* The slots [first, end) of a page. */
struct sgc_slots {
    uint32_t first, end;
};

/* Sets the bits of the next free slots from `from` on, as far as they lie side by side, at most `most`.  first == end: none
 * is left. */
struct sgc_slots sgc_slots_claim(uint32_t page, uint32_t cls, uint32_t from, uint32_t most);

/* How many slots of a page are taken, as far as anybody asks: two looks that mostly end early, where counting would
 * go through all the bits. */
enum sgc_fill { SGC_FILL_EMPTY, SGC_FILL_PART, SGC_FILL_FULL };
enum sgc_fill sgc_slots_fill(uint32_t page, uint32_t cls);

/* Clears the bits of [first, end). */
void sgc_slots_release(uint32_t page, uint32_t cls, uint32_t first, uint32_t end);

#endif
