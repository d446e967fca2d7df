/* SPDX-License-Identifier: MIT */
/*
 * The garbage collector's interface for C and C++, compatible in source and binary with bdwgc 8.2, and in source
 * with 8.3 if it is asked for that (gc_version.h).
 *
 * A program calls GC_INIT() once, early in main(), and then allocates with GC_MALLOC() and
 * GC_MALLOC_ATOMIC() instead of malloc(); it frees nothing.  (If it forgets GC_INIT(), the first call starts
 * the collector, on whatever thread that is: then thread settings come too late.)  An object lives as long as a
 * root or a living object holds a word that points at it or inside it.  Roots are the registers and stacks of
 * registered threads, the static and thread-local data of all loaded modules, and what GC_add_roots() adds.
 *
 * This file is the whole interface; it is divided by subject:
 *   gc_objects.h   allocate, resize, free; what an address belongs to
 *   gc_heap.h      when to collect, how large the heap may be, statistics
 *   gc_roots.h     which static memory is scanned
 *   gc_hooks.h     what the collector tells the program: out of memory, warnings, events
 *   gc_finalize.h  finalizers, weak links
 *   gc_threads.h   threads, stacks, coroutines, signals, fork
 *   gc_check.h     checks of pointer arithmetic, dumps
 *   gc_debug.h     allocation with positions and guards, leaks
 * and, when GC_THREADS is defined, gc_pthread_redirects.h.
 *
 * Who may call what.  Unless a comment says otherwise a function may be called by every registered
 * mutator at any time, by several at once, but not from a signal handler and not from a function that the
 * collector calls.  These marks relax or tighten that:
 *   [unregistered]  threads that are not registered may call it too
 *   [callback]      also inside functions that the collector calls, and under the allocation lock
 *   [signal]        also in a signal handler
 *   [before init]   only before GC_INIT(); later it is reported and changes nothing
 *   [counter]       reads counters without a lock: each is exact, but two calls may straddle a collection
 *
 * A call that is wrong (an address that is no object, a value out of range) is reported on stderr with the
 * value and what was expected; unless its comment says otherwise it then has no effect.
 */
#ifndef GC_H
#define GC_H

#include "gc_version.h"
#include "gc_config_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types and results ----------------------------------------------------------------------- */

typedef void *GC_PTR;               /* for old programs: write void * */

typedef unsigned long GC_word;      /* as wide as a pointer */
typedef long GC_signed_word;
typedef GC_word GC_uintptr_t;

/* Does one pointer have a lower address than another of the same type? */
#define GC_ADDR_LT(p, q) ((GC_word)(p) < (GC_word)(q))

/* Results of functions that return a status. */
#define GC_SUCCESS 0
#define GC_DUPLICATE 1              /* it is registered already */
#define GC_NO_THREADS 2             /* never returned: SGC always supports threads */
#define GC_NO_MEMORY 2              /* no memory to remember the registration */
#define GC_UNIMPLEMENTED 3          /* this system cannot say */
#define GC_NOT_FOUND 4              /* nothing such is registered */

/* ---- start and end --------------------------------------------------------------------------- */

/* The version of the interface as (major << 16) | (minor << 8) | micro.  A program that chose bdwgc 8.3 is told that.
 * [unregistered, callback, signal] */
GC_API GC_VERSION_VAL_T GC_CALL GC_get_version(void);
#if SGC_BDWGC == 803
#define GC_get_version() ((GC_VERSION_VAL_T)(GC_VERSION_MAJOR << 16 | GC_VERSION_MINOR << 8 | GC_VERSION_MICRO))
#endif

/* Starts the collector and registers the calling thread as the main thread.  A second call does nothing.
 * Call it through GC_INIT() from the main thread, before other threads exist.  A bad environment
 * variable is reported and its default used; if the system refuses the address space the heap needs, the
 * program ends with a message. */
GC_API void GC_CALL GC_init(void);

/* Nonzero from the moment the start has begun.  [unregistered, callback, signal] */
GC_API int GC_CALL GC_is_init_called(void);

/* Ends the collector: no collection and no allocation afterwards; objects stay readable until the process
 * ends.  A second call does nothing, and GC_INIT() does not bring the collector back. */
GC_API void GC_CALL GC_deinit(void);

#ifdef __cplusplus
}
#endif

#include "gc_objects.h"
#include "gc_heap.h"
#include "gc_roots.h"
#include "gc_hooks.h"
#include "gc_finalize.h"
#include "gc_threads.h"
#include "gc_check.h"
#include "gc_debug.h"

#ifdef GC_PTHREADS
#include "gc_pthread_redirects.h"
#endif

/* ---- GC_INIT --------------------------------------------------------------------------------- */

/*
 * GC_INIT() starts the collector with what the client defined before it included this file: GC_DONT_EXPAND,
 * GC_FORCE_UNMAP_ON_GCOLLECT, GC_DONT_GC or GC_MAX_RETRIES, GC_FREE_SPACE_DIVISOR, GC_FULL_FREQ, GC_TIME_LIMIT,
 * GC_MARKERS, GC_SIG_SUSPEND, GC_SIG_THR_RESTART, GC_MAXIMUM_HEAP_SIZE, GC_ALLOCD_BYTES_PER_FINALIZER, GC_IGNORE_WARN,
 * GC_INITIAL_HEAP_SIZE.
 * Environment variables of the same names win over these.
 */
#define GC_INIT() \
    { \
        SGC_INIT_DONT_EXPAND SGC_INIT_FORCE_UNMAP SGC_INIT_RETRIES SGC_INIT_DIVISOR SGC_INIT_FULL_FREQ \
        SGC_INIT_TIME_LIMIT SGC_INIT_MARKERS SGC_INIT_SUSPEND SGC_INIT_RESTART SGC_INIT_MAXIMUM \
        SGC_INIT_FINALIZERS \
        GC_init(); \
        SGC_INIT_WARNINGS SGC_INIT_HEAP_SIZE \
    }

/* Each of these is what the client defined, or nothing. */
#if defined(GC_DONT_EXPAND)
#define SGC_INIT_DONT_EXPAND GC_set_dont_expand(1);
#else
#define SGC_INIT_DONT_EXPAND
#endif
#if defined(GC_FORCE_UNMAP_ON_GCOLLECT)
#define SGC_INIT_FORCE_UNMAP GC_set_force_unmap_on_gcollect(1);
#else
#define SGC_INIT_FORCE_UNMAP
#endif
#if defined(GC_DONT_GC)
#define SGC_INIT_RETRIES GC_dont_gc = 1;
#elif defined(GC_MAX_RETRIES)
#define SGC_INIT_RETRIES GC_set_max_retries(GC_MAX_RETRIES);
#else
#define SGC_INIT_RETRIES
#endif
#if defined(GC_FREE_SPACE_DIVISOR)
#define SGC_INIT_DIVISOR GC_set_free_space_divisor(GC_FREE_SPACE_DIVISOR);
#else
#define SGC_INIT_DIVISOR
#endif
#if defined(GC_FULL_FREQ)
#define SGC_INIT_FULL_FREQ GC_set_full_freq(GC_FULL_FREQ);
#else
#define SGC_INIT_FULL_FREQ
#endif
#if defined(GC_TIME_LIMIT)
#define SGC_INIT_TIME_LIMIT GC_set_time_limit(GC_TIME_LIMIT);
#else
#define SGC_INIT_TIME_LIMIT
#endif
#if defined(GC_MARKERS) && defined(GC_THREADS)
#define SGC_INIT_MARKERS GC_set_markers_count(GC_MARKERS);
#else
#define SGC_INIT_MARKERS
#endif
#if defined(GC_SIG_SUSPEND) && defined(GC_THREADS)
#define SGC_INIT_SUSPEND GC_set_suspend_signal(GC_SIG_SUSPEND);
#else
#define SGC_INIT_SUSPEND
#endif
#if defined(GC_SIG_THR_RESTART) && defined(GC_THREADS)
#define SGC_INIT_RESTART GC_set_thr_restart_signal(GC_SIG_THR_RESTART);
#else
#define SGC_INIT_RESTART
#endif
#if defined(GC_MAXIMUM_HEAP_SIZE)
#define SGC_INIT_MAXIMUM GC_set_max_heap_size(GC_MAXIMUM_HEAP_SIZE);
#else
#define SGC_INIT_MAXIMUM
#endif
#if defined(GC_IGNORE_WARN)
#define SGC_INIT_WARNINGS GC_set_warn_proc(GC_ignore_warn_proc);
#else
#define SGC_INIT_WARNINGS
#endif
#if defined(GC_INITIAL_HEAP_SIZE)
#define SGC_INIT_HEAP_SIZE \
    if (GC_get_heap_size() < (GC_INITIAL_HEAP_SIZE)) \
        (void)GC_expand_hp((GC_INITIAL_HEAP_SIZE) - GC_get_heap_size());
#else
#define SGC_INIT_HEAP_SIZE
#endif
#if defined(GC_ALLOCD_BYTES_PER_FINALIZER)
#define SGC_INIT_FINALIZERS GC_set_allocd_bytes_per_finalizer(GC_ALLOCD_BYTES_PER_FINALIZER);
#else
#define SGC_INIT_FINALIZERS
#endif

#endif
