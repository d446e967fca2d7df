/* SPDX-License-Identifier: MIT */
/*
 * What SGC adds to the interface of gc.h, which this header includes.
 *
 * The first part is the interface of the SGC collector of T. Endo's thesis ([Endo], appendix A): SGC_init and
 * GC_collect.  The rest observes and checks this collector.  The marks [unregistered], [callback], ... are
 * those of gc/gc.h; text goes to stderr or to where GC_set_log_fd says.
 */
#ifndef SGC_H
#define SGC_H

#include <stddef.h>
#include <stdint.h>

#include "gc/gc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version ------------------------------------------------------------------------------------ */

/* What the program was compiled with. */
#define SGC_VERSION_MAJOR 0
#define SGC_VERSION_MINOR 1
#define SGC_VERSION_MICRO 0

/* What it runs with: "0.1.0".  The string is constant.  [unregistered, callback, signal] */
GC_API const char *SGC_version(void);

/* ---- start and collect ---------------------------------------------------------------------------- */

/* Attributes of the collector.  None are defined yet: pass NULL. */
typedef struct SGC_attr SGC_attr_t;

/*
 * Starts the collector with so many markers, the collecting thread included; 0 lets SGC decide.  Call it once,
 * from the main thread, before anything else of SGC: it does what GC_INIT() does.  More markers than this build
 * or the machine can use are reduced, with a message, as GC_MARKERS in the environment would be, which wins
 * over `markers`.
 *
 * Returns 0, or an error number after a message that says what to do; nothing has happened then:
 *   EINVAL    markers is negative, or attr is not NULL
 *   EALREADY  the collector has been started already, by SGC_init, GC_INIT or an allocation
 */
GC_API int SGC_init(int markers, SGC_attr_t *attr);

/* Collects the whole heap: another name of GC_gcollect. */
GC_API void GC_collect(void);

/* ---- statistics ------------------------------------------------------------------------------------ */

/*
 * Counters since the start.  Sizes are bytes, times nanoseconds.  A pause lasts from the first signal sent to
 * stop a thread until all threads were told to go on; its three parts add up to it exactly.  Percentiles are
 * not kept: SGC_LOG writes every pause.  New members come at the end only.
 */
struct SGC_stats {
    uint64_t collections;       /* finished */

    uint64_t live_bytes;        /* in objects that the last collection found reachable */
    uint64_t live_objects;      /* their number */
    uint64_t allocated_bytes;   /* all allocations */
    uint64_t freed_bytes;       /* by GC_free */

    uint64_t heap_bytes;        /* memory the heap's pages have now, used or free */
    uint64_t heap_max_bytes;    /* the most it ever was */
    uint64_t free_bytes;        /* of heap_bytes, not in objects */
    uint64_t metadata_bytes;    /* side tables, mark stacks and caches, as far as they were touched */
    uint64_t returned_bytes;    /* given back to the system, over all times */

    uint64_t pause_ns;          /* all pauses: stop_ns + mark_ns + other_ns */
    uint64_t stop_ns;           /* of it: until the last thread stood still */
    uint64_t mark_ns;           /* of it: scanning roots and marking */
    uint64_t other_ns;          /* of it: the rest, letting the threads go included */
    uint64_t pause_max_ns;      /* the longest pause */
    uint64_t stop_max_ns;       /* the longest time to stop */

    uint64_t threads;           /* registered now */
    uint64_t markers;           /* that the next collection may use */
};

/* Fills the first `size` bytes of *stats, all members from one moment, and returns how many bytes it knew;
 * bytes beyond, of a client whose header is newer than the library, become zero.  Pass sizeof(struct
 * SGC_stats). */
GC_API size_t SGC_get_stats(struct SGC_stats *stats, size_t size);

/* ---- checks and listings ----------------------------------------------------------------------------- */

/* Stops the world and checks every invariant of the heap, the registered threads and the roots.  Each
 * violation is described in a line; returns their number, 0 if all is well.  Slow: a debugging aid. */
GC_API int SGC_check(void);

/* Prints every option: name, value, where the value comes from, accepted range and meaning.  [unregistered] */
GC_API void SGC_print_options(void);

#ifdef __cplusplus
}
#endif

#endif
