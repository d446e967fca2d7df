/* SPDX-License-Identifier: MIT */
/*
 * Writing a heap snapshot (doc/snapshot-format.md), in three steps of one stop: by the thread that
 * has stopped the world, the caches retired.  sgc_snapshot_close returns the errors.
 *
 * Two sections cannot be read off the heap: what the program's hook pushes, which comes first, and
 * what its procedures push and what it marks by hand, which comes last (mark/noted.h).  The former
 * is written while the hook runs, no marker at work; the latter by markers, on their own, while
 * they mark.
 */
#ifndef SGC_GC_SNAPSHOT_WRITE_H
#define SGC_GC_SNAPSHOT_WRITE_H

#include "gc/snapshot/blocks.h"

/* Before the program's hook: begins so many files, SGC_BLOCKS_FILES at most, which all get the
 * same, in the collection of that number.  All that the hook pushes from here on is written. */
void sgc_snapshot_open(const char *const *path, int files, uint64_t cycle);

static inline bool sgc_snapshot_is_open(void)
{
    return sgc_blocks.files != 0;
}

/* After the hook: the heap as it is now.  From here on what the mark notes is written. */
void sgc_snapshot_put_heap(void);

/* After the mark; `complete`: it was not given up.  Each file's error, an errno, or 0; with an
 * error there is no such file. */
void sgc_snapshot_close(bool complete, int *error);

/* ---- while the hook runs; nothing, if no snapshot is being written ---- */

/* It has pushed [lo, hi). */
void sgc_snapshot_put_pushed(uintptr_t lo, uintptr_t hi, bool like_data);

/* It has allocated the object. */
void sgc_snapshot_put_allocated(uintptr_t object);

/* ---- the sections that are read off the heap (gc/snapshot/heap_part.c): the caches retired, the
 * program's hook called and no marker at work ---- */

/* By enum sgc_snapshot_count. */
struct sgc_snapshot_counts {
    uint64_t of[SGC_TRAILER_COUNTS];
};

/* Puts the pages, the words of their objects, the roots, and what finalization keeps, each a
 * section, and counts what it has put. */
void sgc_snapshot_put_contents(struct sgc_snapshot_counts *counts);

/* Puts the words of [lo, hi), which are whole ones, as roots, with the address and the bytes before
 * them and 0 behind.  Returns their number. */
uint64_t sgc_snapshot_put_root_words(uintptr_t lo, uintptr_t hi);

#endif
