/* SPDX-License-Identifier: MIT */
/*
 * How large the heap is, as the API tells it, and how large it may become.
 *
 * The heap is committed arenas.  Its size is what costs memory: pages in use and free pages with contents, or
 * what the client asked for with GC_expand_hp if that is more.  The rest of the committed arenas has no backing.
 *
 *   what       written by                                 read by    ordering
 *   promised   sgc_heap_promise                           anybody    relaxed: a figure
 *   max        any mutator on the slow path, by CAS       same       relaxed: a figure
 */
#ifndef SGC_GC_PACING_HEAP_SIZE_H
#define SGC_GC_PACING_HEAP_SIZE_H

#include <stddef.h>

size_t sgc_heap_size(void);
size_t sgc_heap_committed(void);
size_t sgc_heap_max(void);             /* the largest size that was seen */
void sgc_heap_note_max(size_t size);   /* this size was seen */

/* The client has been promised a heap of so many bytes, which counts as its size from now on; 0: what was promised and not used
 * yet is given back. */
void sgc_heap_promise(size_t bytes);
size_t sgc_heap_promised(void);         /* 0: nothing */

/* Bytes that the heap may have: `wanted` (0: no limit), bounded by seven eighths of the cgroup's limit; 0: no limit. */
size_t sgc_heap_limit(size_t wanted);

#endif
