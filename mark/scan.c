/* SPDX-License-Identifier: MIT */
/*
 * Scanning words.  On a marker, world stopped.
 *
 * These loops read memory that was never meant for them (other functions' stack frames, the gaps between
 * variables), so sanitizers are told to look away here, and only here.
 */
#include "mark/scan.h"

#include "mark/edge.h"

#define SGC_BLIND __attribute__((no_sanitize("address", "thread", "undefined")))

SGC_STATE static unsigned char displacement[SGC_PAGE];

void sgc_mark_displacement(size_t distance)
{
    if (distance < sizeof displacement)
        displacement[distance] = 1;
}

bool sgc_mark_displacement_valid(size_t distance)
{
    return distance == 0 || (distance < sizeof displacement && displacement[distance]);
}

static void scan_offset(struct sgc_marker *marker, size_t offset)
{
    struct sgc_edge edge;

    if (sgc_edge_find(offset, &edge))
        sgc_edge_add(marker, &edge);
}

SGC_BLIND static void scan_any(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    uintptr_t base = marker->base, limit = marker->limit;

    for (; p < end; p++) {
        size_t offset = *p - base;
        struct sgc_edge edge;

        if (offset < limit && sgc_edge_find(offset, &edge))
            sgc_edge_add(marker, &edge);
    }
}

/* Heap words while interior pointers do not count there. */
SGC_BLIND static void scan_starts(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    for (; p < end; p++) {
        size_t offset = *p - marker->base;
        struct sgc_edge edge;

        if (offset < marker->limit && sgc_edge_find(offset, &edge) &&
            sgc_mark_displacement_valid(offset - edge.granule * SGC_GRANULE))
            sgc_edge_add(marker, &edge);
    }
}

/* Without the end byte a word that equals an object's start may also mean the end of the one
 * before. */
SGC_BLIND static void scan_ends(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    for (; p < end; p++) {
        size_t offset = *p - marker->base;

        if (offset < marker->limit)
            scan_offset(marker, offset);
        if (offset % SGC_GRANULE == 0 && offset - 1 < marker->limit)
            scan_offset(marker, offset - 1);
    }
}

void sgc_scan_heap(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    const uintptr_t *p = (const uintptr_t *)start;
    const uintptr_t *end = p + bytes / sizeof *p;

    if (marker->interior_pointers)
        scan_any(marker, p, end);
    else
        scan_starts(marker, p, end);
}

void sgc_mark_roots(struct sgc_marker *marker, const void *lo, const void *hi)
{
    const uintptr_t *p = (const uintptr_t *)sgc_round_up((uintptr_t)lo, sizeof *p);
    const uintptr_t *end = (const uintptr_t *)sgc_round_down((uintptr_t)hi, sizeof *p);

    if (p >= end)
        return;
    marker->root_bytes += (size_t)(end - p) * sizeof *p;
    if (marker->end_word)
        scan_ends(marker, p, end);
    else
        scan_any(marker, p, end);
}

void sgc_mark_address(struct sgc_marker *marker, uintptr_t address)
{
    if (address - marker->base < marker->limit)
        scan_offset(marker, address - marker->base);
}
