/* SPDX-License-Identifier: MIT */
/*
 * Just ahead of use: the memory that is handed out next is zeroed, and fetched into the cache.  In sections of the bin's own
 * thread.
 */
#ifndef SGC_ALLOC_SMALL_PREFETCH_H
#define SGC_ALLOC_SMALL_PREFETCH_H

#include <string.h>

#include "alloc/small/cache.h"

enum {
    SGC_FETCH_SLOTS = 16,       /* whose beginnings are fetched at a time: what a processor can wait for at once */
};

static inline char *sgc_lower(char *a, char *b)
{
    return a < b ? a : b;
}

/*
 * The memory that is handed out next is fetched into the cache while the program uses what it has got.  Processors fetch ahead
 * by themselves, but not beyond 4 KB, and not objects of which only the beginnings are written.  Inline: gcc finds that such a
 * function by itself has no effect, and drops the calls.
 */
__attribute__((always_inline))
static inline void sgc_fetch_lines(const char *from, const char *end)
{
    for (; from < end; from += 4 * SGC_LINE) {
        __builtin_prefetch(from, 1);
        __builtin_prefetch(from + SGC_LINE, 1);
        __builtin_prefetch(from + 2 * SGC_LINE, 1);
        __builtin_prefetch(from + 3 * SGC_LINE, 1);
    }
}

__attribute__((always_inline))
static inline void sgc_fetch_slots(const struct sgc_bin *bin, char *from)
{
    char *end = sgc_lower(from + (size_t)bin->size * SGC_FETCH_SLOTS, bin->end);

    for (; from < end; from += bin->size)
        __builtin_prefetch(from, 1);
}

/* The C library zeroes a large object faster than the one instruction that the compiler makes of a bounded piece, and a piece
 * more slowly.  Figures: doc/journal/heap.md. */
__attribute__((noinline))
static void sgc_zero_large(char *from, char *to)
{
    memset(from, 0, (size_t)(to - from));
}

/* Zeroes what may hold something below `upto`, a piece, or an object that is larger (or two of 4 KB), and fetches 4 KB of what
 * comes then. */
static inline char *sgc_zeroed_until(const struct sgc_bin *bin, char *from, char *upto)
{
    char *used_to = sgc_lower(upto, bin->dirty), *fetch_to = sgc_lower(bin->end, bin->dirty);

    if (from >= used_to)
        return upto;
    if (__builtin_expect(used_to - from >= 2 * SGC_ZERO_BYTES, 0))
        sgc_zero_large(from, used_to);
    else
        memset(from, 0, (size_t)(used_to - from));
    sgc_fetch_lines(used_to, sgc_lower(used_to + SGC_ZERO_BYTES, fetch_to));
    return upto;
}

static inline char *sgc_fetched_until(const struct sgc_bin *bin, char *upto)
{
    sgc_fetch_slots(bin, upto);
    return upto;
}

#endif
