/* SPDX-License-Identifier: MIT */
/* See mark/mark_roots.h. */
#include "mark/mark_roots.h"

#include "mark/descriptor.h"
#include "mark/edge.h"
#include "mark/noted.h"
#include "mark/scan.h"
#include "mark/team_state.h"

/* ---- roots ---- */

/* Gives the team a range that is larger than a piece, as work like any other; without stealing,
 * every range.  False: the caller scans it. */
static bool leave_to_team(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    return marker->team != NULL && sgc_team_wants_roots(marker, bytes) && sgc_team_give_roots(marker, start, bytes);
}

/* like_heap: its words count as those of the heap do. */
static void mark_range(struct sgc_marker *marker, const void *lo, const void *hi, bool like_heap, bool now)
{
    uintptr_t start = sgc_round_up((uintptr_t)lo, sizeof start);
    uintptr_t end = sgc_round_down((uintptr_t)hi, sizeof end);

    sgc_assert(sgc_marker_marks(marker));
    if (start >= end)
        return;
    marker->root_bytes += end - start;
    if (!now && leave_to_team(marker, start | (like_heap ? SGC_WORK_HEAP : SGC_WORK_ROOTS), end - start))
        return;
    if (like_heap)
        sgc_scan_heap(marker, start, end - start);
    else
        sgc_scan_roots(marker, start, end - start);
}

void sgc_mark_roots(struct sgc_marker *marker, const void *lo, const void *hi)
{
    mark_range(marker, lo, hi, false, false);
}

void sgc_mark_roots_now(struct sgc_marker *marker, const void *lo, const void *hi)
{
    mark_range(marker, lo, hi, false, true);
}

/* Static data is looked at like the heap, where interior pointers matter less than on stacks. */
void sgc_mark_static(struct sgc_marker *marker, const void *lo, const void *hi)
{
    mark_range(marker, lo, hi, marker->distances != NULL, false);
}

/* ---- contents ---- */

/* If there is no room for it, it is scanned on the spot: its page cannot be flagged, since it is not marked. */
void sgc_mark_contents(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    uint32_t scan = sgc_kinds.of[sgc_heap.pages[sgc_page_number(start)].kind].scan;

    sgc_assert(sgc_marker_marks(marker) && sgc_heap_contains(start) && bytes != 0);
    if (sgc_noting())
        sgc_note_alone(SGC_NOTED_CONTENTS, start);
    if (!sgc_deque_push(&marker->stack, start | sgc_piece_of(scan), bytes))
        sgc_scan_object(marker, start, bytes);
}

/* The first word that points at the object that it is in; else the end. */
SGC_BLIND static uintptr_t find_self(uintptr_t from, uintptr_t end, uintptr_t start, size_t bytes)
{
    while (from < end && sgc_read_once(from) - start >= bytes)
        from += sizeof from;
    return from;
}

/* The object is scanned without its descriptor, so the heap does not show which words count: notes
 * them. */
static void note_contents_but_self(uintptr_t start, size_t bytes)
{
    sgc_note_alone(SGC_NOTED_CONTENTS, start);
    if (sgc_kind_at(start)->scan == SGC_SCAN_DESCRIBED)
        sgc_note_all_but_self(start, bytes);
}

/* In stretches without such pointers. */
void sgc_mark_contents_but_self(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    uintptr_t end = start + bytes;

    sgc_assert(sgc_marker_marks(marker) && sgc_heap_contains(start) && bytes % sizeof(uintptr_t) == 0);
    if (sgc_noting())
        note_contents_but_self(start, bytes);
    for (uintptr_t from = start; from < end;) {
        uintptr_t self = find_self(from, end, start, bytes);

        sgc_scan_heap(marker, from, self - from);
        from = self + sizeof from;
    }
}

void sgc_mark_address(struct sgc_marker *marker, uintptr_t address)
{
    sgc_assert(sgc_marker_marks(marker));
    if (sgc_edge_append(marker->edge, 0, address, marker->base, marker->limit) != 0)
        sgc_edges_mark(marker, 1, NULL);
}
