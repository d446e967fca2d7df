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
 * Some threads end without that destructor: the system call ends them, or their first call of the
 * family comes so late that no round of destructors follows.  A thread that needs a new record asks
 * the system about some of those in use, and takes over one whose thread is no more.
 *
 * Records are never unmapped: each is used again by a later thread (alloc/small/cache.h says why).
 * They are found by the numbers of their caches.
 *
 *   what                      written by                       read by      ordering
 *   unused, its links, asked  under the registry's lock        same         the lock
 *   process and thread of     under the registry's lock; in    same         the lock
 *   a record                  the child of a fork by its
 *                             only thread
 *   survivor                  the only thread of a fork's      who settles  handed over with `put_off`
 *                             child                                         (malloc/threads.c)
 *   the common cache          under the common lock            same         the lock
 */
#ifndef SGC_MALLOC_THREADS_H
#define SGC_MALLOC_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "alloc/small/cache.h"
#include "platform/platform.h"

/* A thread's own; the cache with its bins comes last. */
struct sgc_record {
    struct sgc_record *next;        /* of those that are unused */
    sgc_tid_t process, thread;      /* whose it is; thread 0: nobody's */
    struct sgc_cache cache;
};

struct sgc_threads {
    struct sgc_lock lock;           /* of rank REGISTRY */
    struct sgc_lock common_lock;    /* of no rank: taken before all others, by threads without a
                                     * cache */
    struct sgc_record *unused;
    struct sgc_record *common;
    struct sgc_record *survivor;    /* of the thread that forked, in the child; NULL: it has none */
    uint32_t asked;                 /* number of the record that the system was asked about last */
};
SGC_INNER struct sgc_threads sgc_threads;

/* Where the calling thread is inside malloc, and its section does not tell so.  A handler that has
 * interrupted it may not call malloc.  It may fork in the midst of a checked block, where no lock
 * is held. */
enum {
    SGC_INSIDE_COMMON = 1,              /* it has the common cache's lock */
    SGC_INSIDE_CACHES = 2,              /* it gets its cache, or closes those of lost threads */
    SGC_INSIDE_BLOCK = 4,               /* it is in the midst of a checked block */
};
SGC_INNER _Thread_local uint32_t sgc_thread_inside __attribute__((tls_model("initial-exec")));

/* A signal handler sees the bit from the one to the other. */
static inline void sgc_inside_begin(uint32_t bit)
{
    sgc_assert((sgc_thread_inside & bit) == 0);
    sgc_thread_inside |= bit;
    sgc_compiler_barrier();
}

static inline void sgc_inside_end(uint32_t bit)
{
    sgc_assert((sgc_thread_inside & bit) != 0);
    sgc_compiler_barrier();
    sgc_thread_inside &= ~bit;
}

/* The record with the cache of that number; no cache is outside a record. */
static inline struct sgc_record *sgc_record_of(uint32_t id)
{
    return (struct sgc_record *)(void *)((char *)sgc_cache_of(id) - offsetof(struct sgc_record, cache));
}

/* Makes the common cache.  False: there is no memory.  While the heap is being made. */
bool sgc_threads_start(void);

/* From now on ends of threads and forks are seen.  Calls the C library, which may allocate.  Once,
 * when the heap is there. */
void sgc_threads_watch(void);

/* The calling thread's own cache, which it may get now; or, if it is over, or there is none for it,
 * the common one, until sgc_thread_leave_common.  The heap is there. */
struct sgc_cache *sgc_thread_cache(bool *common);
void sgc_thread_leave_common(void);

/* Before anything that takes a lock.  In the child of a fork, does what that has put off.  Ends the
 * program where a signal handler has interrupted malloc on this thread, or has left it by a jump
 * when it had a lock, or pages in its hands.  Any thread. */
void sgc_threads_settle(void);

#endif
