/* SPDX-License-Identifier: MIT */
/*
 * Where interior pointers do not count in the heap: how far behind an object's first byte a word may point and still keep it.
 */
#ifndef SGC_MARK_DISPLACEMENTS_H
#define SGC_MARK_DISPLACEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "alloc/pages/geometry.h"
#include "platform/atomics.h"

/* Where interior pointers do not count in the heap, these distances from an object's start do.  Before or
 * while the heap is used; under no lock: each is one byte, set once. */
void sgc_mark_displacement(size_t distance);
bool sgc_mark_displacement_valid(size_t distance);

/* All of them, SGC_PAGE bytes that are 0 or 1; NULL: there is no memory for that. */
const sgc_a8_t *sgc_mark_displacements(void);

/* Does a word count that points that far behind an object's first byte? */
__attribute__((always_inline))
static inline bool sgc_distance_counts(const sgc_a8_t *distances, size_t distance)
{
    return distances == NULL || (distance < SGC_PAGE && sgc_a8_load(&distances[distance]) != 0);
}

#endif
