/* SPDX-License-Identifier: MIT */
/*
 * The two sections of a heap snapshot that cannot be read off the heap: what the program's hook pushes, which comes first, and
 * what its procedures push and what it marks by hand, which comes last (mark/noted.h).
 *
 * The functions by who has stopped the world, no marker at work; between begin_noted and end_noted markers write on their own.
 */
#ifndef SGC_GC_SNAPSHOT_NOTED_PART_H
#define SGC_GC_SNAPSHOT_NOTED_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "gc/snapshot/heap_part.h"

/* The counts stay until end_noted. */
void sgc_snapshot_begin_pushed(struct sgc_snapshot_counts *counts);
void sgc_snapshot_end_pushed(void);

void sgc_snapshot_begin_noted(void);
void sgc_snapshot_end_noted(void);

/* ---- while the hook runs; nothing, if no snapshot is being written ---- */

/* It has pushed [lo, hi). */
void sgc_snapshot_put_pushed(uintptr_t lo, uintptr_t hi, bool like_data);

/* It has allocated the object. */
void sgc_snapshot_put_allocated(uintptr_t object);

#endif
