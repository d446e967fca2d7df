/* SPDX-License-Identifier: MIT */
/* Edges to marks by compare-and-swap or under a lock (mark/markbit.c).  On one of several markers, world stopped. */
#include "mark/edge_loops.h"

void sgc_mark_found_study(struct sgc_marker *marker, const uintptr_t *edge, const uintptr_t *end, uint32_t near,
                          struct sgc_found *found)
{
    sgc_assert(marker->how == SGC_MARKBIT_CAS || marker->how == SGC_MARKBIT_LOCK);
    sgc_mark_found(marker, edge, end, near, found, marker->how);
}
