/* SPDX-License-Identifier: MIT */
/* Writing a heap snapshot (doc/snapshot-format.md). */
#ifndef SGC_GC_SNAPSHOT_WRITE_H
#define SGC_GC_SNAPSHOT_WRITE_H

#include <stdint.h>

/* The heap as it is now, in the collection of that number.  0, or an errno; then there is no file.  By who has stopped the
 * world, the caches retired, nothing marked. */
int sgc_snapshot_write(const char *path, uint64_t cycle);

#endif
