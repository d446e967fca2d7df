/* SPDX-License-Identifier: MIT */
/*
 * Questions that an edge and its bits answer: the first ones, before any look at its page.
 *
 * An edge is the distance of a word's target from the heap's first byte.  Allocation bits stand
 * only where small objects begin: an edge that leads to one with its bit set needs no look at the
 * page to be known for what it is.  The others are unresolved: they lead to the inside of an
 * object, into a span, or to nothing, and are looked up.
 */
#ifndef SGC_MARK_EDGE_BITS_H
#define SGC_MARK_EDGE_BITS_H

#include "mark/marker.h"
#include "platform/compiler.h"

enum { SGC_WORD_REACH = 64 * SGC_GRANULE };     /* bytes that one mark word has bits for */

/* The granule an edge leads to. */
SGC_INLINE size_t sgc_edge_granule(uintptr_t edge)
{
    return edge / SGC_GRANULE;
}

/* Does it count, that far into its granule?  `near` is as the marker's. */
SGC_INLINE bool sgc_edge_is_near(uintptr_t edge, uint32_t near)
{
    return near == UINT32_MAX || (near >> edge % 32 & 1) != 0;
}

/* The granule's bit of the word, the lowest of the result; processors have an instruction for a
 * branch on that. */
SGC_INLINE uintptr_t sgc_bit_of(uintptr_t word, size_t granule)
{
    return word >> granule % 64 & 1;
}

/* The word of a bitmap that has the bit of what an edge leads to: the words of the two bitmaps
 * alternate. */
SGC_INLINE size_t sgc_edge_word(uintptr_t edge)
{
    return edge / SGC_WORD_REACH * 2;
}

/* Acquire: the descriptor of the page is there if one of its objects is. */
SGC_INLINE uintptr_t sgc_edge_allocated(const struct sgc_marker *marker, uintptr_t edge)
{
    return sgc_aw_load_acq(&marker->allocated[sgc_edge_word(edge)]);
}

/* Asks for all lines of a piece that waits in a batch: the processor does not guess those in the
 * middle soon enough.  If lines are longer, some are asked for twice. */
SGC_INLINE void sgc_prefetch_object(uintptr_t start, size_t bytes)
{
    __builtin_prefetch((const void *)start);
    __builtin_prefetch((const void *)(start + bytes - 1));
    for (; __builtin_expect(bytes > SGC_CACHE_LINE, 0); bytes -= SGC_CACHE_LINE)
        __builtin_prefetch((const void *)(start += SGC_CACHE_LINE));
}

/* Most often there are one or two.  Otherwise in a few operations: not all processors have an
 * instruction for it. */
SGC_INLINE size_t sgc_count_bits(uintptr_t bits)
{
    uintptr_t rest = bits & (bits - 1);

    if ((rest & (rest - 1)) == 0)
        return (size_t)(bits != 0) + (rest != 0);
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    return ((bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * UINT64_C(0x0101010101010101) >> 56;
}

#endif
