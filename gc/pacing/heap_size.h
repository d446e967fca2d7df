/* SPDX-License-Identifier: MIT */
/*
 * How large the heap is, as the API shows it; growing it for the client; and how large it may
 * become: what the user or the program sets, and what the cgroup (a container) has left for it.
 *
 * The heap is committed arenas.  Its size is what costs memory: pages in use and free pages with
 * contents, or what the client asked for with GC_expand_hp if that is more.  The rest of the
 * committed arenas has no backing.
 *
 * A cgroup's limit is for all memory of its processes, also what the program has of malloc.  So
 * near that limit the heap's is set by what the group uses now: a collection comes before growth
 * that would get the process killed.  That limit gives way if collecting does not help, since what
 * the group uses may be files that the kernel drops, or another process's memory; the one that was
 * set does not.
 *
 *   what           written by                             read by     ordering
 *   max_size       any mutator on the slow path, by CAS   same        relaxed: a figure
 *   reported_size  any mutator on the slow path, by CAS   same        relaxed: a figure
 *   asked_size     the same, and the service thread       same        relaxed: a figure
 *   reported.end   any mutator on the slow path, by CAS;  same        release / acquire: the hook has returned
 *                  with the GC lock, if there is a hook
 *   reported.begun with the GC lock                       same        the GC lock
 *   on_os_get_mem  who sets the client's hook, under the  same        release / acquire
 *                  GC lock
 *   set            the start, GC_set_max_heap_size        any thread  relaxed: a figure
 *   group          the start, GC_set_max_heap_size        any thread  relaxed: the same value each time
 */
#ifndef SGC_GC_PACING_HEAP_SIZE_H
#define SGC_GC_PACING_HEAP_SIZE_H

#include "gc/threads/mutator.h"

size_t sgc_heap_size(void);
size_t sgc_heap_committed(void);
size_t sgc_heap_max(void);             /* the largest size that was seen */

/* Commits `bytes` more and counts them as heap from now on.  Outside sections. */
bool sgc_heap_expand(size_t bytes, struct sgc_mutator *self);

/* Finds out whether the size has changed by an arena or more, and reports that to listeners and the
 * client's hook; and to another hook, what memory the system has granted or refused meanwhile.  On
 * a mutator, outside sections, GC lock free or its own.
 *
 * Asks the cgroup, too, how much is left, if the size has changed so much since somebody did, and
 * the thread has the stack for it.  The service thread does no more than that. */
void sgc_heap_watch(struct sgc_mutator *self);
extern sgc_aw_t sgc_on_os_get_mem;      /* void (*)(void *space, size_t bytes); 0: none */

/* ---- the limit ---- */

/* Bytes that the heap may have: `wanted` (0: no limit), bounded by seven eighths of the cgroup's
 * limit; 0: no limit. */
size_t sgc_heap_limit(size_t wanted);

/* Sets that limit.  At the start, and by GC_set_max_heap_size. */
void sgc_group_limit_set(size_t wanted);

/* A request of so many bytes fails at the limit, and collecting has not helped.  True if the limit
 * was the group's and has given way: try again. */
bool sgc_group_limit_gives_way(size_t bytes);

#endif
