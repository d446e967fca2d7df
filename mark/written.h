/* SPDX-License-Identifier: MIT */
/*
 * Marked objects on written OS pages, which are to be scanned again.
 *
 * In a mark beside the program what a marker has read may change behind it.  The system says which OS pages were written
 * (platform/dirty.h); whatever is marked, still allocated, and overlaps one of them, goes back onto the stack.
 */
#ifndef SGC_MARK_WRITTEN_H
#define SGC_MARK_WRITTEN_H

#include "mark/marker.h"

/* Words that hold a bit for each OS page of an arena, at most. */
enum { SGC_WRITTEN_WORDS = SGC_ARENA / 4096 / 64 };

/* Pushes the marked objects of the arena that have pointers and overlap one of its written OS pages: bit n % 64 of word n / 64
 * is the n-th one's.  Of a large object that is scanned word by word, what lies on these pages; any other object as a whole,
 * since its descriptor may have been written after its fields.  Returns how many written OS pages had something to scan.  World
 * stopped or not; several markers may do it in a stop, each with arenas of its own. */
uint32_t sgc_mark_written(struct sgc_marker *marker, uint32_t arena, const uint64_t *written);

#endif
