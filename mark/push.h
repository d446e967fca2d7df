/* SPDX-License-Identifier: MIT */
/*
 * What comes after an object was marked: it is counted, and lies on the marker's stack if it has words to scan; or, if there
 * is no room, its page is scanned again later.  On any marker, world stopped.
 */
#ifndef SGC_MARK_PUSH_H
#define SGC_MARK_PUSH_H

#include "alloc/pages/kind.h"
#include "mark/marker.h"

/* The page of the object in which the address lies must be looked at again: its words could not be remembered. */
void sgc_mark_overflow(struct sgc_marker *marker, uintptr_t address);

/* The kind of work that an object with pointers is. */
SGC_INLINE uintptr_t sgc_piece_of(uint32_t scan)
{
    return scan == SGC_SCAN_DESCRIBED ? SGC_WORK_OBJECT : SGC_WORK_HEAP;
}

/* A marked object, as a piece of work; or its page is to be looked at again. */
SGC_INLINE void sgc_push_piece(struct sgc_marker *marker, uintptr_t piece, size_t bytes)
{
    if (__builtin_expect(!sgc_deque_push(&marker->stack, piece, bytes), 0))
        sgc_mark_overflow(marker, piece);
}

SGC_INLINE void sgc_push_object(struct sgc_marker *marker, uintptr_t start, size_t bytes, uint32_t scan)
{
    sgc_push_piece(marker, start | sgc_piece_of(scan), bytes);
}

/* An object has just been marked: it is counted, and pushed if it has words to scan. */
SGC_INLINE void sgc_marked(struct sgc_marker *marker, uintptr_t start, size_t bytes, uint32_t kind)
{
    uint32_t scan = sgc_kinds.of[kind].scan;

    sgc_count_marked(marker, 1, bytes, scan == SGC_SCAN_NOTHING);
    if (scan != SGC_SCAN_NOTHING)
        sgc_push_object(marker, start, bytes, scan);
}

#endif
