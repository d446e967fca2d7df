/* SPDX-License-Identifier: MIT */
/*
 * Short runs in pages that no thread owns.
 *
 * A page for each thread, kind and size class would make a heap of many threads that need little of
 * each as large as the product.  So while several threads run, a bin takes its first slots after a
 * cycle from pages that belong to all: a run of half a kilobyte, then as much again as it had
 * before.  When it has so shown that it needs more, it gets pages of its own.  The bin owns a
 * claimed run like any other: only claiming takes a lock.  The slots are freed as in other threads'
 * pages, by their remote bits (alloc/small/remote_free.h).
 *
 *   threads      written under the registry's lock, read by anybody: relaxed, a stale value costs a page, or a short run
 */
#ifndef SGC_ALLOC_SMALL_SHARED_H
#define SGC_ALLOC_SMALL_SHARED_H

#include "alloc/small/cache.h"

enum {
    SGC_SHOWN_UNIT = 64,        /* bytes that a bin's `shown` counts in; */
    SGC_SHOWN_ENOUGH = 240,     /* from here on, 15 KB, it gets pages of its own */
};

struct sgc_shared {
    sgc_a32_t threads;          /* of the program that allocate */
};
SGC_INNER struct sgc_shared sgc_shared;

/* Has the bin to show yet that it needs pages of its own? */
static inline bool sgc_shared_suits(const struct sgc_bin *bin)
{
    return sgc_a32_load(&sgc_shared.threads) > 1 && bin->shown < SGC_SHOWN_ENOUGH;
}

/* The bin takes a short run, unless it has got slots meanwhile.  False: no page that belongs to all has room.  By its thread,
 * under a guard, outside sections. */
bool sgc_shared_claim(struct sgc_cache *cache, uint32_t kind, uint32_t cls);

#endif
