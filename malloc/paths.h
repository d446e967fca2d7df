/* SPDX-License-Identifier: MIT */
/*
 * The common paths: a slot of the bin's list, of those that this thread has freed, or that were
 * carved from a page (alloc/small/carve.h); and back; and what a small block has.
 * No section is entered: nobody stops anybody, and a handler that interrupts one of them may not
 * call another.
 */
#ifndef SGC_MALLOC_PATHS_H
#define SGC_MALLOC_PATHS_H

#include "alloc/small/remote_free.h"
#include "alloc/small/small.h"
#include "malloc/slow.h"

/* A block of at least `bytes`; NULL: ENOMEM is said.  Each way out is a return or a jump. */
__attribute__((always_inline))
static inline void *sgc_block_new(size_t bytes)
{
    struct sgc_cache *cache = sgc_fast_cache;
    struct sgc_bin *bin;

    if (__builtin_expect(bytes > SGC_FAST_MAX, 0))
        return sgc_block_new_larger(bytes);
    bin = sgc_bin_at(cache, sgc_bin_offset(SGC_KIND_POINTER_FREE, 0) + sgc_fast_bins[bytes]);
    if (__builtin_expect(!sgc_bin_has_freed(bin), 0))
        return sgc_block_new_slowly(bytes);
    sgc_assert(bin->size >= bytes && cache == sgc_self);
    return sgc_bin_pop(bin);
}

/* NULL is no block, and outside the heap. */
__attribute__((always_inline))
static inline void sgc_block_free(void *block, const char *function)
{
    struct sgc_cache *cache = sgc_fast_cache;
    size_t granule = sgc_exact_granule(block);

    if (__builtin_expect(granule >= sgc_aw_load(&sgc_heap.granules), 0) ||
        __builtin_expect(sgc_free_in_section(cache, block, granule) != SGC_FREE_STEP_DONE, 0))
        sgc_block_free_slowly(block, function);
}

/* Bytes of the small block that begins there, whoever allocated it; 0: there is none.  Pages without
 * small blocks have no bits, so the bit alone tells. */
__attribute__((always_inline))
static inline size_t sgc_block_small(const void *block)
{
    size_t granule = sgc_exact_granule(block);
    const struct sgc_page *d = &sgc_heap.pages[granule / SGC_PAGE_GRANULES];

    if (__builtin_expect(granule >= sgc_aw_load(&sgc_heap.granules), 0) ||
        __builtin_expect((sgc_aw_load(sgc_slot_word(granule)) & sgc_bit_mask(granule)) == 0, 0) ||
        __builtin_expect(sgc_freed_remotely(d, granule), 0))
        return 0;
    return (size_t)d->granules * SGC_GRANULE;
}

/* Does a small block of `has` bytes serve as one of `bytes`, without wasting more than half?  Of
 * none, and for none, the answer is no. */
__attribute__((always_inline))
static inline bool sgc_block_serves(size_t has, size_t bytes)
{
    return bytes - 1 < has && (bytes > has / 2 || has <= 2 * SGC_GRANULE);
}

#endif
