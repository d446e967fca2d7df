/* SPDX-License-Identifier: MIT */
/*
 * Allocation as the API offers it: the fast path inline, then collecting, growing, and the client's hook.
 */
#ifndef SGC_GC_ALLOCATE_H
#define SGC_GC_ALLOCATE_H

#include "alloc/small.h"
#include "gc/mutator.h"

/* What a request of `bytes` costs in granules, end byte included; 0 when it is no small object. */
static inline size_t sgc_request_granules(size_t bytes)
{
    size_t with_end = bytes + sgc_heap.config.end_byte;

    if (with_end - 1 >= SGC_SMALL_MAX)
        return with_end == 0 || with_end > SGC_SMALL_MAX ? 0 : 1;
    return (with_end + SGC_GRANULE - 1) / SGC_GRANULE;
}

/* Everything the fast path does not do: a thread not registered, an empty bin, large objects, collecting.
 * `align` is a power of two; up to SGC_GRANULE it is free.  NULL when memory has run out: the first form
 * says what the client's hook answers.  Outside sections. */
void *sgc_allocate_slow(size_t bytes, uint32_t kind, size_t align);
void *sgc_allocate_slow_or_null(size_t bytes, uint32_t kind, size_t align);

/* The fast path: an object of at least `bytes`, zeroed if the kind has pointers; NULL when the slow way has to
 * be taken. */
static inline void *sgc_allocate_fast(size_t bytes, uint32_t kind)
{
    struct sgc_cache *cache = sgc_self;

    if (__builtin_expect(cache != NULL, 1)) {
        size_t granules = sgc_request_granules(bytes);

        if (granules != 0) {
            return sgc_small_try(cache, kind, sgc_class_for(granules));
        }
    }
    return NULL;
}

/* An object of at least `bytes`; zeroed if the kind has pointers. */
static inline void *sgc_allocate(size_t bytes, uint32_t kind)
{
    void *object = sgc_allocate_fast(bytes, kind);

    return __builtin_expect(object != NULL, 1) ? object : sgc_allocate_slow(bytes, kind, SGC_GRANULE);
}

/* The same, but NULL when memory has run out, whatever the hook would answer. */
static inline void *sgc_allocate_or_null(size_t bytes, uint32_t kind)
{
    void *object = sgc_allocate_fast(bytes, kind);

    return object != NULL ? object : sgc_allocate_slow_or_null(bytes, kind, SGC_GRANULE);
}

/* What to do when memory has run out (the variable GC_oom_fn); returns what the allocation is to return.  The
 * default says so once and returns NULL. */
typedef void *(*sgc_oom_t)(size_t bytes);
void *sgc_oom_default(size_t bytes);
void *sgc_out_of_memory(size_t bytes);

/* The collection's stop function for collections that allocation starts. */
void sgc_allocate_set_stop(int (*stop)(void));
int (*sgc_allocate_stop(void))(void);

/* Nonzero: allocation starts no collection, except before it would fail. */
void sgc_allocate_set_manual(bool manual);
bool sgc_allocate_manual(void);

/* A batch of objects linked through their first words: GC_malloc_many.  NULL when not even one can be had; the
 * hook is not asked. */
void *sgc_allocate_many(size_t bytes, uint32_t kind);

#endif
