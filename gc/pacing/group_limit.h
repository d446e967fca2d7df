/* SPDX-License-Identifier: MIT */
/*
 * The limit of the heap: what the user or the program sets, and what the cgroup (a container) has left for it.
 *
 * A cgroup's limit is for all memory of its processes, also what the program has of malloc.  So near that limit the heap's is
 * set by what the group uses now: a collection comes before growth that would get the process killed.  That limit gives way if
 * collecting does not help, since what the group uses may be files that the kernel drops, or another process's memory; the one
 * that was set does not.
 *
 *   what   written by                        read by     ordering
 *   set    the start, GC_set_max_heap_size   any thread  relaxed: a figure
 *   group  the start, GC_set_max_heap_size   any thread  the same value each time
 */
#ifndef SGC_GC_PACING_GROUP_LIMIT_H
#define SGC_GC_PACING_GROUP_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Sets the limit that sgc_heap_limit says for `wanted` (gc/pacing/heap_size.h).  At the start, and by GC_set_max_heap_size. */
void sgc_group_limit_set(size_t wanted);

/* The heap has come to `heap` bytes.  Asks the cgroup what is left, if that may matter: reads some files.  On a mutator with
 * some 16 KB of stack left, outside sections. */
void sgc_group_limit_look(size_t heap);

/* A request of so many bytes fails at the limit, and collecting has not helped.  True if the limit was the group's and has
 * given way: try again. */
bool sgc_group_limit_gives_way(size_t bytes);

#endif
