/* SPDX-License-Identifier: MIT */
/*
 * From a word to an edge, and from an edge to a mark.
 *
 * Words that point into the heap are collected, their bits asked for and the objects marked, many
 * at a time: each of these is a short loop that keeps what it needs in registers, and between
 * asking and marking the mark words have time to arrive ([Cher]).
 *
 * Everything here is for one marker at a time; what several markers write are mark bits and rescan
 * flags.
 */
#ifndef SGC_MARK_EDGE_H
#define SGC_MARK_EDGE_H

#include "alloc/pages/kind.h"
#include "alloc/pages/pool.h"
#include "mark/marker.h"
#include "mark/word_form.h"

#define SGC_NOWHERE UINTPTR_MAX

/* Marks what the first `count` of the marker's collected edges point at: mark/edge.c.  They were
 * words of the heap or of static data, of which those count that have one of the marker's
 * `distances` from an object's first byte; or other roots, NULL: all count. */
void sgc_edges_mark(struct sgc_marker *marker, size_t count, const sgc_a8_t *distances);

/* Marks what a single edge leads to, which was a word of the heap. */
void sgc_edge_mark(struct sgc_marker *marker, uintptr_t edge);

/* Marks the small object that begins at the granule, if it is allocated and not marked yet. */
void sgc_granule_mark(struct sgc_marker *marker, size_t granule);

/* ---- what comes after an object was marked ---- */

/* Flags the page of the object in which the address lies for a rescan: there was no room on the
 * stack for its words. */
void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t address);

/* Flags the page of the object in which the address lies for a rescan: its words cannot be scanned,
 * or not for the last time, before the world is stopped for good. */
void sgc_mark_later(struct sgc_marker *marker, uintptr_t address);

/* The kind of work that an object with pointers is. */
SGC_INLINE uintptr_t sgc_piece_of(uint32_t scan)
{
    return scan == SGC_SCAN_DESCRIBED ? SGC_WORK_OBJECT : SGC_WORK_HEAP;
}

/* A marked object, as a piece of work; or its page is to be looked at again. */
SGC_INLINE void sgc_push_piece(struct sgc_marker *marker, uintptr_t piece, size_t bytes)
{
    if (__builtin_expect(!sgc_deque_push(&marker->stack, piece, bytes), 0))
        sgc_mark_overflow(marker, piece);
}

/* It is counted, and pushed if it has words to scan. */
SGC_INLINE void sgc_marked(struct sgc_marker *marker, uintptr_t start, size_t bytes, uint32_t kind)
{
    uint32_t scan = sgc_kinds.of[kind].scan;

    sgc_count_marked(marker, 1, bytes, scan == SGC_SCAN_NOTHING);
    if (scan != SGC_SCAN_NOTHING)
        sgc_push_piece(marker, start | sgc_piece_of(scan), bytes);
}

/* ---- large objects ---- */

/* Marks the span that byte `offset` of the heap lies in, if it lies in one, at once, as the span's
 * data is rarely cold.  `distances`: as sgc_edges_mark has them. */
void sgc_mark_span_at(struct sgc_marker *marker, size_t offset, const sgc_a8_t *distances);

/* Marks the span that begins with the page. */
void sgc_mark_span(struct sgc_marker *marker, uint32_t page);

enum { SGC_SPANS_MANY = 16 };           /* of those marked together that lead to no small object,
                                         * which make it worth while */

/* Leaves out edges into the first pages of spans that are marked, and sees whether that was worth
 * it.  How many are left. */
size_t sgc_drop_marked_spans(struct sgc_marker *marker, uintptr_t *edge, size_t count);

/* ---- slots ---- */

/* The first granule of the slot, of a page of small objects, in which byte `offset` of the heap
 * lies.  In the page's unused end the result is a slot whose allocation bit is never set. */
SGC_INLINE size_t sgc_slot_granule(const struct sgc_page *d, size_t offset)
{
    return (offset >> SGC_PAGE_LOG) * SGC_PAGE_GRANULES +
           (size_t)sgc_slot_of((uint32_t)offset % SGC_PAGE >> SGC_GRANULE_LOG, d->reciprocal) * d->granules;
}

/* ---- words ---- */

/* Each word is written to the next place of the marker's edges, and the place is kept if it is one:
 * no branch. */
SGC_BLIND SGC_INLINE size_t sgc_edge_append(uintptr_t *edge, size_t n, uintptr_t word, uintptr_t base, uintptr_t limit)
{
    uintptr_t offset = word - base;

    edge[n] = offset;
    return n + (offset < limit);
}

/* Of a word that is not plain, both addresses that it leads to. */
SGC_BLIND SGC_INLINE size_t sgc_edge_append_formed(uintptr_t *edge, size_t n, uintptr_t word, uintptr_t base, uintptr_t limit)
{
    uintptr_t formed = sgc_word_formed(word);

    n = sgc_edge_append(edge, n, formed, base, limit);
    return formed != word ? sgc_edge_append(edge, n, word, base, limit) : n;
}

/* Marks the edges if as many have come together as may wait.  The edges there are then. */
SGC_INLINE size_t sgc_edges_full(struct sgc_marker *marker, size_t n, const sgc_a8_t *distances)
{
    if (n < marker->edges_wait)
        return n;
    sgc_edges_mark(marker, n, distances);
    return 0;
}

/* ---- one at a time ----
 *
 * Of objects that are found one at a time, as in a list, batches would only add latency, and cost
 * more than what is done about one object; so these are followed at once, nothing is prefetched,
 * and the processor guesses the branches. */

enum {
    SGC_CHAIN_FEW = 2,          /* objects in hand that an only marker follows one after the other;
                                 * several only a single one */
    SGC_CHAIN_BYTES = 8 * sizeof(uintptr_t),    /* that each of them may have */
};

/* Are the objects of the batch to be followed so? */
static inline bool sgc_chain_takes(const struct sgc_marker *marker, const struct sgc_batch *batch)
{
    if (batch->count > (marker->how == SGC_MARKBIT_PLAIN ? SGC_CHAIN_FEW : 1))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->object[i].bytes > SGC_CHAIN_BYTES)
            return false;
    return true;
}

/* ---- marked and white objects, a word or a span at a time ----
 *
 * Marked are objects that are still allocated: one that was freed since is looked at by nobody, and
 * no client's procedure is to see it again.  Before a page's descriptor is used its allocation bits
 * are acquired here. */

/* Of the small objects that have their bits in word w, of a page of them: */
SGC_INLINE uintptr_t sgc_marked_objects(const struct sgc_marker *marker, const struct sgc_page *d, size_t w)
{
    uintptr_t marked = sgc_aw_load(&marker->marks[2 * w]);

    if (marked != 0)
        marked &= sgc_aw_load_acq(&marker->allocated[2 * w]);
    if (marked != 0 && sgc_a8_load_acq(&d->remote) != 0)
        marked &= ~sgc_aw_load(&sgc_heap.remote_bits[w]);
    return marked;
}

/* Freed ones by other threads count. */
SGC_INLINE uintptr_t sgc_white_objects(const struct sgc_marker *marker, size_t w)
{
    return sgc_aw_load_acq(&marker->allocated[2 * w]) & ~sgc_aw_load(&marker->marks[2 * w]);
}

/* Is the span that begins with the page allocated, and marked? */
SGC_INLINE bool sgc_span_is_marked(const struct sgc_marker *marker, uint32_t page)
{
    uintptr_t marked = sgc_aw_load(sgc_span_word(page, marker->alloc_role ^ 1));

    return (sgc_aw_load_acq(sgc_span_word(page, marker->alloc_role)) & marked & sgc_arena_bit(page)) != 0;
}

/* ---- scanning words, between the marker's loop and the edges: mark/scan.c ---- */

/* Looks at each word of a piece of the roots: interior pointers always count. */
void sgc_scan_roots(struct sgc_marker *marker, uintptr_t start, size_t bytes);

/* Looks at each aligned word of [start, start+bytes), part of an object. */
void sgc_scan_heap(struct sgc_marker *marker, uintptr_t start, size_t bytes);

enum { SGC_SCAN_PART = 512 };          /* bytes of a large object that are scanned at a time */

/* Scans words of an object; a large range is left on the stack in part, where it can be stolen. */
void sgc_mark_words(struct sgc_marker *marker, uintptr_t start, size_t bytes);

#endif
