/* SPDX-License-Identifier: MIT */
/*
 * Where marking begins: roots, and objects that the collector names.  Large ranges are shared with
 * the team.  On any marker, world stopped.
 */
#ifndef SGC_MARK_MARK_ROOTS_H
#define SGC_MARK_MARK_ROOTS_H

#include "mark/marker.h"

/* Scans the words of a root range (any alignment; whole aligned words are looked at), or leaves it to the team. */
void sgc_mark_roots(struct sgc_marker *marker, const void *lo, const void *hi);

/* Scans the words of a root range before it returns: the range may change afterwards. */
void sgc_mark_roots_now(struct sgc_marker *marker, const void *lo, const void *hi);

/* Scans the words of a range of static data, or leaves it to the team: where interior pointers do
 * not count in the heap, they do not here. */
void sgc_mark_static(struct sgc_marker *marker, const void *lo, const void *hi);

/* Marks the object that the address points at (as a root would). */
void sgc_mark_address(struct sgc_marker *marker, uintptr_t address);

/* Marks what an object points at, but not the object; the second leaves out its pointers into itself. */
void sgc_mark_contents(struct sgc_marker *marker, uintptr_t start, size_t bytes);
void sgc_mark_contents_but_self(struct sgc_marker *marker, uintptr_t start, size_t bytes);

#endif
