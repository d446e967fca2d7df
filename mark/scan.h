/* SPDX-License-Identifier: MIT */
/* Scanning the words of an object: between the marker's loop and the edges. */
#ifndef SGC_MARK_SCAN_H
#define SGC_MARK_SCAN_H

#include "mark/marker.h"

/* Looks at each word of a piece of the roots: interior pointers always count. */
void sgc_scan_roots(struct sgc_marker *marker, uintptr_t start, size_t bytes);

/* Looks at each aligned word of [start, start+bytes), part of an object. */
void sgc_scan_heap(struct sgc_marker *marker, uintptr_t start, size_t bytes);

/* Looks at those words of [start, end) whose bits are set: the first word's is the highest. */
void sgc_scan_bitmap(struct sgc_marker *marker, uintptr_t start, uintptr_t end, uintptr_t bits);

/* Looks at the words whose bits are set of each element, of `stride` bytes, of [start, end): an
 * element's first word has the highest bit. */
void sgc_scan_bitmaps(struct sgc_marker *marker, uintptr_t start, uintptr_t end, size_t stride, uintptr_t bits);

enum { SGC_SCAN_PART = 512 };          /* bytes of a large object that are scanned at a time */

/* Scans words of an object; a large range is left on the stack in part, where it can be stolen. */
void sgc_mark_words(struct sgc_marker *marker, uintptr_t start, size_t bytes);

#endif
