/* SPDX-License-Identifier: MIT */
/*
 * From a word to an edge, and from an edge to a mark: the inner loop's two halves.
 */
#ifndef SGC_MARK_EDGE_H
#define SGC_MARK_EDGE_H

#include "alloc/pool.h"
#include "alloc/remote.h"
#include "alloc/span.h"
#include "mark/marker.h"

/* The inner loop: a call for each word would cost as much as the work. */
#define SGC_INLINE __attribute__((always_inline)) static inline

/* The page of the object must be looked at again: its words could not be remembered. */
void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t start);

/* The slot of a small page that begins with the granule (counted through the heap). */
SGC_INLINE void sgc_edge_small_at(const struct sgc_page *d, size_t granule, struct sgc_edge *edge)
{
    *edge = (struct sgc_edge){
        .start = sgc_heap.base + granule * SGC_GRANULE,
        .bytes = (size_t)d->granules * SGC_GRANULE,
        .bits = sgc_bits_word(granule / 64, 0),
        .bit = granule % 64,
        .kind = d->kind,
        .remote = sgc_a8_load(&d->remote) != 0,
    };
}

/* The slot of a small page that holds byte `offset` of the heap; false in the page's unused end. */
SGC_INLINE bool sgc_edge_small(const struct sgc_page *d, size_t offset, struct sgc_edge *edge)
{
    uint32_t g = (uint32_t)(offset % SGC_PAGE) >> SGC_GRANULE_LOG;
    uint32_t start = sgc_slot_of(g, d->reciprocal) * d->granules;

    if (start + d->granules > SGC_PAGE_GRANULES)
        return false;
    sgc_edge_small_at(d, (offset >> SGC_PAGE_LOG) * SGC_PAGE_GRANULES + start, edge);
    return true;
}

SGC_INLINE bool sgc_span_reached(const struct sgc_page *d, uint32_t page, size_t inside)
{
    if (inside >= sgc_aw_load(&d->span_bytes))
        return false;
    return !d->limited || inside < sgc_aw_load(&sgc_heap.records[page].span_reach);
}

/* What a word that points into the first page of a span or into another of its pages stands for. */
static inline bool sgc_edge_span(uint32_t page, size_t offset, struct sgc_edge *edge)
{
    const struct sgc_page *d = &sgc_heap.pages[page];

    if (sgc_page_state(d) == SGC_PAGE_SPAN_TAIL) {
        page -= d->back;
        d = &sgc_heap.pages[page];
    }
    if (sgc_page_state(d) != SGC_PAGE_SPAN)
        return false;
    *edge = (struct sgc_edge){
        .start = sgc_page_start(page),
        .bytes = sgc_aw_load(&d->span_bytes),
        .bits = sgc_span_word(page, 0),
        .bit = page % SGC_ARENA_PAGES,
        .kind = d->kind,
    };
    return sgc_span_reached(d, page, offset - (size_t)page * SGC_PAGE);
}

/* The slot that byte `offset` of the heap lies in. */
SGC_INLINE bool sgc_edge_find(size_t offset, struct sgc_edge *edge)
{
    uint32_t page = (uint32_t)(offset >> SGC_PAGE_LOG);
    const struct sgc_page *d = &sgc_heap.pages[page];

    if (__builtin_expect(sgc_page_state(d) == SGC_PAGE_SMALL, 1))
        return sgc_edge_small(d, offset, edge);
    return sgc_edge_span(page, offset, edge);
}

/* What looking up byte `offset` of the heap will read. */
SGC_INLINE void sgc_edge_prefetch_page(size_t offset)
{
    __builtin_prefetch(&sgc_heap.pages[offset >> SGC_PAGE_LOG]);
}

SGC_INLINE void sgc_edge_prefetch(const struct sgc_edge *edge)
{
    __builtin_prefetch(edge->bits, 1);
}

/* Marks the object if it is allocated and not marked yet; a new grey object is pushed. */
SGC_INLINE void sgc_edge_mark(struct sgc_marker *marker, const struct sgc_edge *edge)
{
    uintptr_t bit = (uintptr_t)1 << edge->bit;
    sgc_aw_t *mark = &edge->bits[marker->alloc_role ^ 1];
    uintptr_t marked = sgc_aw_load(mark);

    if ((sgc_aw_load(&edge->bits[marker->alloc_role]) & ~marked & bit) == 0)
        return;
    if (__builtin_expect(edge->remote, 0) && sgc_remote_bit(sgc_granule_number(edge->start)))
        return;
    sgc_aw_store(mark, marked | bit);
    marker->objects++;
    marker->bytes += edge->bytes;
    if (!sgc_kind_has_pointers(edge->kind))
        return;
    __builtin_prefetch((const void *)edge->start);
    if (!sgc_work_push(&marker->stack, edge->start, edge->bytes))
        sgc_mark_overflow(marker, edge->start);
}

SGC_INLINE void sgc_edge_take_oldest(struct sgc_marker *marker)
{
    struct sgc_edge *edge = &marker->edge[marker->edge_first];

    marker->edge_first = (marker->edge_first + 1) % SGC_EDGES_MAX;
    marker->edge_count--;
    sgc_edge_mark(marker, edge);
}

/* Byte `offset` of the heap is pointed at.  If that is an object, its edge waits for its mark word; the one that
 * waited longest makes room.  The edge is written where it will wait. */
SGC_INLINE void sgc_edge_add(struct sgc_marker *marker, size_t offset)
{
    struct sgc_edge *edge;

    if (marker->edge_count == marker->edges && marker->edges != 0)
        sgc_edge_take_oldest(marker);
    edge = &marker->edge[(marker->edge_first + marker->edge_count) % SGC_EDGES_MAX];
    if (!sgc_edge_find(offset, edge))
        return;
    if (marker->edges == 0) {
        sgc_edge_mark(marker, edge);
        return;
    }
    sgc_edge_prefetch(edge);
    marker->edge_count++;
}

#endif
