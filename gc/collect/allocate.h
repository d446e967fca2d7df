/* SPDX-License-Identifier: MIT */
/*
 * Allocation as the API offers it: the fast path inline, then collecting, growing, and the client's
 * hook.
 */
#ifndef SGC_GC_COLLECT_ALLOCATE_H
#define SGC_GC_COLLECT_ALLOCATE_H

#include "alloc/small/small.h"
#include "gc/threads/mutator.h"

/* The granules that a request of `bytes` costs, end byte included; 0 when it is no small object, or
 * has no byte at all. */
static inline size_t sgc_request_granules(size_t bytes)
{
    size_t with_end = bytes + sgc_heap.config.end_byte;

    if (with_end - 1 >= SGC_SMALL_MAX)
        return with_end == 0 || with_end > SGC_SMALL_MAX ? 0 : 1;
    return (with_end + SGC_GRANULE - 1) / SGC_GRANULE;
}

/* Everything the fast path does not do: a thread not registered, an empty bin, large objects,
 * collecting.  `align` is a power of two; up to SGC_GRANULE it is free.  NULL when memory has run
 * out: the first form says what the client's hook answers.  Outside sections.  Not inlined, in
 * builds with -flto either: the fast path jumps here, and would need a stack frame otherwise. */
__attribute__((noinline)) void *sgc_allocate_slow(size_t bytes, uint32_t kind, size_t align);
void *sgc_allocate_slow_or_null(size_t bytes, uint32_t kind, size_t align);

/* The common path found the bin empty: claims a short run, or leaves the brief section and goes the
 * slow way. */
__attribute__((noinline)) void *sgc_allocate_missed(size_t bytes, uint32_t kind, struct sgc_cache *cache, struct sgc_bin *bin);

/* Where a request of at most SGC_FAST_MAX bytes is served. */
__attribute__((always_inline))
static inline struct sgc_bin *sgc_fast_bin(struct sgc_cache *cache, size_t bytes, uint32_t kind)
{
    return sgc_bin_at(cache, sgc_bin_offset(kind, 0) + sgc_fast_bins[bytes]);
}

/* An object of at least `bytes`, zeroed if the kind has pointers.  Each way out is a return or a
 * jump, so that the common ones need no stack frame. */
__attribute__((always_inline))
static inline void *sgc_allocate(size_t bytes, uint32_t kind)
{
    struct sgc_cache *cache = sgc_fast_cache;
    struct sgc_bin *bin;
    void *object;

    if (__builtin_expect(bytes > SGC_FAST_MAX, 0))
        return sgc_allocate_slow(bytes, kind, SGC_GRANULE);
    bin = sgc_fast_bin(cache, bytes, kind);
    sgc_brief_enter(&cache->section);
    if (__builtin_expect(sgc_bin_has_freed(bin), 1)) {
        object = sgc_bin_pop(bin);
        if (sgc_kind_has_pointers(kind))
            return sgc_bin_finish_zeroed(cache, object, bin->size);
    } else {
        if (__builtin_expect(!sgc_bin_has_run(bin), 0))
            return sgc_allocate_missed(bytes, kind, cache, bin);
        object = sgc_bin_bump(bin);
    }
    if (sgc_brief_leave(&cache->section))
        return sgc_brief_leave_slowly(&cache->section, object);
    return object;
}

/* An object as sgc_allocate gives it, but NULL when memory has run out, whatever the client's hook
 * would answer. */
void *sgc_allocate_or_null(size_t bytes, uint32_t kind);

/* Asks the client's hook (GC_oom_fn), or the default one, after memory has run out: the allocation
 * is to return its answer. */
void *sgc_out_of_memory(size_t bytes);

/* The program's: the stop function of collections that allocation starts, release / acquire; and
 * whether it starts none, except before it would fail. */
extern struct sgc_allocate_settings {
    sgc_aw_t stop;              /* int (*)(void); 0: none */
    sgc_a32_t manual;
} sgc_allocate_settings;

static inline int (*sgc_allocate_stop(void))(void)
{
    return (int (*)(void))sgc_aw_load_acq(&sgc_allocate_settings.stop);
}

/* A batch of objects linked through their first words: GC_malloc_many.  NULL when not even one can
 * be had; the hook is not asked. */
void *sgc_allocate_many(size_t bytes, uint32_t kind);

#endif
