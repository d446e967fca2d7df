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

/* The version that the program runs with: "0.1.0".  The string is constant.  [unregistered, callback, signal] */
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

/* ---- writes that the program reports ---------------------------------------------------------------- */

/*
 * Pointers were stored somewhere in [address, address + bytes): by memcpy, a system call, or into the stack of a coroutine that
 * lies in the heap.  For programs that report their writes (GC_set_manual_vdb_allowed, SGC_DIRTY=software); otherwise, and
 * for what lies outside the heap, it does nothing.  After the stores; what was stored has to be reachable from a variable
 * until this returns.  doc/concurrent.md, "Programs with a write barrier of their own".  [unregistered, callback, signal]
 */
GC_API void SGC_dirty(const void *address, size_t bytes);

/*
 * Marks for about `budget_ns` nanoseconds if a concurrent cycle (doc/concurrent.md) is marking just now: for threads that have
 * nothing else to do, such as those of a scheduler.  Returns 1 if it did some of the work, else 0, and then at once.  The first
 * call in a cycle may find that one marker does all of the work alone, and finds some the next time.  The thread counts as
 * stopped meanwhile, and handles no signals.  Inside GC_do_blocking and with the allocation lock it does nothing.
 */
GC_API int SGC_mark_some(uint64_t budget_ns);

/* ---- statistics ------------------------------------------------------------------------------------ */

/*
 * Counters since the start.  Sizes are bytes, times nanoseconds.  A pause lasts from the first signal sent to
 * stop a thread until all threads were told to go on; its three parts add up to it exactly.  A collection beside
 * the program has several.  Percentiles are not kept: SGC_LOG_JSON writes every collection.  New members come at
 * the end only.
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

    uint64_t pause_ns;          /* all stops that looked at the heap, those of collections that were given up, too: stop_ns +
                                   mark_ns + other_ns */
    uint64_t stop_ns;           /* of it: until the last thread stood still */
    uint64_t mark_ns;           /* of it: scanning roots and marking */
    uint64_t other_ns;          /* of it: the rest, letting the threads go included */
    uint64_t pause_max_ns;      /* the longest pause */
    uint64_t stop_max_ns;       /* the longest time to stop */

    uint64_t threads;           /* registered now */
    uint64_t markers;           /* that the next collection may use */

    uint64_t pages_consumed_max; /* pages of 64 KB, in use or free with contents: the most there were at a time */
    uint64_t pages_taken;       /* pages that threads got for small objects, one by one */
    uint64_t pages_fresh;       /* of these, pages without contents, by which the heap expanded */
    uint64_t pages_foreign;     /* of the others, those that another thread was the first to use since they have contents; by
                                   pages_taken - pages_fresh: the remote page ratio of [Endo] 2.4.2 */
    uint64_t pages_far;         /* of pages_taken, those of another memory node than the thread ran on (SGC_NUMA) */
};

/* Fills the first `size` bytes of *stats, all members from one moment, and returns how many bytes it knew;
 * bytes beyond, of a client whose header is newer than the library, become zero.  Pass sizeof(struct
 * SGC_stats). */
GC_API size_t SGC_get_stats(struct SGC_stats *stats, size_t size);

/* ---- checks and listings ----------------------------------------------------------------------------- */

/* Stops the world and checks every invariant of the heap, the registered threads and the roots.  Each
 * violation is described in a line; returns their number, 0 if all is well.  Slow: a debugging aid. */
GC_API int SGC_check(void);

/* ---- why an object is alive -------------------------------------------------------------------------- */

/* What the way to an object begins with; or why there is none. */
typedef enum {
    SGC_HELD_NOT_HEAP,          /* the address is not in SGC's heap, or NULL */
    SGC_HELD_NO_OBJECT,         /* it is, but in no object: what was there has been freed or reclaimed */
    SGC_HELD_BY_NOTHING,        /* nothing leads to the object: the next collection reclaims it, unless the program pushes it (a
                                   mark procedure, a hook of GC_set_push_other_roots or GC_set_on_mark_stack_empty: the
                                   search calls none of them), or it gets a finalizer's turn first */
    SGC_HELD_BY_STATIC,         /* static data of the program or a library */
    SGC_HELD_BY_ADDED,          /* a range of GC_add_roots */
    SGC_HELD_BY_STACK,          /* a thread's stack, or its registers, which are on its stack while it is stopped */
    SGC_HELD_BY_THREAD_LOCAL,   /* a thread-local variable */
    SGC_HELD_BY_UNCOLLECTABLE,  /* an uncollectable object, the first on the way */
    SGC_HELD_BY_FINALIZATION,   /* it waits for its finalizer, or is a finalizer's data, or a strong toggle reference */
    SGC_HELD_BY_OWN_STACK,      /* nothing else: the caller's own stack, perhaps the very pointer that was passed */
    SGC_HELD_UNKNOWN,           /* not found out: the system gave no memory, or a thread could not be stopped */
    SGC_HELD_BY_DATE            /* a date of short-term memory that is not over (sgc_shortterm.h) */
} SGC_held_t;

/* One object on the way.  New members come at the end only. */
struct SGC_step {
    size_t number;              /* 0 for the first */
    const void *object;         /* its first address */
    size_t bytes;
    int kind;                   /* as GC_get_kind_and_size gives it */
    const void *word;           /* where the pointer to it is: in the object before, or in a root; NULL: in a table of SGC's */
    long thread;                /* kernel's number of the thread whose stack, variable or date that is; 0: none, or not the
                                   first */
};

typedef void (GC_CALLBACK *SGC_step_proc)(const struct SGC_step *step, void *data);

/*
 * Finds a shortest way from what a collection begins with to the object to which `address` belongs, and calls visit for
 * each object on it, the one itself last.  visit may be NULL; it runs after the search, with the world running, so it may
 * allocate, and other threads may have changed the objects meanwhile.  The caller's own stack counts only if nothing else
 * leads there, its registers don't.
 *
 * Stops the world for about as long as a collection with one marker takes, and needs memory for a table of all objects
 * beside the heap: a debugging aid.
 */
GC_API SGC_held_t SGC_find_way(const void *address, SGC_step_proc visit, void *data);

/* Prints a way to the object as SGC_find_way finds it, or why there is none:
 *
 *     SGC: the object at 0x7f0012340040 is alive, 2 objects from a root:
 *     SGC:   static data of ./program, `table`+16, at 0x5590a0c01050
 *     SGC:   -> 64 bytes at 0x7f0012350080
 *     SGC:      word at offset 8 of that -> 32 bytes at 0x7f0012340040
 *
 * Of a long way the middle is left out.  A static variable has a name if the loader knows it (link with -rdynamic), a
 * thread-local one has none; with the world stopped by the calling thread neither has.
 * Returns what SGC_find_way returns. */
GC_API SGC_held_t SGC_why_live(const void *address);

/* ---- heap snapshots ---------------------------------------------------------------------------------- */

/*
 * Collects, and writes the heap as it is when the mark is about to begin, to that file: pages and objects, the pointers in
 * them, roots.  sgc-snapshot reads it; doc/snapshot-format.md describes it.  The file appears when it is complete, and replaces
 * one that is there.  No memory of the heap is used, and the contents of objects are not written, but for their pointers.  The
 * program stands still meanwhile, some seconds for each gigabyte.  SGC_SNAPSHOT in the environment asks for snapshots without
 * the program's doing.
 *
 * Returns 0; or an errno, and there is no file then:
 *   EINVAL    path is NULL or empty
 *   EPERM     collections are disabled (GC_disable)
 *   EDEADLK   called by a callback of a collection, or with the allocation lock
 *   EBUSY     another thread is at it
 *   EAGAIN    a thread could not be stopped
 *   ENOMEM    the thread could not be registered
 * or what the system said of the file: ENOENT, EACCES, ENOSPC, EFBIG (the limit on the size of files) ...
 */
GC_API int SGC_write_heap_snapshot(const char *path);

/*
 * Names a kind of objects (GC_new_kind; 0 to 3 can be named, too): tools for heap snapshots call its objects so, unless they
 * know the class of an object.  Up to 63 bytes of the name are copied; NULL or an empty one takes the name back.  Returns 0, or
 * EINVAL, with a message, if there is no such kind.
 */
GC_API int SGC_name_kind(int kind, const char *name);

/* ---- allocation profiles ------------------------------------------------------------------------------ */

/*
 * Takes a sample of what the program allocates in every `bytes` bytes on average, from now on, with the stack of the call that
 * allocates it; 0: none any more.  512 KB cost little; 1 takes each object.  SGC_PROFILE in the environment does so from the
 * start (doc/profiling.md).  Samples are drawn such that an object of n bytes is one with probability 1 - exp(-n / bytes),
 * independently of others [Poisson sampling].  Stops the world for a moment.
 *
 * Returns 0; or an errno, and nothing has changed then: EINVAL (more than PTRDIFF_MAX), EDEADLK (called by a callback of a
 * collection, or with the allocation lock), EAGAIN (a thread could not be stopped), ENOMEM.  Any thread, not in a signal
 * handler.
 */
GC_API int SGC_set_profile_rate(size_t bytes);

/*
 * Writes an allocation profile: for each stack of calls that allocate how many objects and bytes that were, and how many of
 * them are in use: neither freed nor found dead by a collection.  The numbers are estimated from the samples; with a rate of 1
 * they are exact.  The file is a profile.proto, which pprof, speedscope and others read; it appears when it is complete.
 *
 * Returns 0; or an errno, and there is no file then: EINVAL (path is NULL or empty), ENODATA (no samples were ever taken: set
 * a rate first), EDEADLK (as above), ENOMEM, or what the system said of the file: ENOENT, EACCES, ENOSPC ...  Any thread, not
 * in a signal handler.
 */
GC_API int SGC_write_profile(const char *path);

/* Prints every option: name, value, where the value comes from, accepted range and meaning.  [unregistered] */
GC_API void SGC_print_options(void);

/* Prints, on a machine with several memory nodes, on which of them the heap, its bitmaps and the other tables lie, and the
 * stacks of the markers: how much was found on each node and how much was meant to be there, in units of 1024 bytes.
 *
 *     SGC: 2 memory nodes, SGC_NUMA=balanced
 *     SGC: heap: 8192 KB found, 98 percent where they were meant to be
 *     SGC:   node 0: 4224 KB found, 4096 KB meant
 *     SGC:   node 1: 3968 KB found, 4096 KB meant
 *
 * Memory that nobody has touched is nowhere.  Mark stacks are shown to registered threads only; they are meant to be where
 * their marker ran last.  With one node it says so and nothing more.  Asks the system for each of its pages,
 * which takes some milliseconds for each gigabyte; other threads may run meanwhile.  SGC_NUMA_REPORT=1 prints the same when the
 * program ends.  Any thread, not in a signal handler.  [unregistered] */
GC_API void SGC_print_placement(void);

#ifdef __cplusplus
}
#endif

#endif
