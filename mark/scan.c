/* SPDX-License-Identifier: MIT */
/*
 * Scanning words.  On a marker, world stopped.
 */
#include "mark/scan.h"

#include "mark/descriptor.h"
#include "mark/edge.h"
#include "mark/team.h"
#include "platform/platform.h"

/* Bytes whose edges are collected without a look at how many there are. */
enum { AT_ONCE = 2048 };

_Static_assert(SGC_EDGES_MAX + AT_ONCE / sizeof(uintptr_t) + SGC_WORDS_BEYOND <=
               sizeof ((struct sgc_marker *)0)->edge / sizeof(uintptr_t), "there is room for them");

/* One byte a distance, in memory of its own: made when a client registers the first, or for the first marker if it needs
 * it, published by a release and read with acquire; bytes only ever become 1. */
SGC_STATE static sgc_aw_t displacements;

static sgc_a8_t *displacement_table(void)
{
    return (sgc_a8_t *)sgc_aw_load_acq(&displacements);
}

static sgc_a8_t *make_displacement_table(void)
{
    sgc_a8_t *table = sgc_mem_obtain(SGC_PAGE);

    if (table == NULL)
        return NULL;
    sgc_a8_store(&table[0], 1);
    if (!sgc_aw_cas(&displacements, 0, (uintptr_t)table))
        sgc_mem_release(table, SGC_PAGE);
    return displacement_table();
}

void sgc_mark_displacement(size_t distance)
{
    sgc_a8_t *table = displacement_table();

    if (distance == 0 || distance >= SGC_PAGE)
        return;
    if (table == NULL)
        table = make_displacement_table();
    if (table == NULL)
        sgc_warn("no memory to register the displacement %zu; pointers that far inside an object do "
                 "not keep it. Free memory and register it again", distance);
    else
        sgc_a8_store(&table[distance], 1);
}

const sgc_a8_t *sgc_mark_displacements(void)
{
    const sgc_a8_t *table = displacement_table();

    return table != NULL ? table : make_displacement_table();
}

bool sgc_mark_displacement_valid(size_t distance)
{
    const sgc_a8_t *table = displacement_table();

    return distance == 0 ||
           (table != NULL && distance < SGC_PAGE && sgc_a8_load(&table[distance]) != 0);
}

/* ---- loops ---- */

static void finish(struct sgc_marker *marker, size_t n, const sgc_a8_t *distances)
{
    if (n != 0)
        sgc_edges_mark(marker, n, distances);
}

static void scan_any(struct sgc_marker *marker, uintptr_t start, size_t bytes, const sgc_a8_t *distances)
{
    size_t n = 0;

    while (bytes != 0) {
        struct sgc_words some = { start, bytes < AT_ONCE ? bytes : AT_ONCE };

        n += marker->collect(marker->edge + n, &some, 1, marker->base, marker->limit);
        n = sgc_edges_full(marker, n, distances);
        sgc_marker_answers(marker);
        start += some.bytes;
        bytes -= some.bytes;
    }
    finish(marker, n, distances);
}

/* Without the end byte a word that equals an object's start may also mean the end of the one
 * before. */
SGC_BLIND static size_t collect_ends(struct sgc_marker *marker, size_t n, const uintptr_t *p, const uintptr_t *end)
{
    for (; p < end; p++) {
        uintptr_t word = *p;

        n = sgc_collect(marker->edge, n, word, marker->base, marker->limit);
        if (word % SGC_GRANULE == 0)
            n = sgc_collect(marker->edge, n, word - 1, marker->base, marker->limit);
        n = sgc_edges_full(marker, n, NULL);
    }
    return n;
}

static void scan_ends(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    size_t n = 0;

    for (const uintptr_t *next; p < end; p = next) {
        next = (size_t)(end - p) < AT_ONCE / sizeof *p ? end : p + AT_ONCE / sizeof *p;
        n = collect_ends(marker, n, p, next);
        sgc_marker_answers(marker);
    }
    finish(marker, n, NULL);
}

/* ---- pieces ---- */

enum { MANY_EDGES = SGC_EDGES_MAX + SGC_COLLECT_WORDS - 64 };     /* with more there is no room for those of a bitmap */

/* Of one object, the words before `end` whose bits are set.  They go behind the n edges collected before, for which there
 * must be room: the result is what to pass next time. */
SGC_BLIND static size_t collect_bits(struct sgc_marker *marker, size_t n, const uintptr_t *p, const uintptr_t *end, uintptr_t bits)
{
    for (; bits != 0 && p < end; bits <<= 1, p++) {
        if (bits >> 63 != 0)
            n = sgc_collect(marker->edge, n, *p, marker->base, marker->limit);
    }
    if (n <= MANY_EDGES)
        return n;
    finish(marker, n, marker->distances);
    return 0;
}

void sgc_scan_bitmap(struct sgc_marker *marker, uintptr_t start, uintptr_t end, uintptr_t bits)
{
    finish(marker, collect_bits(marker, 0, (const uintptr_t *)start, (const uintptr_t *)end, bits), marker->distances);
}

void sgc_scan_bitmaps(struct sgc_marker *marker, uintptr_t start, uintptr_t end, size_t stride, uintptr_t bits)
{
    size_t n = 0;

    for (uintptr_t at = start; at < end; at += stride) {
        n = collect_bits(marker, n, (const uintptr_t *)at, (const uintptr_t *)(at + stride), bits);
        sgc_marker_answers(marker);
    }
    finish(marker, n, marker->distances);
}

void sgc_scan_heap(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    scan_any(marker, start, bytes, marker->distances);
}

void sgc_scan_roots(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    const uintptr_t *p = (const uintptr_t *)start;
    const uintptr_t *end = p + bytes / sizeof *p;

    if (marker->end_word)
        scan_ends(marker, p, end);
    else
        scan_any(marker, start, bytes, NULL);
}

/* ---- roots ---- */

/* What is larger than a piece is work like any other; without stealing, everything has to be dealt out. */
static bool leave_to_team(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    return marker->team != NULL && sgc_team_wants_roots(marker, bytes) && sgc_team_give_roots(marker, start, bytes);
}

static void mark_roots(struct sgc_marker *marker, const void *lo, const void *hi, bool now)
{
    uintptr_t start = sgc_round_up((uintptr_t)lo, sizeof start);
    uintptr_t end = sgc_round_down((uintptr_t)hi, sizeof end);

    if (start >= end)
        return;
    marker->root_bytes += end - start;
    if (now || !leave_to_team(marker, start | SGC_WORK_ROOTS, end - start))
        sgc_scan_roots(marker, start, end - start);
    sgc_marker_goes_out(marker);
}

void sgc_mark_roots(struct sgc_marker *marker, const void *lo, const void *hi)
{
    mark_roots(marker, lo, hi, false);
}

void sgc_mark_roots_now(struct sgc_marker *marker, const void *lo, const void *hi)
{
    mark_roots(marker, lo, hi, true);
}

/* Static data is looked at like the heap, where interior pointers matter less than on stacks. */
void sgc_mark_static(struct sgc_marker *marker, const void *lo, const void *hi)
{
    uintptr_t start = sgc_round_up((uintptr_t)lo, sizeof(uintptr_t));
    uintptr_t end = sgc_round_down((uintptr_t)hi, sizeof(uintptr_t));

    if (marker->distances == NULL) {
        sgc_mark_roots(marker, lo, hi);
    } else if (start < end) {
        marker->root_bytes += end - start;
        if (!leave_to_team(marker, start, end - start))
            sgc_scan_heap(marker, start, end - start);
        sgc_marker_goes_out(marker);
    }
}

/* ---- contents ---- */

/* If there is no room for it, it is scanned on the spot: its page cannot be flagged, since it is not marked. */
void sgc_mark_contents(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    uint32_t scan = sgc_kinds.of[sgc_heap.pages[sgc_page_number(start)].kind].scan;

    if (!sgc_deque_push(&marker->stack, start | sgc_piece_of(scan), bytes))
        sgc_scan_object(marker, start, bytes);
}

/* The first word that points at the object that it is in; else the end. */
SGC_BLIND static uintptr_t find_self(uintptr_t from, uintptr_t end, uintptr_t start, size_t bytes)
{
    while (from < end && *(const uintptr_t *)from - start >= bytes)
        from += sizeof from;
    return from;
}

/* In stretches without such pointers. */
void sgc_mark_contents_but_self(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    uintptr_t end = start + bytes;

    for (uintptr_t from = start; from < end;) {
        uintptr_t upto = end - from < AT_ONCE ? end : from + AT_ONCE;
        uintptr_t self = find_self(from, upto, start, bytes);

        sgc_scan_heap(marker, from, self - from);
        sgc_marker_answers(marker);
        from = self < upto ? self + sizeof from : upto;
    }
}

void sgc_mark_address(struct sgc_marker *marker, uintptr_t address)
{
    finish(marker, sgc_collect(marker->edge, 0, address, marker->base, marker->limit), NULL);
    sgc_marker_answers(marker);
}
