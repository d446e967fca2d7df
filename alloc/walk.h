/* SPDX-License-Identifier: MIT */
/*
 * All objects of the heap, one after the other, for debugging.  World stopped.
 */
#ifndef SGC_ALLOC_WALK_H
#define SGC_ALLOC_WALK_H

#include "alloc/object.h"

typedef void (*sgc_visit_t)(const struct sgc_object *object, void *arg);

/* Calls visit for each allocated object, in the order of addresses.  The caches must have been retired, so that
 * claimed slots do not look allocated. */
void sgc_walk_objects(sgc_visit_t visit, void *arg);

/* The same for the objects of some kinds: a bit each. */
void sgc_walk_kinds(uint32_t kinds, sgc_visit_t visit, void *arg);

/* Has this cycle's mark reached the object?  Between the end of the mark and the flip. */
bool sgc_walk_marked(const struct sgc_object *object);

#endif
