/* SPDX-License-Identifier: MIT */
/*
 * Growing the heap for the client, and telling it and the listeners when the heap's size has changed.
 *
 *   what       written by                             read by    ordering
 *   reported_size  any mutator on the slow path, by CAS   same       relaxed: a figure
 */
#ifndef SGC_GC_PACING_HEAP_GROWTH_H
#define SGC_GC_PACING_HEAP_GROWTH_H

#include "gc/threads/mutator.h"

/* Commits `bytes` more and counts them as heap from now on.  Outside sections. */
bool sgc_heap_expand(size_t bytes, struct sgc_mutator *self);

/* Looks whether the size has changed by an arena or more, and says so to listeners and the client's hook.  On a
 * mutator, outside sections, GC lock free or our own. */
void sgc_heap_watch(struct sgc_mutator *self);

#endif
