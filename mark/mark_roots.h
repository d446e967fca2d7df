/* SPDX-License-Identifier: MIT */
/*
 * Where marking begins: roots, objects that the collector names, and marked objects on pages that
 * the program has written since they were scanned.  Large ranges are shared with the team.  On any
 * marker, world stopped but where it says otherwise.
 */
#ifndef SGC_MARK_MARK_ROOTS_H
#define SGC_MARK_MARK_ROOTS_H

#include "mark/marker.h"

/* Scans the words of a root range (any alignment; whole aligned words are looked at), or leaves it
 * to the team. */
void sgc_mark_roots(struct sgc_marker *marker, const void *lo, const void *hi);

/* Scans the words of a root range before it returns: the range may change afterwards. */
void sgc_mark_roots_now(struct sgc_marker *marker, const void *lo, const void *hi);

/* Scans the words of a range of static data, or leaves it to the team: where interior pointers do
 * not count in the heap, they do not here. */
void sgc_mark_static(struct sgc_marker *marker, const void *lo, const void *hi);

/* Marks the object that the address points at (as a root would). */
void sgc_mark_address(struct sgc_marker *marker, uintptr_t address);

/* Marks what an object points at, but not the object; the second leaves out its pointers into
 * itself. */
void sgc_mark_contents(struct sgc_marker *marker, uintptr_t start, size_t bytes);
void sgc_mark_contents_but_self(struct sgc_marker *marker, uintptr_t start, size_t bytes);

/* ---- marked objects on written OS pages, which are to be scanned again ----
 *
 * In a mark beside the program what a marker has read may change behind it.  The system says which
 * OS pages were written (platform/written/written.h); whatever is marked, still allocated, and
 * overlaps one
 * of them, goes back onto the stack. */

/* Words that hold a bit for each OS page of an arena, at most. */
enum { SGC_WRITTEN_WORDS = SGC_ARENA / 4096 / 64 };

/* Pushes the marked objects of the arena that have pointers and overlap one of its written OS
 * pages: bit n % 64 of word n / 64 is the n-th one's.  Of a large object that is scanned word by
 * word, what lies on these pages; any other object as a whole, since its descriptor may have been
 * written after its fields.  Returns how many written OS pages had something to scan.  World
 * stopped or not; several markers may do it in a stop, each with arenas of its own. */
uint32_t sgc_mark_written(struct sgc_marker *marker, uint32_t arena, const uint64_t *written);

#endif
