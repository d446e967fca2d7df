/* SPDX-License-Identifier: MIT */
/*
 * Scanning words.  On a marker, world stopped.
 *
 * These loops read memory that was never meant for them (other functions' stack frames, the gaps between
 * variables), so sanitizers are told to look away here, and only here.
 */
#include "mark/scan.h"

#include "mark/edge.h"
#include "platform/platform.h"

enum {
    ARRAY_BYTES = 512,          /* what is scanned with an eye on the words to come */
    DESCRIPTORS_AHEAD = 16,     /* words */
};

#define SGC_BLIND __attribute__((no_sanitize("address", "thread", "undefined")))

/* One byte a distance, in memory of its own: made when a client registers the first, published by a release
 * and read with acquire; bytes only ever become 1. */
SGC_STATE static sgc_aw_t displacements;

static sgc_a8_t *displacement_table(void)
{
    return (sgc_a8_t *)sgc_aw_load_acq(&displacements);
}

static sgc_a8_t *make_displacement_table(void)
{
    void *table = sgc_mem_obtain(SGC_PAGE);

    if (table == NULL)
        return NULL;
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

bool sgc_mark_displacement_valid(size_t distance)
{
    const sgc_a8_t *table = displacement_table();

    return distance == 0 ||
           (table != NULL && distance < SGC_PAGE && sgc_a8_load(&table[distance]) != 0);
}

SGC_BLIND static void scan_any(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    uintptr_t base = marker->base, limit = marker->limit;

    for (; p < end; p++) {
        size_t offset = *p - base;

        if (offset < limit)
            sgc_edge_add(marker, offset);
    }
}

/* The objects that an array points at may be far apart, and so are their descriptors then. */
SGC_BLIND static void scan_array(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    uintptr_t base = marker->base, limit = marker->limit;

    for (; p < end - DESCRIPTORS_AHEAD; p++) {
        size_t offset = *p - base;
        size_t ahead = p[DESCRIPTORS_AHEAD] - base;

        if (ahead < limit)
            sgc_edge_prefetch_page(ahead);
        if (offset < limit)
            sgc_edge_add(marker, offset);
    }
    scan_any(marker, p, end);
}

/* Heap words while interior pointers do not count there. */
SGC_BLIND static void scan_starts(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    for (; p < end; p++) {
        size_t offset = *p - marker->base;
        struct sgc_edge edge;

        if (offset < marker->limit && sgc_edge_find(offset, &edge) &&
            sgc_mark_displacement_valid(*p - edge.start))
            sgc_edge_add(marker, offset);
    }
}

/* Without the end byte a word that equals an object's start may also mean the end of the one
 * before. */
SGC_BLIND static void scan_ends(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    for (; p < end; p++) {
        size_t offset = *p - marker->base;

        if (offset < marker->limit)
            sgc_edge_add(marker, offset);
        if (offset % SGC_GRANULE == 0 && offset - 1 < marker->limit)
            sgc_edge_add(marker, offset - 1);
    }
}

void sgc_scan_heap(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    const uintptr_t *p = (const uintptr_t *)start;
    const uintptr_t *end = p + bytes / sizeof *p;

    if (!marker->interior_pointers)
        scan_starts(marker, p, end);
    else if (bytes >= ARRAY_BYTES)
        scan_array(marker, p, end);
    else
        scan_any(marker, p, end);
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

/* Static data is looked at like the heap, where interior pointers matter less than on stacks. */
void sgc_mark_static(struct sgc_marker *marker, const void *lo, const void *hi)
{
    uintptr_t start = sgc_round_up((uintptr_t)lo, sizeof(uintptr_t));
    uintptr_t end = sgc_round_down((uintptr_t)hi, sizeof(uintptr_t));

    if (marker->interior_pointers) {
        sgc_mark_roots(marker, lo, hi);
    } else if (start < end) {
        marker->root_bytes += end - start;
        sgc_scan_heap(marker, start, end - start);
    }
}

void sgc_mark_address(struct sgc_marker *marker, uintptr_t address)
{
    if (address - marker->base < marker->limit)
        sgc_edge_add(marker, address - marker->base);
}
