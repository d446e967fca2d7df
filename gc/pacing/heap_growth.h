/* SPDX-License-Identifier: MIT */
/*
 * Growing the heap for the client, and telling it and the listeners when the heap's size has changed; and its limit: what the
 * user or the program sets, and what the cgroup (a container) has left for it.
 *
 * A cgroup's limit is for all memory of its processes, also what the program has of malloc.  So near that limit the heap's is
 * set by what the group uses now: a collection comes before growth that would get the process killed.  That limit gives way if
 * collecting does not help, since what the group uses may be files that the kernel drops, or another process's memory; the one
 * that was set does not.
 *
 *   what           written by                             read by     ordering
 *   reported_size  any mutator on the slow path, by CAS   same        relaxed: a figure
 *   set            the start, GC_set_max_heap_size        any thread  relaxed: a figure
 *   group          the start, GC_set_max_heap_size        any thread  the same value each time
 */
#ifndef SGC_GC_PACING_HEAP_GROWTH_H
#define SGC_GC_PACING_HEAP_GROWTH_H

#include "gc/threads/mutator.h"

/* Commits `bytes` more and counts them as heap from now on.  Outside sections. */
bool sgc_heap_expand(size_t bytes, struct sgc_mutator *self);

/* Looks whether the size has changed by an arena or more, and says so to listeners and the client's hook.  On a
 * mutator, outside sections, GC lock free or our own. */
void sgc_heap_watch(struct sgc_mutator *self);

/* Sets the limit that sgc_heap_limit says for `wanted` (gc/pacing/heap_size.h).  At the start, and by GC_set_max_heap_size. */
void sgc_group_limit_set(size_t wanted);

/* A request of so many bytes fails at the limit, and collecting has not helped.  True if the limit was the group's and has
 * given way: try again. */
bool sgc_group_limit_gives_way(size_t bytes);

#endif
