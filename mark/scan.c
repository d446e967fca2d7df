/* SPDX-License-Identifier: MIT */
/*
 * Scanning words.  On a marker.
 */
#include "mark/edge.h"

/* Bytes whose edges are collected without a look at how many there are. */
enum { AT_ONCE = 2048 };

_Static_assert(SGC_EDGES_MAX + 2 * AT_ONCE / sizeof(uintptr_t) + SGC_WORDS_BEYOND <=
               sizeof ((struct sgc_marker *)0)->edge / sizeof(uintptr_t), "there is room for them, two a word");

/* ---- words that are not plain ---- */

SGC_BLIND size_t sgc_collect_both(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                                  uintptr_t limit)
{
    size_t n = 0;

    for (const struct sgc_words *end = range + ranges; range < end; range++)
        for (size_t at = 0; at < range->bytes; at += sizeof(uintptr_t))
            n = sgc_edge_append_formed(inside, n, sgc_read_once(range->start + at), base, limit);
    return n;
}

void sgc_chain_scan(struct sgc_marker *marker, struct sgc_words object)
{
    sgc_scan_heap(marker, object.start, object.bytes);
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

    sgc_assert(start % sizeof(uintptr_t) == 0 && bytes % sizeof(uintptr_t) == 0);
    while (bytes != 0) {
        struct sgc_words some = { start, bytes < AT_ONCE ? bytes : AT_ONCE };

        n += marker->collect(marker->edge + n, &some, 1, marker->base, marker->limit);
        n = sgc_edges_full(marker, n, distances);
        start += some.bytes;
        bytes -= some.bytes;
    }
    finish(marker, n, distances);
}

/* Without the end byte a word that equals an object's start may also mean the end of the one
 * before. */
SGC_BLIND SGC_INLINE size_t append_end(struct sgc_marker *marker, size_t n, uintptr_t word)
{
    n = sgc_edge_append(marker->edge, n, word, marker->base, marker->limit);
    if (word % SGC_GRANULE == 0)
        n = sgc_edge_append(marker->edge, n, word - 1, marker->base, marker->limit);
    return n;
}

SGC_BLIND SGC_INLINE size_t collect_ends(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end, bool plain)
{
    size_t n = 0;

    sgc_assert(marker->end_word && plain == marker->plain);
    for (; p < end; p++) {
        uintptr_t word = sgc_read_once((uintptr_t)p);

        n = append_end(marker, n, word);
        if (!plain)
            n = append_end(marker, n, sgc_word_formed(word));
        n = sgc_edges_full(marker, n, NULL);
    }
    return n;
}

void sgc_scan_heap(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    sgc_assert(sgc_marker_marks(marker));
    scan_any(marker, start, bytes, marker->distances);
}

SGC_BLIND void sgc_scan_roots(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    const uintptr_t *p = (const uintptr_t *)start;
    const uintptr_t *end = p + bytes / sizeof *p;

    sgc_assert(sgc_marker_marks(marker) && start % sizeof *p == 0);
    if (marker->end_word && marker->plain)
        finish(marker, collect_ends(marker, p, end, true), NULL);
    else if (marker->end_word)
        finish(marker, collect_ends(marker, p, end, false), NULL);
    else
        scan_any(marker, start, bytes, NULL);
}

/* ---- large pieces ---- */

/* Large pieces are halved until they are small enough; the halves that come later wait on the
 * stack, where they can be stolen: one half of an array goes to each of two markers, in one theft.
 * If there is no room for a half, what is left stays whole. */
static void split(struct sgc_marker *marker, struct sgc_work *work)
{
    size_t max = marker->split_bytes;

    while (max != 0 && work->bytes > max) {
        size_t first = sgc_round_up(work->bytes / 2, SGC_GRANULE);

        sgc_assert(first > 0 && first < work->bytes);
        if (!sgc_deque_push(&marker->stack, work->start + first, work->bytes - first))
            return;
        work->bytes = first;
    }
}

/* Objects that a part of a large object points at are scanned before the next part: so the stack
 * stays shallow, and prefetched lines are used soon.  Parts in which nothing new is found follow
 * one another without a way round by the stack. */
static void scan_parts(struct sgc_marker *marker, struct sgc_work work)
{
    size_t top = sgc_deque_private(&marker->stack);

    sgc_assert((work.start & SGC_WORK_KINDS) == SGC_WORK_HEAP);
    while (work.bytes > SGC_SCAN_PART) {
        struct sgc_work rest = { work.start + SGC_SCAN_PART, work.bytes - SGC_SCAN_PART };

        if (!sgc_deque_push(&marker->stack, rest.start, rest.bytes))
            break;
        marker->until_pause--;
        sgc_scan_heap(marker, work.start, SGC_SCAN_PART);
        if (sgc_deque_private(&marker->stack) != top + 1)
            return;
        sgc_deque_popped(&marker->stack, 1);
        work = rest;
    }
    sgc_scan_heap(marker, work.start, work.bytes);
}

/* Without a way round by the stack, if it is small. */
void sgc_mark_words(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    struct sgc_work work = { start, bytes };

    sgc_assert(sgc_marker_marks(marker) && (start & SGC_WORK_KINDS) <= SGC_WORK_ROOTS);
    split(marker, &work);
    if ((start & SGC_WORK_ROOTS) != 0)
        sgc_scan_roots(marker, start - SGC_WORK_ROOTS, work.bytes);
    else if (marker->split_bytes != 0)
        scan_parts(marker, work);
    else
        sgc_scan_heap(marker, start, work.bytes);
}
