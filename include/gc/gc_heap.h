/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: the heap as a whole.  Collect, say when to collect, bound the heap, read statistics.  Sizes are
 * bytes.
 *
 * Most settings have a setter, a getter and a variable of the same name.  The variable is read when the
 * collector next needs it; assigning to it is the old way and is not checked.  Setters and getters are
 * [unregistered, callback] and change one word; setters report a value out of range and leave the setting as it
 * was.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_HEAP_H
#define GC_HEAP_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- collect --------------------------------------------------------------------------------- */

/* Asked before a collection and between its steps whether to give up: nonzero means yes.  Runs with the allocation lock
 * held and maybe with the world stopped: it must be short, must not allocate, and must not call into the
 * collector. */
typedef int (GC_CALLBACK *GC_stop_func)(void);

/* Collects the whole heap and returns when the unreachable objects are unallocated.  Nothing happens while
 * collections are disabled, or when the stop function says so; nor if a thread cannot be stopped, which is reported, or is
 * late while SIGHUP, SIGINT, SIGQUIT or SIGTERM waits to be taken: ask again when it has been. */
GC_API void GC_CALL GC_gcollect(void);

/* GC_gcollect, whatever the stop function says, and gives as much memory as possible back to the system at
 * once. */
GC_API void GC_CALL GC_gcollect_and_unmap(void);

/* A collection with a stop function of its own.  1: done.  0: given up, or collections are disabled: nothing was freed by it,
 * and the next one is due when it would have been.  One that marks beside the program is finished first, since its marks would
 * be lost otherwise: after 0 it goes on, or is over, and what it has found dead is unallocated. */
GC_API int GC_CALL GC_try_to_collect(GC_stop_func stop) GC_ATTR_NONNULL(1);

/* The stop function of collections that name none, except those made because memory has run out, and those that run beside the
 * program.  One that was due and is given up is tried again when as much more has been allocated as between two collections. */
GC_API void GC_CALL GC_set_stop_func(GC_stop_func stop) GC_ATTR_NONNULL(1);
GC_API GC_stop_func GC_CALL GC_get_stop_func(void);

/* For idle loops: collects if a collection is due.  In the incremental mode it marks a little of what a collection beside
 * the program has to mark (GC_set_rate).  Returns nonzero while there is more to do, so call it until it returns 0; without
 * that mode that is at once, and in it when the collection is over. */
GC_API int GC_CALL GC_collect_a_little(void);

/* No collection, not even an explicit one, until enabled as often as disabled; nor one that another thread has asked for
 * before, unless it is over when this returns.  An allocation for which the heap would have to grow beyond its limit fails. */
GC_API void GC_CALL GC_disable(void);
GC_API void GC_CALL GC_finish_and_disable(void);    /* one that marks beside the program is finished first, in a stop */
GC_API void GC_CALL GC_enable(void);        /* one call too many is reported and ignored */
GC_API int GC_CALL GC_is_disabled(void);    /* [unregistered, callback, signal] */

/* How often collections are disabled; nonzero means none. */
GC_API
#if !defined(GC_DONT_GC)
GC_ATTR_DEPRECATED
#endif
int GC_dont_gc;

/* Nonzero: never start a collection because enough has been allocated; explicit ones, and one before memory is
 * refused, still happen. */
GC_API void GC_CALL GC_set_disable_automatic_collection(int on);
GC_API int GC_CALL GC_get_disable_automatic_collection(void);

/* ---- how large, how often -------------------------------------------------------------------- */

/* Adds at least `bytes` to the heap now, beyond what it holds.  1: done; 0: the system or the heap limit
 * refuses. */
GC_API int GC_CALL GC_expand_hp(size_t bytes);

/* The most the heap may hold; 0: no limit; less than 64 KiB: that much.  A heap that is larger already does not shrink by
 * force; it does not grow. */
GC_API void GC_CALL GC_set_max_heap_size(GC_word bytes);

/* The larger, the smaller the heap and the more collections: about 3 * live / divisor bytes are allocated
 * between two collections.  At least 1; 3 by default. */
GC_API void GC_CALL GC_set_free_space_divisor(GC_word divisor);
GC_API GC_word GC_CALL GC_get_free_space_divisor(void);
GC_API GC_ATTR_DEPRECATED GC_word GC_free_space_divisor;

/* At least so many bytes are allocated between two collections.  At least 1, which is the default. */
GC_API void GC_CALL GC_set_min_bytes_allocd(size_t bytes);
GC_API size_t GC_CALL GC_get_min_bytes_allocd(void);

/* Nonzero: grow the heap only when it is asked for, or when a collection did not free enough. */
GC_API void GC_CALL GC_set_dont_expand(int on);
GC_API int GC_CALL GC_get_dont_expand(void);
GC_API GC_ATTR_DEPRECATED int GC_dont_expand;

/* Nonzero: use the whole heap before collecting. */
GC_API GC_ATTR_DEPRECATED int GC_use_entire_heap;

/* How many more collections to try, once the heap cannot grow, before the out-of-memory hook is called. */
GC_API void GC_CALL GC_set_max_retries(GC_word count);
GC_API GC_word GC_CALL GC_get_max_retries(void);
GC_API GC_ATTR_DEPRECATED GC_word GC_max_retries;

/* Bytes that no collection can free, left out when deciding whether one would pay.  Uncollectable objects
 * add to it. */
GC_API void GC_CALL GC_set_non_gc_bytes(GC_word bytes);
GC_API GC_word GC_CALL GC_get_non_gc_bytes(void);
GC_API GC_ATTR_DEPRECATED GC_word GC_non_gc_bytes;

/* Nonzero: every explicit collection gives memory back at once instead of after the decay time. */
GC_API void GC_CALL GC_set_force_unmap_on_gcollect(int on);
GC_API int GC_CALL GC_get_force_unmap_on_gcollect(void);

/* bdwgc collects while it starts, unless told not to; SGC never does.  Kept and answered, without effect. */
GC_API void GC_CALL GC_set_dont_precollect(int on);
GC_API int GC_CALL GC_get_dont_precollect(void);
GC_API GC_ATTR_DEPRECATED int GC_dont_precollect;

/* Executable heap memory.  SGC has none: a nonzero value is reported, and the getter answers 0. */
GC_API void GC_CALL GC_set_pages_executable(int on);
GC_API int GC_CALL GC_get_pages_executable(void);

/* ---- markers --------------------------------------------------------------------------------- */

/* How many threads mark, the collecting one included; 0: SGC decides.  GC_MARKERS in the environment wins.
 * [before init] */
GC_API void GC_CALL GC_set_markers_count(unsigned count);

/* One less than the markers: the number of helper threads, once a collection has needed them.  [unregistered,
 * callback] */
GC_API int GC_CALL GC_get_parallel(void);
#ifdef GC_THREADS
GC_API GC_ATTR_DEPRECATED int GC_parallel;
#endif

/* Creates the helper threads now, rather than when a collection first needs them.  Useful in the child after
 * a fork.  Does nothing with one marker. */
GC_API void GC_CALL GC_start_mark_threads(void);

/* ---- incremental mode: in SGC the concurrent one, in which the program runs on during long marks -------- */

/* Starts the collector if need be, and from now on long collections run beside the program, if the system can tell which pages
 * are written (a message says what is missing), the user has not set GC_DISABLE_INCREMENTAL, and collections are not
 * disabled. */
GC_API void GC_CALL GC_enable_incremental(void);
GC_API int GC_CALL GC_is_incremental_mode(void);            /* 1: they do.  [unregistered, callback, signal] */

/* Begins a collection beside the program now; it ends by itself.  Does nothing without the incremental mode, or during a
 * collection. */
GC_API void GC_CALL GC_start_incremental_collection(void);

/* Which memory the incremental mode write-protects so that system calls which store there fail: GC_PROTECTS_NONE, but for
 * SGC_DIRTY=mprotect. */
GC_API int GC_CALL GC_incremental_protection_needs(void);
#define GC_PROTECTS_NONE 0
#define GC_PROTECTS_POINTER_HEAP 1
#define GC_PROTECTS_PTRFREE_HEAP 2
#define GC_PROTECTS_STATIC_DATA 4
#define GC_PROTECTS_STACK 8

/* Nonzero: the program reports each store of a pointer into the heap (GC_END_STUBBORN_CHANGE, GC_PTR_STORE_AND_DIRTY,
 * SGC_dirty), so that the system need not tell.  A store that is not reported may cost an object its life.  Before the
 * incremental mode is enabled; SGC_DIRTY in the environment wins. */
GC_API void GC_CALL GC_set_manual_vdb_allowed(int on);
GC_API int GC_CALL GC_get_manual_vdb_allowed(void);

/* 0: the program cannot bear pages that are write-protected: SGC_DIRTY=mprotect, the only source that does so, is refused then.
 * 1 by default.  Before that mode is enabled. */
GC_API void GC_CALL GC_set_mprotect_vdb_allowed(int on);
GC_API int GC_CALL GC_get_mprotect_vdb_allowed(void);

/* How the mode finds written pages: by no means (it is not on), by protecting them, by reports of the program, not at all (all
 * count as written), by the system's soft-dirty bits, by userfaultfd.  The others are those of other systems. */
#define GC_VDB_NONE 0
#define GC_VDB_MPROTECT 0x1
#define GC_VDB_MANUAL 0x2
#define GC_VDB_DEFAULT 0x4
#define GC_VDB_GWW 0x8
#define GC_VDB_PROC 0x20
#define GC_VDB_SOFT 0x40
#define GC_VDB_UFFDWP 0x80

/* All that SGC knows, as a sum of these: whether the system has one shows when the mode is enabled.  [unregistered, callback,
 * signal] */
GC_API unsigned GC_CALL GC_get_supported_vdbs(void);

/* The one that is used.  [unregistered, callback, signal] */
GC_API unsigned GC_CALL GC_get_actual_vdb(void);

/* What one GC_collect_a_little marks beside the program, in pages of 4 KB: at least 1; 10 by default. */
GC_API void GC_CALL GC_set_rate(int pages);
GC_API int GC_CALL GC_get_rate(void);

/* How many attempts to end a collection keep to the time limit, before one takes as long as it needs; 3 by default. */
GC_API void GC_CALL GC_set_max_prior_attempts(int count);
GC_API int GC_CALL GC_get_max_prior_attempts(void);

/* Partial collections between two full ones: all are full here.  Checked, kept and answered, without effect. */
GC_API void GC_CALL GC_set_full_freq(int partial);
GC_API int GC_CALL GC_get_full_freq(void);
GC_API GC_ATTR_DEPRECATED int GC_full_freq;

/* How long a stop of a collection beside the program may last, in milliseconds: an aim, not a promise.  GC_TIME_UNLIMITED: no
 * limit. */
#define GC_TIME_UNLIMITED 999999
GC_API void GC_CALL GC_set_time_limit(unsigned long ms);
GC_API unsigned long GC_CALL GC_get_time_limit(void);
GC_API GC_ATTR_DEPRECATED unsigned long GC_time_limit;

/* That limit with nanoseconds beside the milliseconds. */
struct GC_timeval_s {
    unsigned long tv_ms;
    unsigned long tv_nsec;                                  /* less than 1 000 000; GC_set_time_limit keeps it */
};
GC_API void GC_CALL GC_set_time_limit_tv(struct GC_timeval_s limit);
GC_API struct GC_timeval_s GC_CALL GC_get_time_limit_tv(void);

/* ---- statistics ------------------------------------------------------------------------------ */

/* Collections so far; it may wrap.  [unregistered, callback, signal] */
GC_API GC_word GC_CALL GC_get_gc_no(void);
GC_API GC_ATTR_DEPRECATED GC_word GC_gc_no;

/* Sizes in bytes, each read without a lock.  [unregistered, callback, counter] */
GC_API size_t GC_CALL GC_get_heap_size(void);                   /* pages held, used or free; not what was given back */
GC_API size_t GC_CALL GC_get_free_bytes(void);                  /* of these, at least so many hold no object */
GC_API size_t GC_CALL GC_get_unmapped_bytes(void);              /* given back to the system, or not used yet */
GC_API size_t GC_CALL GC_get_bytes_since_gc(void);              /* allocated since the last collection */
GC_API size_t GC_CALL GC_get_expl_freed_bytes_since_gc(void);   /* freed by GC_free since then */
GC_API size_t GC_CALL GC_get_total_bytes(void);                 /* allocated since the start; it may wrap */
GC_API size_t GC_CALL GC_get_obtained_from_os_bytes(void);      /* ever taken from the system; never decreases */

/* Stores what five of these functions tell, all of it from one moment.  Any pointer may be NULL. */
GC_API void GC_CALL GC_get_heap_usage_safe(GC_word *heap_size, GC_word *free_bytes, GC_word *unmapped_bytes,
                                           GC_word *bytes_since_gc, GC_word *total_bytes);

/* Bytes in allocated objects now. */
GC_API GC_SGC_MEMORY_USE_ GC_CALL GC_get_memory_use(void);

/* New members come at the end only. */
struct GC_prof_stats_s {
    GC_word heapsize_full;              /* GC_get_heap_size() + GC_get_unmapped_bytes() */
    GC_word free_bytes_full;            /* GC_get_free_bytes() + GC_get_unmapped_bytes() */
    GC_word unmapped_bytes;             /* GC_get_unmapped_bytes() */
    GC_word bytes_allocd_since_gc;      /* GC_get_bytes_since_gc() */
    GC_word allocd_bytes_before_gc;     /* GC_get_total_bytes() - GC_get_bytes_since_gc() */
    GC_word non_gc_bytes;               /* GC_get_non_gc_bytes() */
    GC_word gc_no;                      /* GC_get_gc_no() */
    GC_word markers_m1;                 /* helper threads that mark */
    GC_word bytes_reclaimed_since_gc;   /* found free by sweeping since the last collection */
    GC_word reclaimed_bytes_before_gc;  /* and before it; it may wrap */
    GC_word expl_freed_bytes_since_gc;  /* GC_get_expl_freed_bytes_since_gc() */
    GC_word obtained_from_os_bytes;     /* GC_get_obtained_from_os_bytes() */
};

/* Fills the first `size` bytes of *stats, all values from one moment, and returns how many bytes it knew;
 * what lies beyond, for a client with a newer header than the library, becomes all ones. */
GC_API size_t GC_CALL GC_get_prof_stats(struct GC_prof_stats_s *stats, size_t size);
#ifdef GC_THREADS
/* As GC_get_prof_stats; in bdwgc for a caller that holds the allocation lock.  [callback, counter] */
GC_API size_t GC_CALL GC_get_prof_stats_unsafe(struct GC_prof_stats_s *stats, size_t size);
#endif

/* GC_start_performance_measurement starts to measure time; GC_get_full_gc_total_time tells how many milliseconds were spent in
 * full collections since then, 0 if it was never started. */
GC_API void GC_CALL GC_start_performance_measurement(void);
GC_API unsigned long GC_CALL GC_get_full_gc_total_time(void);

/* [unregistered, callback, counter] */
GC_API unsigned long GC_CALL GC_get_full_gc_total_ns_frac(void);    /* and nanoseconds besides, less than 1 000 000 */
GC_API unsigned long GC_CALL GC_get_stopped_mark_total_time(void);  /* milliseconds since in which they stopped the program */
GC_API unsigned long GC_CALL GC_get_avg_stopped_mark_time_ns(void); /* of one stop, on average; 0: there was none */

#ifdef __cplusplus
}
#endif

#endif
