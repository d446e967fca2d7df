/* SPDX-License-Identifier: MIT */
/*
 * Scanning objects by their descriptors, procedures of clients included.  On any marker, world stopped.
 */
#ifndef SGC_MARK_DESCRIBED_H
#define SGC_MARK_DESCRIBED_H

#include "mark/marker.h"

/* The marker that runs a client's procedure on this thread; NULL: none does. */
SGC_INNER _Thread_local struct sgc_marker *sgc_marker_here __attribute__((tls_model("initial-exec")));

/* Scans a marked object, whatever its kind.  On the spot, but a large one may be left on the stack in part. */
void sgc_scan_object(struct sgc_marker *marker, uintptr_t start, size_t bytes);

/* Does a piece of work of the kinds SGC_WORK_OBJECT and SGC_WORK_DESCRIBED. */
void sgc_scan_described(struct sgc_marker *marker, struct sgc_work work);

/* Marks what a word of an object points at, for a procedure.  False if none runs on this thread. */
bool sgc_mark_for_procedure(uintptr_t word);

#endif
