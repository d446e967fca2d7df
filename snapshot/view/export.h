/* SPDX-License-Identifier: MIT */
/*
 * Views as files of other programs.  Each writes to a stream and returns false if there is no
 * memory; whether all was written the stream says.
 */
#ifndef SGC_SNAPSHOT_VIEW_EXPORT_H
#define SGC_SNAPSHOT_VIEW_EXPORT_H

#include <stdio.h>

#include "snapshot/view/merged.h"

/*
 * A .heapsnapshot, as the memory panel of Chrome's DevTools reads it: all that is reachable, with
 * its pointers.  Numbers of objects come of their places in the heap, so that an object has the
 * same one in two snapshots of a process; DevTools has 32 bits for them, so in a heap above 32 GB
 * nodes are numbered instead.
 *
 * Objects that retain fewer bytes than `smallest` are left out.  The nearest dominator that is not
 * has a node for those of its own: with their bytes, and their pointers to what is there.  So every
 * node that is there retains what it does in the heap.
 */
bool sgc_export_heapsnapshot(FILE *out, const struct sgc_view *v, uint64_t smallest);

/* Has an object the same number in all snapshots of a process? */
static inline bool sgc_export_ids_last(const struct sgc_graph_geometry *geometry)
{
    sgc_assert(geometry->granule_log < 64);
    return geometry->limit >> geometry->granule_log <= (UINT64_C(1) << 31);
}

/* The merged tree as a profile, as lines for flame graphs, and with the groups as JSON.  A stack is
 * the way down the tree, its values are the node's own objects and bytes. */
bool sgc_export_pprof(FILE *out, const struct sgc_merged *m);
bool sgc_export_folded(FILE *out, const struct sgc_merged *m);
bool sgc_export_json(FILE *out, const struct sgc_merged *m);

#endif
