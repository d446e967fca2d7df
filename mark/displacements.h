/* SPDX-License-Identifier: MIT */
/*
 * Where interior pointers do not count in the heap: how far behind an object's first byte a word
 * may point and still keep it.
 */
#ifndef SGC_MARK_DISPLACEMENTS_H
#define SGC_MARK_DISPLACEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "alloc/pages/geometry.h"
#include "platform/atomics.h"
#include "platform/compiler.h"

/* Where interior pointers do not count in the heap, these distances from an object's start do.
 * Before or while the heap is used; under no lock: each is one byte, set once. */
void sgc_mark_displacement(size_t distance);
bool sgc_mark_displacement_valid(size_t distance);

/* Does a word that points that far into the object that begins there keep it? */
bool sgc_mark_distance_valid(uintptr_t start, size_t distance);

/* All of them, SGC_PAGE bytes that are 0 or 1; NULL: there is no memory for that. */
const sgc_a8_t *sgc_mark_displacements(void);

/* A layer on top makes objects in which each address counts: it says of an object that begins
 * there, or began, or may begin there soon, whether it is one, to whose byte at that distance a
 * word points.  By any thread, before the first is made: release; markers and who asks as they do:
 * acquire. */
typedef bool (*sgc_counts_inside_t)(uintptr_t start, size_t distance);
SGC_INNER sgc_aw_t sgc_mark_inside;     /* one of these, or 0 */

static inline void sgc_mark_inside_by(sgc_counts_inside_t counts)
{
    sgc_aw_store_rel(&sgc_mark_inside, (uintptr_t)counts);
}

static inline bool sgc_inside_counts(uintptr_t start, size_t distance)
{
    sgc_counts_inside_t counts = (sgc_counts_inside_t)sgc_aw_load_acq(&sgc_mark_inside);

    return counts != NULL && counts(start, distance);
}

/* Does a word count that points that far behind an object's first byte, whichever object that
 * is? */
__attribute__((always_inline))
static inline bool sgc_distance_counts(const sgc_a8_t *distances, size_t distance)
{
    return distances == NULL || (distance < SGC_PAGE && sgc_a8_load(&distances[distance]) != 0);
}

#endif
