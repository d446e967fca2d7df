/* SPDX-License-Identifier: MIT */
/*
 * Writing a heap snapshot (doc/snapshot-format.md), in three steps of one stop.  By the thread that
 * has stopped the world, the caches retired.  sgc_snapshot_close returns the errors.
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

/* After the mark; `complete`: it was not given up.  Each file's error, an errno, or 0; with an error there is no such file. */
void sgc_snapshot_close(bool complete, int *error);

#endif
