/* SPDX-License-Identifier: MIT */
/*
 * Marking large objects.  On any marker.
 *
 * While the world runs a page that has no object may be set up or taken down at any moment by a thread that has it in hand.
 * So states and the fields of tails are read once each, and nothing is asserted about a span before its allocation bit is seen,
 * which is the last to be set.
 */
#include "mark/edge.h"

#include "alloc/large/span.h"
#include "mark/displacements.h"

void sgc_mark_span(struct sgc_marker *marker, uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uintptr_t bit = sgc_arena_bit(page);
    sgc_aw_t *mark = sgc_span_word(page, marker->alloc_role ^ 1);
    uintptr_t marked = sgc_aw_load(mark);

    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, (uintptr_t)page * SGC_PAGE));
    if ((sgc_aw_load_acq(sgc_span_word(page, marker->alloc_role)) & ~marked & bit) == 0)
        return;
    sgc_assert(sgc_page_state(d) == SGC_PAGE_SPAN);
    if (sgc_set_marks(mark, marked, bit, marker->how) != 0)
        sgc_marked(marker, sgc_page_start(page), sgc_aw_load(&d->span_bytes), sgc_page_kind_now(d));
}

/* Whether an edge would count does not matter where nothing is left to mark.  The bits of a gigabyte of spans are 4 KB; the
 * mark words of their first granules, which the edges would be looked up in otherwise, are far apart, and often by the same
 * distance, so that a cache has few places for them. */
size_t sgc_drop_marked_spans(struct sgc_marker *marker, uintptr_t *edge, size_t count)
{
    uint32_t role = marker->alloc_role ^ 1;
    size_t left = 0;

    sgc_assert(sgc_marker_marks(marker));
    for (size_t i = 0; i < count; i++) {
        uint32_t page = (uint32_t)(edge[i] >> SGC_PAGE_LOG);

        edge[left] = edge[i];
        left += (sgc_aw_load(sgc_span_word(page, role)) & sgc_arena_bit(page)) == 0;
    }
    marker->drops_marked_spans = count - left >= SGC_SPANS_MANY;
    return left;
}

/* Some objects are kept only by words that point near their beginning. */
static bool reached(const struct sgc_page *d, size_t inside)
{
    if (inside >= sgc_aw_load(&d->span_bytes))
        return false;
    return !sgc_span_limited(d) || inside < sgc_aw_load(&d->span_reach);
}

/* `back` shares its place with `bin`: a page that is no tail any more has that there. */
uint32_t sgc_span_first_page(uint32_t page)
{
    const struct sgc_page *d = &sgc_heap.pages[page];
    uint8_t state = sgc_page_state(d);
    uint32_t back = state == SGC_PAGE_SPAN_TAIL ? sgc_page_back(d) : 0;

    if ((state != SGC_PAGE_SPAN && back == 0) || back >= page)
        return SGC_NO_PAGE;
    return back == 0 || sgc_page_state(d - back) == SGC_PAGE_SPAN ? page - back : SGC_NO_PAGE;
}

void sgc_mark_span_at(struct sgc_marker *marker, size_t offset, const sgc_a8_t *distances)
{
    uint32_t page = sgc_span_first_page((uint32_t)(offset >> SGC_PAGE_LOG));
    size_t inside = offset - (size_t)page * SGC_PAGE;

    sgc_assert(sgc_marker_marks(marker) && sgc_edge_ok(marker, offset));
    if (page != SGC_NO_PAGE && reached(&sgc_heap.pages[page], inside) &&
        (sgc_distance_counts(distances, inside) || sgc_inside_counts(sgc_page_start(page), inside)))
        sgc_mark_span(marker, page);
}
