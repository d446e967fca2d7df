/* SPDX-License-Identifier: MIT */
/*
 * The threads of the program, as a plain malloc sees them.
 *
 * A thread gets a cache at its first slow path.  When it ends, a destructor of thread-specific data
 * closes the cache: its pages become orphans.  Blocks that the thread allocates after that, as the
 * C library may, come from a cache that is everybody's, under a lock; the thread frees small blocks
 * as it frees another thread's, without.  So does a thread when the numbers of caches, or the
 * memory for one, have run out.
 *
 * Records are never unmapped: each is used again by a later thread (alloc/small/cache.h says why).
 *
 *   what                      written by                       read by      ordering
 *   used, lost, unused, and   under the registry's lock; the   same         the lock
 *   links of records          child of a fork, which has one
 *                             thread
 *   the common cache          under the common lock            same         the lock
 *   what a thread may have    its thread                       its thread   program order
 *   (sgc_thread_stage)
 */
#ifndef SGC_MALLOC_THREADS_H
#define SGC_MALLOC_THREADS_H

#include <stdbool.h>

#include "alloc/small/cache.h"

/* A thread's own; the cache with its bins comes last. */
struct sgc_record {
    struct sgc_record *prev, *next;
    struct sgc_cache cache;
};

struct sgc_threads {
    struct sgc_lock lock;           /* of rank REGISTRY */
    struct sgc_lock common_lock;    /* of no rank: taken before all others, by threads without a
                                     * cache */
    struct sgc_record *used;
    struct sgc_record *lost;        /* of threads that a fork has left behind, to be closed */
    struct sgc_record *unused;
    struct sgc_record *common;
};
SGC_INNER struct sgc_threads sgc_threads;

/* Makes the common cache.  False: there is no memory.  While the heap is being made. */
bool sgc_threads_start(void);

/* From now on ends of threads and forks are seen.  Calls the C library, which may allocate.  Once,
 * when the heap is there. */
void sgc_threads_watch(void);

/* The calling thread's own cache, which it may get now; NULL: it is over, or there is none for it.
 * The heap is there. */
struct sgc_cache *sgc_thread_cache(void);

/* In the child of a fork, does what that has put off: before anything that takes a lock.  Any
 * thread. */
void sgc_threads_settle(void);

#endif
