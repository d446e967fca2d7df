/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: functions of the client's that the collector calls.  Setting one takes the allocation lock, so
 * a hook cannot set hooks.  Each says where it runs; one that runs with the world stopped must not allocate,
 * lock, print or load anything, because a stopped thread may hold the lock for it.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_HOOKS_H
#define GC_HOOKS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory ---------------------------------------------------------------------------------- */

/* A hook, called when memory for `bytes` cannot be had, by the allocating thread, without locks: it may free objects and
 * collect.  What it returns is what the allocation returns: NULL, or an object that was allocated before.
 * It may leave by longjmp or a C++ exception.  The default returns NULL. */
typedef void *(GC_CALLBACK *GC_oom_func)(size_t bytes);
GC_API void GC_CALL GC_set_oom_fn(GC_oom_func hook) GC_ATTR_NONNULL(1);
GC_API GC_oom_func GC_CALL GC_get_oom_fn(void);
GC_API GC_ATTR_DEPRECATED GC_oom_func GC_oom_fn;

/* A hook, called after the heap grew or gave memory back, with its new size in bytes and with the allocation lock
 * held.  NULL: none. */
typedef void (GC_CALLBACK *GC_on_heap_resize_proc)(GC_word bytes);
GC_API void GC_CALL GC_set_on_heap_resize(GC_on_heap_resize_proc hook);
GC_API GC_on_heap_resize_proc GC_CALL GC_get_on_heap_resize(void);
GC_API GC_ATTR_DEPRECATED GC_on_heap_resize_proc GC_on_heap_resize;

/* Called after the system has granted more memory for the heap, with its address, and when it has refused some, with NULL: by a
 * thread that allocates, with the allocation lock held, like the hook above.  Memory that was given back and is used again is
 * not told of; a limit that the program or the user has set is none of the system's.  NULL: none. */
typedef void (GC_CALLBACK *GC_on_os_get_mem_proc)(void *space, size_t bytes);
GC_API void GC_CALL GC_set_on_os_get_mem(GC_on_os_get_mem_proc hook);
GC_API GC_on_os_get_mem_proc GC_CALL GC_get_on_os_get_mem(void);

/* ---- messages -------------------------------------------------------------------------------- */

/* A hook that gets warnings: `format` is a printf format in which at most one conversion, of the size of a word, takes
 * `argument`.  May run under the allocation lock and in a stopped world.  The default writes them to the
 * log. */
typedef void (GC_CALLBACK *GC_warn_proc)(GC_SGC_FORMAT_ *format, GC_uintptr_t argument);
GC_API void GC_CALL GC_set_warn_proc(GC_warn_proc hook) GC_ATTR_NONNULL(1);
GC_API GC_warn_proc GC_CALL GC_get_warn_proc(void);
GC_API void GC_CALLBACK GC_ignore_warn_proc(GC_SGC_FORMAT_ *format, GC_uintptr_t argument);     /* a hook that drops them */

/* The file descriptor for warnings, statistics and dumps; 2 by default.  [unregistered] */
GC_API void GC_CALL GC_set_log_fd(int fd);

/* A hook, called just before SGC ends the process: with the message before abort(), with NULL before exit().  The
 * default writes the message to stderr. */
typedef void (GC_CALLBACK *GC_abort_func)(const char *message);
GC_API void GC_CALL GC_set_abort_func(GC_abort_func hook) GC_ATTR_NONNULL(1);
GC_API GC_abort_func GC_CALL GC_get_abort_func(void);

#if defined(GC_EXIT_LACKS_NORETURN)     /* which a client may define */
#define GC_OOM_ABORT_THROW_ATTRIBUTE
#else
#define GC_OOM_ABORT_THROW_ATTRIBUTE GC_ATTR_NORETURN
#endif

/* Ends the process because there is no memory: for out-of-memory hooks.  Says so, calls the hook of GC_set_abort_func with
 * NULL, and exit(1).  Does not return.  [unregistered] */
GC_API GC_OOM_ABORT_THROW_ATTRIBUTE void GC_CALL GC_abort_on_oom(void);

/* ---- events ---------------------------------------------------------------------------------- */

typedef enum {
    GC_EVENT_START,                 /* a collection begins */
    GC_EVENT_MARK_START,
    GC_EVENT_MARK_END,
    GC_EVENT_RECLAIM_START,         /* unreachable objects are unallocated; finalizers are queued */
    GC_EVENT_RECLAIM_END,
    GC_EVENT_END,                   /* the collection is over.  The child of a fork has none for one that marked beside
                                       the program then */
    GC_EVENT_PRE_STOP_WORLD,        /* about to stop the other threads */
    GC_EVENT_POST_STOP_WORLD,       /* they all stand */
    GC_EVENT_PRE_START_WORLD,       /* about to let them go */
    GC_EVENT_POST_START_WORLD,      /* told to go on; they run as the scheduler lets them */
    GC_EVENT_THREAD_SUSPENDED,      /* one thread stands */
    GC_EVENT_THREAD_UNSUSPENDED     /* one thread is told to go on */
} GC_EventType;

/* A hook, called by the collecting thread as a collection goes through these stages, with the allocation lock held;
 * from GC_EVENT_POST_STOP_WORLD to GC_EVENT_PRE_START_WORLD with the world stopped.  Not for the two thread
 * events.  NULL: none. */
typedef void (GC_CALLBACK *GC_on_collection_event_proc)(GC_EventType event);
GC_API void GC_CALL GC_set_on_collection_event(GC_on_collection_event_proc hook);
GC_API GC_on_collection_event_proc GC_CALL GC_get_on_collection_event(void);

#ifdef GC_THREADS
/* A hook, called by the collecting thread for each other thread it stops and lets go, with the thread's pthread_t as
 * a pointer, part of the world stopped.  NULL: none. */
typedef void (GC_CALLBACK *GC_on_thread_event_proc)(GC_EventType event, void *thread);
GC_API void GC_CALL GC_set_on_thread_event(GC_on_thread_event_proc hook);
GC_API GC_on_thread_event_proc GC_CALL GC_get_on_thread_event(void);
#endif

#ifdef __cplusplus
}
#endif

#endif
