/* SPDX-License-Identifier: MIT */
/*
 * Where marking begins: see mark/mark_roots.h.  On any marker.
 *
 * From written OS pages to marked objects all is done a page at a time: an object of a page of
 * small ones lies in it wholly, and each page of a span leads to its first.  A page's written OS
 * pages are the bits of a word, 16 at most.
 */
#include "mark/mark_roots.h"

#include "alloc/large/span.h"
#include "mark/descriptor.h"
#include "mark/edge.h"
#include "mark/noted.h"
#include "platform/faults.h"

/* ---- roots ---- */

/* Gives the team a range that is larger than a piece, as work like any other; without stealing,
 * every range.  False: the caller scans it. */
static bool leave_to_team(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    return marker->team != NULL && marker->ask->wants_roots(marker, bytes) &&
           marker->ask->give_roots(marker, start, bytes);
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

/* If there is no room for it, it is scanned on the spot: its page cannot be flagged, since it is
 * not marked. */
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
    while (from < end && sgc_address_at(from) - start >= bytes)
        from += sizeof from;
    return from;
}

struct self {
    uintptr_t start;
    size_t bytes;
};

SGC_BLIND static void note_other(void *arg, uintptr_t at)
{
    const struct self *self = arg;
    uintptr_t word = sgc_address_at(at);

    sgc_assert(at % sizeof at == 0 && at - self->start < self->bytes);
    if (word - self->start >= self->bytes)
        sgc_note(SGC_NOTED_WORD, word);
}

/* Notes all words of an object but those that point into it. */
static void note_all_but_self(uintptr_t start, size_t bytes)
{
    struct self self = { start, bytes };

    sgc_assert(sgc_noting());
    sgc_futex_lock(&sgc_noted_lock);
    sgc_note(SGC_NOTED_OBJECT, start);
    sgc_visit_pushed(start, bytes, note_other, &self);
    sgc_note(SGC_NOTED_END, start);
    sgc_futex_unlock(&sgc_noted_lock);
}

/* The object is scanned without its descriptor, so the heap does not show which words count: notes
 * them. */
static void note_contents_but_self(uintptr_t start, size_t bytes)
{
    sgc_note_alone(SGC_NOTED_CONTENTS, start);
    if (sgc_kind_at(start)->scan == SGC_SCAN_DESCRIBED)
        note_all_but_self(start, bytes);
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

/* ---- written pages ---- */

static uint32_t os_pages(void)
{
    return SGC_PAGE / (uint32_t)sgc_heap.os_page;
}

/* The bits of the OS pages that the bytes [from, to) of a page lie on. */
static uint32_t os_pages_of(size_t from, size_t to)
{
    uint32_t log = (uint32_t)__builtin_ctzll(sgc_heap.os_page);

    sgc_assert(from < to && to <= SGC_PAGE);
    return (UINT32_C(2) << ((to - 1) >> log)) - (UINT32_C(1) << (from >> log));
}

/* Takes the lowest run of set bits out of a word: the first, and the first behind it. */
static void next_run(uint32_t *bits, uint32_t *first, uint32_t *end)
{
    sgc_assert(*bits != 0);
    *first = (uint32_t)__builtin_ctz(*bits);
    *end = *first + (uint32_t)__builtin_ctz(~(*bits >> *first));
    *bits &= ~((UINT32_C(1) << *end) - 1);
}

/* ---- written pages: small objects ---- */

/* Of one page.  Neighbours that are scanned word by word become one piece. */
struct rescan {
    struct sgc_marker *marker;
    const struct sgc_page *d;
    uint32_t written;           /* its OS pages, and */
    uint32_t hit;               /* those on which there is something */
    uintptr_t start, end;       /* of a piece, if they differ */
};

static void push_piece(struct rescan *rescan)
{
    sgc_assert(rescan->start <= rescan->end);
    if (rescan->start != rescan->end)
        sgc_push_piece(rescan->marker, rescan->start, rescan->end - rescan->start);
    rescan->start = rescan->end = 0;
}

static void add_object(struct rescan *rescan, size_t granule)
{
    size_t bytes = (size_t)rescan->d->granules * SGC_GRANULE, inside = granule % SGC_PAGE_GRANULES * SGC_GRANULE;
    uintptr_t start = (uintptr_t)sgc_granule_address(granule);

    sgc_assert(inside + bytes <= SGC_PAGE);
    rescan->hit |= os_pages_of(inside, inside + bytes) & rescan->written;
    if (rescan->d->piece != 0) {
        sgc_push_piece(rescan->marker, start + rescan->d->piece, bytes);
        return;
    }
    if (start != rescan->end) {
        push_piece(rescan);
        rescan->start = start;
    }
    rescan->end = start + bytes;
}

/* The bits of a mark word whose granules lie in [from, to). */
static uintptr_t bits_within(size_t w, size_t from, size_t to)
{
    uintptr_t bits = UINTPTR_MAX;

    sgc_assert(from < (w + 1) * 64 && to > w * 64);
    if (from > w * 64)
        bits &= UINTPTR_MAX << (from - w * 64);
    if (to < (w + 1) * 64)
        bits &= ~(UINTPTR_MAX << (to - w * 64));
    return bits;
}

/* Objects that begin at granules [from, to) of the heap. */
static void rescan_between(struct rescan *rescan, size_t from, size_t to)
{
    for (size_t w = from / 64; w * 64 < to; w++) {
        uintptr_t bits = sgc_marked_objects(rescan->marker, rescan->d, w) & bits_within(w, from, to);

        for (; bits != 0; bits &= bits - 1)
            add_object(rescan, w * 64 + (size_t)__builtin_ctzll(bits));
    }
}

/* The object in which a run of OS pages begins reaches in from before, and may be the last one of
 * the run before that. */
static uint32_t push_small(struct sgc_marker *marker, uint32_t page, uint32_t written)
{
    struct rescan rescan = { .marker = marker, .d = &sgc_heap.pages[page], .written = written };
    size_t done = 0;

    if (!sgc_kind_has_pointers(rescan.d->kind))
        return 0;
    while (written != 0) {
        size_t offset = (size_t)page * SGC_PAGE, from;
        uint32_t first, end;

        next_run(&written, &first, &end);
        from = sgc_slot_granule(rescan.d, offset + first * sgc_heap.os_page);
        rescan_between(&rescan, from > done ? from : done, (offset + end * sgc_heap.os_page) / SGC_GRANULE);
        done = (offset + end * sgc_heap.os_page) / SGC_GRANULE;
    }
    push_piece(&rescan);
    return (uint32_t)__builtin_popcount(rescan.hit);
}

/* ---- written pages: large objects ---- */

/* The words of a span on those OS pages of one of its pages; the object ends `bytes` behind where
 * the page begins. */
static void push_parts(struct sgc_marker *marker, uintptr_t start, size_t bytes, uint32_t written)
{
    while (written != 0) {
        uint32_t first, end;
        size_t from, to;

        next_run(&written, &first, &end);
        from = first * sgc_heap.os_page;
        to = end * sgc_heap.os_page;
        sgc_assert(from < bytes);
        sgc_push_piece(marker, start + from, (to < bytes ? to : bytes) - from);
    }
}

/* *whole: the span that was pushed as a whole just before. */
static uint32_t push_span(struct sgc_marker *marker, uint32_t page, uint32_t written, uint32_t *whole)
{
    uint32_t first = sgc_span_first_page(page), scan;
    size_t before = (size_t)(page - first) * SGC_PAGE, bytes, here;

    if (first == SGC_NO_PAGE || !sgc_span_is_marked(marker, first))
        return 0;
    scan = sgc_kinds.of[sgc_page_kind_now(&sgc_heap.pages[first])].scan;
    bytes = sgc_span_bytes(first);
    if (scan == SGC_SCAN_NOTHING || bytes <= before)
        return 0;
    here = bytes - before < SGC_PAGE ? bytes - before : SGC_PAGE;
    written &= os_pages_of(0, here);
    if (written != 0 && scan == SGC_SCAN_WORDS)
        push_parts(marker, sgc_page_start(page), here, written);
    else if (written != 0 && *whole != first)
        sgc_push_piece(marker, sgc_page_start(first) | sgc_piece_of(scan), bytes);
    if (written != 0)
        *whole = first;
    return (uint32_t)__builtin_popcount(written);
}

/* ---- written pages: an arena ---- */

/* Those of its n-th page. */
static uint32_t written_of(const uint64_t *written, uint32_t n)
{
    uint32_t count = os_pages(), at = n * count;

    sgc_assert(count >= 1 && count <= 16 && 64 % count == 0);
    return (uint32_t)(written[at / 64] >> at % 64) & ((UINT32_C(1) << count) - 1);
}

/* A planted fault: the same OS page of each 1000. */
static uint32_t skip_one(uint32_t page, uint32_t written)
{
    uint32_t skipped = (1000 - page * os_pages() % 1000) % 1000;

    return sgc_fault(SGC_FAULT_SKIPPED_PAGE) && skipped < os_pages() ? written & ~(UINT32_C(1) << skipped) : written;
}

uint32_t sgc_mark_written(struct sgc_marker *marker, uint32_t arena, const uint64_t *written)
{
    uint32_t whole = SGC_NO_PAGE, found = 0;

    sgc_assert(sgc_marker_marks(marker));
    if (arena >= sgc_marker_arenas(marker))
        return 0;
    for (uint32_t n = 0; n < SGC_ARENA_PAGES; n++) {
        uint32_t page = arena * SGC_ARENA_PAGES + n, bits = skip_one(page, written_of(written, n));

        if (bits == 0)
            continue;
        if (sgc_page_state(&sgc_heap.pages[page]) == SGC_PAGE_SMALL)
            found += push_small(marker, page, bits);
        else
            found += push_span(marker, page, bits, &whole);
    }
    return found;
}
