/* SPDX-License-Identifier: MIT */
/*
 * The two bitmaps of the heap, and the remote bits.  Only shifts and masks; who may do what when
 * is said in alloc/pages/heap.h.
 */
#ifndef SGC_ALLOC_PAGES_BITS_H
#define SGC_ALLOC_PAGES_BITS_H

#include "alloc/pages/heap.h"

static inline uint32_t sgc_mark_role(void)
{
    return sgc_heap.alloc_role ^ 1u;
}

/* Word w (64 granules) of the bitmap in that role. */
static inline sgc_aw_t *sgc_bits_word(size_t w, uint32_t role)
{
    sgc_assert(role <= 1);
    return &sgc_heap.bits[2 * w + role];
}

static inline uintptr_t sgc_bit_mask(size_t granule)
{
    return (uintptr_t)1 << (granule % 64);
}

static inline sgc_aw_t *sgc_alloc_word(size_t granule)
{
    return sgc_bits_word(granule / 64, sgc_heap.alloc_role);
}

static inline sgc_aw_t *sgc_mark_word(size_t granule)
{
    return sgc_bits_word(granule / 64, sgc_mark_role());
}

static inline sgc_aw_t *sgc_remote_word(size_t granule)
{
    return &sgc_heap.remote_bits[granule / 64];
}

/* Where a granule's bit is in the bit string that begins at word 0 of one role, the words of the other role included. */
static inline size_t sgc_bit_index(size_t granule)
{
    return granule + (granule & ~(size_t)63);
}

static inline bool sgc_alloc_bit(size_t granule)
{
    return (sgc_aw_load(sgc_alloc_word(granule)) & sgc_bit_mask(granule)) != 0;
}

static inline bool sgc_mark_bit(size_t granule)
{
    return (sgc_aw_load(sgc_mark_word(granule)) & sgc_bit_mask(granule)) != 0;
}

static inline bool sgc_remote_bit(size_t granule)
{
    return (sgc_aw_load(sgc_remote_word(granule)) & sgc_bit_mask(granule)) != 0;
}

/* Only by the owner of the page: no other thread writes these words, so a load and a store do.
 * Release, so that a thread which sees the bit sees the object's page set up. */
static inline void sgc_alloc_bit_set(size_t granule)
{
    sgc_aw_t *word = sgc_alloc_word(granule);

    sgc_aw_store_rel(word, sgc_aw_load(word) | sgc_bit_mask(granule));
}

static inline void sgc_alloc_bit_clear(size_t granule)
{
    sgc_aw_t *word = sgc_alloc_word(granule);

    sgc_aw_store(word, sgc_aw_load(word) & ~sgc_bit_mask(granule));
}

#endif
