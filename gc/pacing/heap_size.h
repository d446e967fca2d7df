/* SPDX-License-Identifier: MIT */
/*
 * How large the heap is, as the API tells it, and telling the client when that changes.
 *
 * The heap is committed arenas.  Its size is what costs memory: pages in use and free pages with contents, or
 * what the client asked for with GC_expand_hp if that is more.  The rest of the committed arenas has no backing.
 *
 *   what       written by                                 read by    ordering
 *   promised   sgc_heap_expand, sgc_heap_shrink           anybody    relaxed: a figure
 *   told, most any mutator on the slow path, by CAS       same       relaxed: figures
 */
#ifndef SGC_GC_PACING_HEAP_SIZE_H
#define SGC_GC_PACING_HEAP_SIZE_H

#include "gc/threads/mutator.h"

size_t sgc_heap_size(void);
size_t sgc_heap_committed(void);
size_t sgc_heap_most(void);             /* the largest size that was seen */

/* Commits `bytes` more and counts them as heap from now on.  Outside sections. */
bool sgc_heap_expand(size_t bytes, struct sgc_mutator *self);

/* What was promised to the client and not used yet is given back. */
void sgc_heap_shrink(void);

/* Looks whether the size has changed by an arena or more, and says so to listeners and the client's hook.  On a
 * mutator, outside sections, gate open or our own. */
void sgc_heap_watch(struct sgc_mutator *self);

#endif
