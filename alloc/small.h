/* SPDX-License-Identifier: MIT */
/*
 * Small objects: handing out slots, and taking them back on the thread that owns their page.
 *
 * The common case is inline and takes neither a lock nor an atomic operation: a slot this thread
 * freed, or the next of a claimed run.  Runs are claimed about a kilobyte at a time from the active
 * page, lowest address first, and zeroed as they are claimed, just ahead of use.
 */
#ifndef SGC_ALLOC_SMALL_H
#define SGC_ALLOC_SMALL_H

#include <string.h>

#include "alloc/cache.h"

/* The way when the bin has nothing ready (sgc_small_try gave NULL): claims a run, takes another page, adopts an orphan or
 * asks the pool.  NULL if no page can be had.  Outside sections. */
void *sgc_small_refill(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

/* Claims up to `most` slots at once and links them through their first words, zeroed behind it for
 * kinds with pointers: GC_malloc_many.  They count as allocated.  NULL if none can be had. */
void *sgc_small_many(struct sgc_cache *cache, uint32_t kind, uint32_t cls, uint32_t most);

/* A slot freed by this thread, allocated again.  In a section; nfreed > 0. */
static inline void *sgc_bin_pop(struct sgc_cache *cache, struct sgc_bin *bin, uint32_t kind, uint32_t cls)
{
    void *object = cache->freed[kind][cls][bin->nfreed - 1];

    sgc_alloc_bit_set(sgc_granule_number((uintptr_t)object));
    sgc_compiler_barrier();
    bin->nfreed--;
    return object;
}

/* The next slot of the claimed run, or NULL.  In a section. */
static inline void *sgc_bin_bump(struct sgc_bin *bin)
{
    char *object = bin->cur;

    if ((size_t)(bin->limit - object) < bin->size || object == NULL)
        return NULL;
    bin->cur = object + bin->size;
    return object;
}

/* An object of the class, or NULL when the slow way has to be taken.  Outside sections. */
static inline void *sgc_small_try(struct sgc_cache *cache, uint32_t kind, uint32_t cls)
{
    struct sgc_bin *bin = &cache->bin[kind][cls];
    void *object;

    sgc_section_enter(&cache->section);
    if (bin->nfreed > 0) {
        object = sgc_bin_pop(cache, bin, kind, cls);
        if (sgc_kind_has_pointers(kind))
            memset(object, 0, bin->size);
    } else {
        object = sgc_bin_bump(bin);
    }
    sgc_section_leave(&cache->section);
    return object;
}

enum sgc_free_result {
    SGC_FREE_DONE,
    SGC_FREE_NOT_HERE,          /* not a page of ours, or not swept yet: take the slow way */
    SGC_FREE_INTERIOR,          /* does not point at an object's first byte */
    SGC_FREE_NOT_ALLOCATED,     /* freed before, or never handed out */
};

/* Frees an object if its page is ours and swept.  Outside sections. */
enum sgc_free_result sgc_small_free_local(struct sgc_cache *cache, void *object);

#endif
