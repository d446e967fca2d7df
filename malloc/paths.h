/* SPDX-License-Identifier: MIT */
/*
 * The common paths: a slot of the bin's list, of those that this thread has freed, or that were
 * carved from a page (alloc/small/carve.h); and back.
 * No section is entered: nobody stops anybody, and a handler that interrupts one of them may not
 * call another.
 */
#ifndef SGC_MALLOC_PATHS_H
#define SGC_MALLOC_PATHS_H

#include "alloc/small/small.h"
#include "malloc/checked.h"
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

/* The size is compared by the slow path alone.  NULL is no block, and outside the heap. */
__attribute__((always_inline))
static inline void sgc_block_free_sized(void *block, size_t bytes, const char *function)
{
    struct sgc_cache *cache = sgc_fast_cache;
    size_t granule = sgc_exact_granule(block);

    if (__builtin_expect(granule >= sgc_aw_load(&sgc_heap.granules), 0) ||
        __builtin_expect(sgc_free_in_section(cache, block, granule) != SGC_FREE_STEP_DONE, 0))
        sgc_block_free_slowly(block, bytes, function);
}

__attribute__((always_inline))
static inline void sgc_block_free(void *block, const char *function)
{
    sgc_block_free_sized(block, SGC_ANY_SIZE, function);
}

#endif
