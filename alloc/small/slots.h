/* SPDX-License-Identifier: MIT */
/*
 * Runs of slots in a page's allocation bits, a word at a time.
 *
 * Of one word the bits where a slot may begin are a pattern of the class (`starts`), shifted.  So
 * one look says which of up to 64 slots are free, and one store claims them.  Only by the page's
 * owner, in a section, or while the world is stopped: nobody else writes these words.
 */
#ifndef SGC_ALLOC_SMALL_SLOTS_H
#define SGC_ALLOC_SMALL_SLOTS_H

#include "alloc/pages/page.h"

/* Slots that lie side by side, as granules of the heap: where the first begins and the last
 * ends. */
struct sgc_slots {
    size_t first, end;
};

/* ---- in one word ---- */

/* The word in which the bit of a granule of the heap is. */
__attribute__((always_inline))
static inline sgc_aw_t *sgc_slot_word(size_t at)
{
    return sgc_alloc_words + at / 64 * SGC_BITMAPS;
}

/* The slots that are free in the word of granule `at`, where one begins, from there on: `at` itself
 * is the lowest bit. */
__attribute__((always_inline))
static inline uint64_t sgc_word_free(const sgc_aw_t *word, uint64_t starts, size_t at)
{
    return ~(uint64_t)sgc_aw_load(word) >> at % 64 & starts;
}

/* The first slot behind those that begin in the word of granule `at`, where one begins. */
__attribute__((always_inline))
static inline size_t sgc_next_word_slot(uint32_t bytes, uint64_t starts, size_t at)
{
    return (at | 63) - (uint32_t)__builtin_clzll(starts << at % 64) + bytes / SGC_GRANULE;
}

/* Finds the first free slot from *at on: *at becomes its granule, *word its word; returns a bit for
 * each free slot in that word from there on, *at's the lowest.  0: no slot is free in the words
 * that begin below `limit`; then *at is the first slot not looked at.  The slot found may lie
 * beyond `limit`, in the word where that is.  The barrier: values that can be read again are not to
 * be kept in registers (sgc_allocate_missed). */
__attribute__((always_inline))
static inline uint64_t sgc_find_free(const uint32_t *bytes, uint64_t starts, size_t limit, size_t *at, sgc_aw_t **word)
{
    size_t slot = *at;
    uint64_t free;

    for (;; slot = sgc_next_word_slot(*bytes, starts, slot)) {
        sgc_compiler_barrier();
        *at = slot;
        if (slot >= limit)
            return 0;
        *word = sgc_slot_word(slot);
        free = sgc_word_free(*word, starts, slot);
        if (free != 0)
            break;
    }
    *at = slot + (uint32_t)__builtin_ctzll(free);
    return free >> __builtin_ctzll(free);
}

/* Behind a free slot, whose word has these free from it on: a bit for each slot that is not, and
 * for those beyond the word's end. The bits below its lowest are the run's.  0: all slots of a word
 * are free. */
__attribute__((always_inline))
static inline uint64_t sgc_behind_run(uint64_t starts, uint64_t free)
{
    return ~free & starts;
}

/* Sets bits of the word of granule `at`, which is the lowest of them. */
__attribute__((always_inline))
static inline void sgc_word_claim(sgc_aw_t *word, size_t at, uint64_t bits)
{
    sgc_aw_store_rel(word, sgc_aw_load(word) | bits << at % 64);
}

/* ---- in a page ---- */

/* Sets the bits of the next free slots of a page, from `from` on, as far as they lie side by side,
 * at most `max`.  first == end: none is left. */
struct sgc_slots sgc_slots_claim(uint32_t page, uint32_t cls, size_t from, uint32_t max);

/* How many slots of a page are taken, as far as anybody asks: two looks that mostly end early,
 * where counting would go through all the bits. */
enum sgc_fill { SGC_FILL_EMPTY, SGC_FILL_PART, SGC_FILL_FULL };
enum sgc_fill sgc_slots_fill(uint32_t page, uint32_t cls);

/* Clears the bits of claimed slots. */
void sgc_slots_release(uint32_t page, uint32_t cls, struct sgc_slots slots);

#endif
