/* SPDX-License-Identifier: MIT */
/*
 * From a word to an edge, and from an edge to a mark: the inner loop's two halves.
 */
#ifndef SGC_MARK_EDGE_H
#define SGC_MARK_EDGE_H

#include "alloc/pool.h"
#include "alloc/remote.h"
#include "mark/marker.h"

/* The page of the object must be looked at again: its words could not be remembered. */
void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t start);

/* The slot of a small page that holds byte `offset` of the heap; false in the page's unused end. */
static inline bool sgc_edge_small(const struct sgc_page *d, size_t offset, struct sgc_edge *edge)
{
    uint32_t g = (uint32_t)(offset % SGC_PAGE) >> SGC_GRANULE_LOG;
    uint32_t start = sgc_slot_of(g, d->reciprocal) * d->granules;

    if (start + d->granules > SGC_PAGE_GRANULES)
        return false;
    edge->granule = (offset >> SGC_PAGE_LOG) * SGC_PAGE_GRANULES + start;
    edge->bytes = (size_t)d->granules * SGC_GRANULE;
    edge->page = d;
    return true;
}

static inline bool sgc_edge_span(uint32_t page, size_t offset, struct sgc_edge *edge)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    size_t bytes;

    if (sgc_page_state(d) == SGC_PAGE_SPAN_TAIL) {
        page -= d->back;
        d = &sgc_heap.pages[page];
    }
    if (sgc_page_state(d) != SGC_PAGE_SPAN)
        return false;
    bytes = sgc_aw_load(&sgc_heap.records[page].span_bytes);
    edge->granule = sgc_page_first_granule(page);
    edge->bytes = bytes;
    edge->page = d;
    return offset - (size_t)page * SGC_PAGE < sgc_aw_load(&sgc_heap.records[page].span_reach);
}

/* The slot that byte `offset` of the heap lies in. */
static inline bool sgc_edge_find(size_t offset, struct sgc_edge *edge)
{
    uint32_t page = (uint32_t)(offset >> SGC_PAGE_LOG);
    const struct sgc_page *d = &sgc_heap.pages[page];

    if (__builtin_expect(sgc_page_state(d) == SGC_PAGE_SMALL, 1))
        return sgc_edge_small(d, offset, edge);
    return sgc_edge_span(page, offset, edge);
}

static inline void sgc_edge_prefetch(const struct sgc_edge *edge)
{
    __builtin_prefetch(&sgc_heap.bits[edge->granule / 64 * 2], 1);
}

/* Marks the object if it is allocated and not marked yet; a new grey object is pushed. */
static inline void sgc_edge_mark(struct sgc_marker *marker, const struct sgc_edge *edge)
{
    size_t granule = edge->granule;
    uintptr_t bit = sgc_bit_mask(granule);
    sgc_aw_t *alloc = sgc_bits_word(granule / 64, marker->alloc_role);
    sgc_aw_t *mark = sgc_bits_word(granule / 64, marker->alloc_role ^ 1);
    uintptr_t marked = sgc_aw_load(mark);
    uintptr_t start;

    if ((sgc_aw_load(alloc) & ~marked & bit) == 0)
        return;
    if (__builtin_expect(sgc_freed_remotely(edge->page, granule), 0))
        return;
    sgc_aw_store(mark, marked | bit);
    marker->objects++;
    marker->bytes += edge->bytes;
    if (!sgc_kind_has_pointers(edge->page->kind))
        return;
    start = marker->base + granule * SGC_GRANULE;
    __builtin_prefetch((const void *)start);
    if (!sgc_work_push(&marker->stack, start, edge->bytes))
        sgc_mark_overflow(marker, start);
}

static inline void sgc_edge_take_oldest(struct sgc_marker *marker)
{
    struct sgc_edge *edge = &marker->edge[marker->edge_first];

    marker->edge_first = (marker->edge_first + 1) % SGC_EDGES_MAX;
    marker->edge_count--;
    sgc_edge_mark(marker, edge);
}

/* Lets the edge wait for its mark word; the one that waited longest makes room. */
static inline void sgc_edge_add(struct sgc_marker *marker, const struct sgc_edge *edge)
{
    if (marker->edges == 0) {
        sgc_edge_mark(marker, edge);
        return;
    }
    sgc_edge_prefetch(edge);
    if (marker->edge_count == marker->edges)
        sgc_edge_take_oldest(marker);
    marker->edge[(marker->edge_first + marker->edge_count++) % SGC_EDGES_MAX] = *edge;
}

#endif
