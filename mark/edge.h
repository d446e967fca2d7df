/* SPDX-License-Identifier: MIT */
/*
 * From a word to an edge, and from an edge to a mark: the inner loop's two halves.
 *
 * Everything here is for one marker at a time; what several markers write are mark bits and rescan flags.  These
 * functions are inlined with `how` a constant where speed matters: a call for each word would cost as much as the work.
 */
#ifndef SGC_MARK_EDGE_H
#define SGC_MARK_EDGE_H

#include "alloc/pool.h"
#include "alloc/remote.h"
#include "mark/marker.h"

#define SGC_INLINE __attribute__((always_inline)) static inline

/* The page of the object must be looked at again: its words could not be remembered. */
void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t start);

/* Marks the span that byte `offset` of the heap lies in, if it does, at once: what that needs is rarely cold. */
void sgc_mark_span_at(struct sgc_marker *marker, size_t offset);

/* Marks the span that begins with the page. */
void sgc_mark_span(struct sgc_marker *marker, uint32_t page);

/* ---- setting marks ---- */

/* Sets the bit of a mark word that read as `seen`.  False if another marker was faster. */
SGC_INLINE bool sgc_set_mark(sgc_aw_t *mark, uintptr_t seen, uintptr_t bit, enum sgc_markbit how)
{
    if (how == SGC_MARKBIT_PLAIN) {
        sgc_aw_store(mark, seen | bit);
        return true;
    }
    if (how == SGC_MARKBIT_OR)
        return (sgc_aw_or_relaxed(mark, bit) & bit) == 0;
    return how == SGC_MARKBIT_CAS ? sgc_mark_by_cas(mark, bit) : sgc_mark_by_lock(mark, bit);
}

/* An object has just been marked: it is counted, and pushed if it has words to scan. */
SGC_INLINE void sgc_marked(struct sgc_marker *marker, uintptr_t start, size_t bytes, uint32_t kind)
{
    marker->objects++;
    marker->bytes += bytes;
    if (!sgc_kind_has_pointers(kind))
        return;
    if (__builtin_expect(!sgc_deque_push(&marker->stack, start, bytes), 0))
        sgc_mark_overflow(marker, start);
}

/*
 * What the loops over words keep in registers.  `head` is the marker's again after sgc_scan_end.
 */
struct sgc_scan {
    struct sgc_marker *marker;
    uintptr_t base, limit;
    const struct sgc_page *pages;
    sgc_aw_t *bits;             /* those of granule g are in [g / 64 * 2], and the next word */
    uint32_t alloc;             /* which of the two says what is allocated */
    size_t head, mask;          /* of the ring of edges, in bytes */
};

_Static_assert(sizeof(struct sgc_edge) == 16, "places in the ring are found by masks");

SGC_INLINE struct sgc_scan sgc_scan_begin(struct sgc_marker *marker)
{
    return (struct sgc_scan){
        .marker = marker, .base = marker->base, .limit = marker->limit, .pages = sgc_heap.pages,
        .bits = sgc_heap.bits, .alloc = marker->alloc_role, .head = marker->edge_head, .mask = marker->edge_mask,
    };
}

SGC_INLINE void sgc_scan_end(const struct sgc_scan *scan)
{
    scan->marker->edge_head = scan->head;
}

/* The two words with the granule's bits; there is a line for both. */
SGC_INLINE sgc_aw_t *sgc_scan_bits(const struct sgc_scan *scan, size_t granule)
{
    return scan->bits + granule / 64 * 2;
}

/* The place of the ring that begins at the byte. */
SGC_INLINE struct sgc_edge *sgc_scan_place(const struct sgc_scan *scan, size_t byte)
{
    return (struct sgc_edge *)(void *)((char *)scan->marker->edge + byte);
}

/* Marks the small object if it is allocated and not marked yet. */
SGC_INLINE void sgc_edge_mark(const struct sgc_scan *scan, struct sgc_edge edge, enum sgc_markbit how)
{
    sgc_aw_t *bits = sgc_scan_bits(scan, edge.granule);
    sgc_aw_t *mark = &bits[scan->alloc ^ 1];
    uintptr_t marked = sgc_aw_load(mark);
    uintptr_t white = sgc_aw_load(&bits[scan->alloc]) & ~marked;

    if ((white >> (edge.granule % 64) & 1) == 0)
        return;
    if (__builtin_expect(sgc_freed_remotely(edge.page, edge.granule), 0))
        return;
    if (sgc_set_mark(mark, marked, (uintptr_t)1 << (edge.granule % 64), how))
        sgc_marked(scan->marker, scan->base + edge.granule * SGC_GRANULE, (size_t)edge.page->granules * SGC_GRANULE,
                   edge.page->kind);
}

/* ---- from a word to an edge ---- */

/* The slot of a page of small objects in which byte `offset` of the heap lies.  In the page's unused end the result
 * is a slot whose allocation bit is never set. */
SGC_INLINE struct sgc_edge sgc_edge_small(const struct sgc_page *d, size_t offset)
{
    uint32_t g = (uint32_t)offset % SGC_PAGE >> SGC_GRANULE_LOG;
    size_t start = (size_t)sgc_slot_of(g, d->reciprocal) * d->granules;

    return (struct sgc_edge){ (offset >> SGC_PAGE_LOG) * SGC_PAGE_GRANULES + start, d };
}

/*
 * The buffer of edges that wait for their mark words is a ring.  Those that wait are the `edge_count` places
 * before `head`, the others have no page; so a place that is full when a new edge comes is the oldest.
 */

/* Marks what waited longest. */
SGC_INLINE void sgc_edge_take_oldest(const struct sgc_scan *scan, enum sgc_markbit how)
{
    struct sgc_marker *marker = scan->marker;
    struct sgc_edge *place = sgc_scan_place(scan, (scan->head - marker->edge_count * sizeof *place) & scan->mask);
    struct sgc_edge edge = *place;

    place->page = NULL;
    marker->edge_count--;
    sgc_edge_mark(scan, edge, how);
}

/* Lets the edge wait; the one in its place makes room. */
SGC_INLINE void sgc_edge_wait(struct sgc_scan *scan, struct sgc_edge edge, enum sgc_markbit how)
{
    struct sgc_edge *place = sgc_scan_place(scan, scan->head);
    struct sgc_edge oldest = *place;

    __builtin_prefetch(sgc_scan_bits(scan, edge.granule), 1);
    *place = edge;
    scan->head = (scan->head + sizeof *place) & scan->mask;
    if (__builtin_expect(oldest.page != NULL, 1))
        sgc_edge_mark(scan, oldest, how);
    else
        scan->marker->edge_count++;
}

/* Byte `offset` of the heap is pointed at.  `waits`: edges wait; constant where speed matters, like `how`. */
SGC_INLINE void sgc_edge_add(struct sgc_scan *scan, size_t offset, enum sgc_markbit how, bool waits)
{
    const struct sgc_page *d = &scan->pages[offset >> SGC_PAGE_LOG];

    if (__builtin_expect(sgc_page_state(d) != SGC_PAGE_SMALL, 0))
        sgc_mark_span_at(scan->marker, offset);
    else if (waits)
        sgc_edge_wait(scan, sgc_edge_small(d, offset), how);
    else
        sgc_edge_mark(scan, sgc_edge_small(d, offset), how);
}

/* ---- words ---- */

/* These loops read memory that was never meant for them (other functions' stack frames, the gaps between
 * variables), so sanitizers are told to look away, here and in the functions that they are inlined into.  What
 * synchronises with other markers is called, not inlined. */
#define SGC_BLIND __attribute__((no_sanitize("address", "thread", "undefined")))

SGC_BLIND SGC_INLINE void sgc_scan_word(struct sgc_scan *scan, const uintptr_t *p, enum sgc_markbit how, bool waits)
{
    size_t offset = *p - scan->base;

    if (offset < scan->limit)
        sgc_edge_add(scan, offset, how, waits);
}

/* Two words at a time: an object has an even number. */
SGC_BLIND SGC_INLINE void sgc_scan_granules(struct sgc_scan *scan, const uintptr_t *p, const uintptr_t *end,
                                            enum sgc_markbit how, bool waits)
{
    for (; p < end; p += 2) {
        sgc_scan_word(scan, p, how, waits);
        sgc_scan_word(scan, p + 1, how, waits);
    }
}

SGC_INLINE bool sgc_edges_wait(const struct sgc_marker *marker)
{
    return marker->edge_mask != SGC_EDGES_NONE;
}

#endif
