/* SPDX-License-Identifier: MIT */
/*
 * Scanning words.  On a marker, world stopped.
 */
#include "mark/scan.h"

#include "mark/edge.h"
#include "mark/team.h"
#include "platform/platform.h"

enum { DESCRIPTORS_AHEAD = 16 };        /* words */

static const size_t ARRAY_BYTES = 512;
static const size_t FAR_APART = (size_t)1 << 30;        /* a heap whose descriptors outgrow the second-level cache */

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

/* ---- loops that are not worth inlining ---- */

static void add(struct sgc_marker *marker, size_t offset)
{
    struct sgc_scan scan = sgc_scan_begin(marker);

    sgc_edge_add(&scan, offset, marker->how, sgc_edges_wait(marker));
    sgc_scan_end(&scan);
}

/* The objects that an array points at may be far apart, and so are their descriptors then. */
SGC_BLIND static void scan_array(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    struct sgc_scan scan = sgc_scan_begin(marker);

    for (; p < end - DESCRIPTORS_AHEAD; p++) {
        size_t offset = *p - scan.base;
        size_t ahead = p[DESCRIPTORS_AHEAD] - scan.base;

        if (ahead < scan.limit)
            __builtin_prefetch(&scan.pages[ahead >> SGC_PAGE_LOG]);
        if (offset < scan.limit)
            sgc_edge_add(&scan, offset, marker->how, sgc_edges_wait(marker));
    }
    for (; p < end; p++)
        sgc_scan_word(&scan, p, marker->how, sgc_edges_wait(marker));
    sgc_scan_end(&scan);
}

SGC_BLIND static void scan_any(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    struct sgc_scan scan = sgc_scan_begin(marker);

    for (; p < end; p++)
        sgc_scan_word(&scan, p, marker->how, sgc_edges_wait(marker));
    sgc_scan_end(&scan);
}

/* The first byte of the object that byte `offset` of the heap lies in, if there may be one. */
static size_t start_of(size_t offset)
{
    uint32_t page = (uint32_t)(offset >> SGC_PAGE_LOG);
    const struct sgc_page *d = &sgc_heap.pages[page];

    if (sgc_page_state(d) == SGC_PAGE_SMALL)
        return sgc_edge_small(d, offset).granule * SGC_GRANULE;
    return (size_t)(sgc_page_state(d) == SGC_PAGE_SPAN_TAIL ? page - d->back : page) * SGC_PAGE;
}

/* Heap words while interior pointers do not count there. */
SGC_BLIND static void scan_starts(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    for (; p < end; p++) {
        size_t offset = *p - marker->base;

        if (offset < marker->limit && sgc_mark_displacement_valid(offset - start_of(offset)))
            add(marker, offset);
    }
}

/* Without the end byte a word that equals an object's start may also mean the end of the one
 * before. */
SGC_BLIND static void scan_ends(struct sgc_marker *marker, const uintptr_t *p, const uintptr_t *end)
{
    for (; p < end; p++) {
        size_t offset = *p - marker->base;

        if (offset < marker->limit)
            add(marker, offset);
        if (offset % SGC_GRANULE == 0 && offset - 1 < marker->limit)
            add(marker, offset - 1);
    }
}

/* ---- pieces ---- */

bool sgc_scan_plain(const struct sgc_marker *marker, size_t bytes)
{
    return marker->interior_pointers && (bytes < ARRAY_BYTES || marker->limit < FAR_APART);
}

void sgc_scan_heap(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    const uintptr_t *p = (const uintptr_t *)start;
    const uintptr_t *end = p + bytes / sizeof *p;

    if (!marker->interior_pointers)
        scan_starts(marker, p, end);
    else if (sgc_scan_plain(marker, bytes))
        scan_any(marker, p, end);
    else
        scan_array(marker, p, end);
}

void sgc_scan_roots(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    const uintptr_t *p = (const uintptr_t *)start;
    const uintptr_t *end = p + bytes / sizeof *p;

    if (marker->end_word)
        scan_ends(marker, p, end);
    else
        scan_any(marker, p, end);
}

/* ---- roots ---- */

/* What is larger than a piece is work like any other; without stealing, everything has to be dealt out. */
static bool leave_to_team(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    return marker->team != NULL && sgc_team_wants_roots(marker, bytes) && sgc_team_give_roots(marker, start, bytes);
}

void sgc_mark_roots(struct sgc_marker *marker, const void *lo, const void *hi)
{
    uintptr_t start = sgc_round_up((uintptr_t)lo, sizeof start);
    uintptr_t end = sgc_round_down((uintptr_t)hi, sizeof end);

    if (start >= end)
        return;
    marker->root_bytes += end - start;
    if (!leave_to_team(marker, start | SGC_WORK_ROOTS, end - start))
        sgc_scan_roots(marker, start, end - start);
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
        if (!leave_to_team(marker, start, end - start))
            sgc_scan_heap(marker, start, end - start);
    }
}

/* ---- contents ---- */

/* If there is no room for it, it is scanned on the spot: its page cannot be flagged, since it is not marked. */
void sgc_mark_contents(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    if (!sgc_deque_push(&marker->stack, start, bytes))
        sgc_scan_heap(marker, start, bytes);
}

/* In stretches without such pointers. */
SGC_BLIND void sgc_mark_contents_but_self(struct sgc_marker *marker, uintptr_t start, size_t bytes)
{
    uintptr_t from = start, end = start + bytes;

    for (uintptr_t p = start; p < end; p += sizeof p) {
        if (*(const uintptr_t *)p - start >= bytes)
            continue;
        sgc_scan_heap(marker, from, p - from);
        from = p + sizeof p;
    }
    sgc_scan_heap(marker, from, end - from);
}

void sgc_mark_address(struct sgc_marker *marker, uintptr_t address)
{
    if (address - marker->base < marker->limit)
        add(marker, address - marker->base);
}
