/* SPDX-License-Identifier: MIT */
/*
 * From a word to an edge, and from an edge to a mark.
 *
 * Words that point into the heap are collected, their bits asked for and the objects marked, many at a time: each of these
 * is a short loop that keeps what it needs in registers, and between asking and marking the mark words have time to
 * arrive ([Cher]).
 *
 * Everything here is for one marker at a time; what several markers write are mark bits and rescan flags.
 */
#ifndef SGC_MARK_EDGE_H
#define SGC_MARK_EDGE_H

#include "alloc/pages/pool.h"
#include "mark/marker.h"

#define SGC_NOWHERE UINTPTR_MAX

/* Marks what the first `count` of the marker's collected edges point at: mark/edge.c.  They were words of the heap or of
 * static data, of which those count that have one of the marker's `distances` from an object's first byte; or other
 * roots, NULL: all count. */
void sgc_edges_mark(struct sgc_marker *marker, size_t count, const sgc_a8_t *distances);

/* The edge to the first byte of the slot that a stray leads into, which was a word of the heap; SGC_NOWHERE if that does not
 * count, or is a span, which is seen to. */
uintptr_t sgc_edge_of_stray(struct sgc_marker *marker, uintptr_t edge);

/* Has the object that the edge leads to been freed by a thread that does not own its page?  Only of pages of which some may
 * have been. */
bool sgc_edge_remote_bit(uintptr_t edge);

/* Freed by a thread that does not own the page?  What there is to compute is done elsewhere, when it is known to be needed. */
SGC_INLINE bool sgc_edge_is_freed(const struct sgc_page *d, uintptr_t edge)
{
    return __builtin_expect(sgc_a8_load_acq(&d->remote) != 0, 0) && sgc_edge_remote_bit(edge);
}

/* Objects have been marked whose weights (alloc/pages/page.h) add up to this: counts them.  How many they were. */
size_t sgc_count_weight(struct sgc_marker *marker, uint64_t weight);

/* Marks the small object that begins at the granule, if it is allocated and not marked yet. */
void sgc_granule_mark(struct sgc_marker *marker, size_t granule);

enum { SGC_CACHE_LINE = 64 };           /* if lines are longer, some are asked for twice */

/* Asks for all lines of a piece that waits in a batch: the processor does not guess those in the middle soon enough. */
SGC_INLINE void sgc_ask_for(uintptr_t start, size_t bytes)
{
    __builtin_prefetch((const void *)start);
    __builtin_prefetch((const void *)(start + bytes - 1));
    for (; __builtin_expect(bytes > SGC_CACHE_LINE, 0); bytes -= SGC_CACHE_LINE)
        __builtin_prefetch((const void *)(start += SGC_CACHE_LINE));
}

/* ---- slots ---- */

/* The first granule, in its page, of the slot of a page of small objects in which the page's granule `g` lies.  In the
 * page's unused end the result is a slot whose allocation bit is never set. */
SGC_INLINE size_t sgc_slot_start(const struct sgc_page *d, uint32_t g)
{
    return (size_t)sgc_slot_of(g, d->reciprocal) * d->granules;
}

/* The first granule of the slot in which byte `offset` of the heap lies. */
SGC_INLINE size_t sgc_slot_granule(const struct sgc_page *d, size_t offset)
{
    return (offset >> SGC_PAGE_LOG) * SGC_PAGE_GRANULES +
           sgc_slot_start(d, (uint32_t)offset % SGC_PAGE >> SGC_GRANULE_LOG);
}

/* ---- words ---- */

/* These loops read memory that was never meant for them (other functions' stack frames, the gaps between
 * variables), so sanitizers are told to look away, here and in the functions that they are inlined into.  What
 * synchronises with other markers is called, not inlined. */
#define SGC_BLIND __attribute__((no_sanitize("address", "thread", "undefined")))

/* Each word is written to the next place of the marker's edges, and the place is kept if it is one: no branch. */
SGC_BLIND SGC_INLINE size_t sgc_collect(uintptr_t *edge, size_t n, uintptr_t word, uintptr_t base, uintptr_t limit)
{
    uintptr_t offset = word - base;

    edge[n] = offset;
    return n + (offset < limit);
}

/* Marks the edges if as many have come together as may wait.  The edges there are then. */
SGC_INLINE size_t sgc_edges_full(struct sgc_marker *marker, size_t n, const sgc_a8_t *distances)
{
    if (n < marker->edges_wait)
        return n;
    sgc_edges_mark(marker, n, distances);
    return 0;
}

#endif
