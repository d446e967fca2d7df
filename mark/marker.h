/* SPDX-License-Identifier: MIT */
/*
 * A marker: finds the objects that roots and marked objects point at, and marks them.
 *
 * Each word that may be a pointer goes through three stages.  It is looked up (which slot of which
 * page: arithmetic and one descriptor) and its mark word is prefetched; it waits as an edge in a short
 * first-in-first-out buffer ([Cher]); when it comes out, its bits are tested, the object is marked, prefetched
 * and, unless pointer-free, pushed to be scanned.
 *
 * If the mark stack cannot grow, the object's page is flagged and its marked objects are scanned
 * again later: nothing is lost, and the rescans can be shared like any other work.
 *
 * One marker, on the collecting thread, world stopped; nobody else touches its fields.  Mark bits
 * and rescan flags are written through atomics already, with no order needed: what a marker
 * learns from a mark bit is only that somebody marked.
 */
#ifndef SGC_MARK_MARKER_H
#define SGC_MARK_MARKER_H

#include "alloc/page.h"
#include "mark/work.h"

enum { SGC_EDGES_MAX = 64 };

/* An object that a word points at, while its bits are on their way. */
struct sgc_edge {
    uintptr_t start;            /* of the object */
    size_t bytes;
    sgc_aw_t *bits;             /* its two bits: bits[role] */
    uint8_t bit;                /* their number in the word */
    uint8_t kind;
    bool remote;                /* its remote bit may be set */
};

struct sgc_mark_config {
    bool interior_pointers;     /* in heap words and static data; on stacks they always count */
    bool end_word;              /* a root word just past an object keeps it, too */
    size_t split_bytes;         /* larger objects are scanned in pieces; 0: never split */
    uint32_t edges;             /* length of the buffer, 0 to SGC_EDGES_MAX */
    size_t stack_bytes;         /* address space for the stack, 0: automatic */
};

struct sgc_marker {
    struct sgc_work_stack stack;
    struct sgc_edge edge[SGC_EDGES_MAX];
    uint32_t edge_first, edge_count;
    uint32_t edges;             /* most that may wait: a power of two, or 0 */
    bool interior_pointers, end_word;
    size_t split_bytes;
    uintptr_t base, limit;      /* copies of the heap's */
    uint32_t alloc_role;
    size_t objects, bytes;      /* marked so far in this cycle */
    size_t root_bytes;
    size_t rescans;             /* pages scanned again */
    bool overflowed;            /* a page was flagged */
};

bool sgc_marker_init(struct sgc_marker *marker, const struct sgc_mark_config *config);

/* World stopped, before anything is marked. */
void sgc_marker_begin(struct sgc_marker *marker);

/* Scans the words of a root range (any alignment; whole aligned words are looked at) right away. */
void sgc_mark_roots(struct sgc_marker *marker, const void *lo, const void *hi);

/* The same for static data: where interior pointers do not count in the heap, they do not here. */
void sgc_mark_static(struct sgc_marker *marker, const void *lo, const void *hi);

/* Marks uncollectable objects, page by page. */
void sgc_mark_uncollectable(struct sgc_marker *marker);

/* Marks the object that the address points at (as a root would). */
void sgc_mark_address(struct sgc_marker *marker, uintptr_t address);

/* Scans everything reachable so far.  Stops early when stop() says so, asked now and then (NULL:
 * never); false then. */
bool sgc_mark_drain(struct sgc_marker *marker, int (*stop)(void));

/* Scans the marked objects of flagged pages again until no page is flagged. */
bool sgc_mark_rescan(struct sgc_marker *marker, int (*stop)(void));

/* A cycle is given up: forgets the work.  The mark bits are cleared by the caller. */
void sgc_marker_abandon(struct sgc_marker *marker);

/* Where interior pointers do not count in the heap, these distances from an object's start do.  Before or
 * while the heap is used; under no lock: each is one byte, set once. */
void sgc_mark_displacement(size_t distance);
bool sgc_mark_displacement_valid(size_t distance);

#endif
