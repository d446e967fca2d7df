/* SPDX-License-Identifier: MIT */
/*
 * Part of gc.h: threads, their stacks, and fork.
 *
 * A thread must be registered before it allocates or holds pointers into the heap: its stack and registers are
 * then roots, and a collection stops it.  The main thread is registered by GC_INIT(), a thread created through
 * GC_pthread_create for as long as it runs; others register themselves.  A thread that allocates unregistered is
 * registered at that moment, with a warning: pointers that it got from others before could have been lost.
 *
 * Many of these functions exist only if GC_THREADS is defined.
 */
#ifndef GC_H
#error "Include <gc/gc.h> instead of its parts."
#endif
#ifndef GC_THREADS_H
#define GC_THREADS_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- registration ---------------------------------------------------------------------------- */

/* The cold end of a stack: the address just past its first frame, the highest since stacks grow downward. */
struct GC_stack_base {
    void *mem_base;
};

/* Stores the calling thread's stack base, as the system knows it.  GC_SUCCESS or GC_UNIMPLEMENTED.
 * [unregistered] */
GC_API int GC_CALL GC_get_stack_base(struct GC_stack_base *base) GC_ATTR_NONNULL(1);

/* Calls fn with a stack base that lies in the caller's frame: enough for a thread whose older frames hold no
 * pointers into the heap.  Returns what fn returns.  [unregistered] */
typedef void *(GC_CALLBACK *GC_stack_base_func)(struct GC_stack_base *base, void *arg);
GC_API void *GC_CALL GC_call_with_stack_base(GC_stack_base_func fn, void *arg) GC_ATTR_NONNULL(1);

#ifdef GC_THREADS
/* Allows threads to register themselves.  Call it before the first one does; with bdwgc, from a registered thread. */
GC_API void GC_CALL GC_allow_register_threads(void);

/* Registers the calling thread, with what GC_get_stack_base stored.  GC_SUCCESS; GC_DUPLICATE if it is registered already.
 * [unregistered] */
GC_API int GC_CALL GC_register_my_thread(const struct GC_stack_base *base) GC_ATTR_NONNULL(1);

/* Undoes GC_register_my_thread, before the thread ends; it must not use the heap afterwards.  GC_SUCCESS.  A call by a thread
 * that is not registered is reported and returns GC_NOT_FOUND; one with the allocation lock held, or within a finalizer, an
 * expiry procedure or a disclaim procedure, GC_UNIMPLEMENTED.  Nothing is changed then.  [unregistered] */
GC_API int GC_CALL GC_unregister_my_thread(void);

/* Nonzero if the caller is a registered thread.  [unregistered, callback] */
GC_API int GC_CALL GC_thread_is_registered(void);

/* Tells SGC of the calling thread's normal stack and its alternate signal stack (lowest address and bytes),
 * so that both are scanned when it is stopped in a handler.  SGC also asks the system for the alternate
 * stack in use; call this for one that the system does not know of. */
GC_API void GC_CALL GC_register_altstack(void *stack, GC_SGC_STACK_SIZE_ stack_size, void *altstack,
                                         GC_SGC_STACK_SIZE_ altstack_size);
#endif

/* ---- threads that block, and come back ------------------------------------------------------- */

typedef void *(GC_CALLBACK *GC_fn_type)(void *arg);

/* Calls fn(arg) and returns what it returns.  Meanwhile a collection does not stop this thread, and scans
 * its stack only down to here: fn must not allocate and must not touch pointers into the heap.  For system
 * calls that wait. */
GC_API void *GC_CALL GC_do_blocking(GC_fn_type fn, void *arg) GC_ATTR_NONNULL(1);

/* Inside GC_do_blocking: calls fn(arg) as an ordinary mutator again.  The frames between the two calls are
 * not scanned.  The two nest to any depth.  Outside GC_do_blocking it only calls fn. */
GC_API void *GC_CALL GC_call_with_gc_active(GC_fn_type fn, void *arg) GC_ATTR_NONNULL(1);

/* ---- the allocation lock --------------------------------------------------------------------- */

/* Calls fn(arg) with the lock held and returns what it returns: no collection starts meanwhile; threads may still
 * register and end.  fn must not allocate, collect, or take the lock again; functions marked [callback] are
 * allowed.  May be called inside GC_do_blocking. */
GC_API void *GC_CALL GC_call_with_alloc_lock(GC_fn_type fn, void *arg) GC_ATTR_NONNULL(1);

#ifdef GC_THREADS
/* As GC_call_with_alloc_lock, for a function that only reads what the lock keeps, as when it reveals a hidden pointer.  bdwgc
 * runs several of them at a time, SGC one after the other.  `release` says that the next holder is to see what fn has written;
 * it does in any case. */
GC_API void *GC_CALL GC_call_with_reader_lock(GC_fn_type fn, void *arg, int release) GC_ATTR_NONNULL(1);

/* GC_call_with_alloc_lock in two halves, by one thread. */
GC_API void GC_CALL GC_alloc_lock(void);
GC_API void GC_CALL GC_alloc_unlock(void);

/* Takes the allocation lock and stops all other registered threads; lets them go and releases it.  In
 * between, only what a hook may do with the world stopped. */
GC_API void GC_CALL GC_stop_world_external(void);
GC_API void GC_CALL GC_start_world_external(void);
#else
#define GC_alloc_lock() ((void)0)
#define GC_alloc_unlock() ((void)0)
#define GC_call_with_reader_lock(fn, arg, release) ((void)(release), (fn)(arg))
#endif

/* ---- coroutines ------------------------------------------------------------------------------ */

/* Stores the stack base that SGC uses for the calling thread and returns a handle of the thread, never NULL,
 * valid until the thread ends. */
GC_API void *GC_CALL GC_get_my_stackbottom(struct GC_stack_base *base) GC_ATTR_NONNULL(1);

/* Sets the stack base of a thread; NULL: the calling thread.  For a switch to another stack: call it with
 * the allocation lock held, and change stacks before the lock is released, so that no collection sees one
 * without the other.  The stack that is left is no longer scanned: add its used part as a root.  With NULL
 * before GC_INIT(), it sets the main thread's. */
GC_API void GC_CALL GC_set_stackbottom(void *thread, const struct GC_stack_base *base) GC_ATTR_NONNULL(2);

/* Where the main thread's stack begins, if the client knows better.  Set it before GC_INIT(). */
GC_API GC_ATTR_DEPRECATED char *GC_stackbottom;

#ifdef GC_THREADS
/* A hook, called for each thread to be scanned, with the world stopped: it may replace *sp, the lowest address of
 * the part of the thread's stack that will be scanned.  For threads that run on stacks SGC was not told of,
 * which the client adds as roots. `thread` is the pthread_t as a pointer.  NULL: none. */
typedef void (GC_CALLBACK *GC_sp_corrector_proc)(void **sp, void *thread);
GC_API void GC_CALL GC_set_sp_corrector(GC_sp_corrector_proc hook);
GC_API GC_sp_corrector_proc GC_CALL GC_get_sp_corrector(void);
#endif

/* ---- signals --------------------------------------------------------------------------------- */

#ifdef GC_THREADS
/* The signal that stops threads; the client must leave it alone.  A number that is no signal or cannot be caught is
 * reported.  Threads go on without a signal: the second setting exists for compatibility, is kept and answered.
 * Unless it is set it is SIGURG, or SIGPWR if at the start the program handles that; so ask after the start.
 * [before init] */
GC_API void GC_CALL GC_set_suspend_signal(int signal);
GC_API void GC_CALL GC_set_thr_restart_signal(int signal);
GC_API int GC_CALL GC_get_suspend_signal(void);         /* [unregistered, callback, signal] */
GC_API int GC_CALL GC_get_thr_restart_signal(void);     /* [unregistered, callback, signal] */
#endif

/* ---- fork ------------------------------------------------------------------------------------ */

/* 1: SGC surrounds each fork() itself (the default), so that the child can go on with the one thread it has;
 * 0: it does not, and the child must not use the heap; -1: the client calls the three functions below around
 * each fork.  [before init] */
GC_API void GC_CALL GC_set_handle_fork(int mode);

/* For a client that has called GC_set_handle_fork(-1): before fork; after it in the parent, or when it failed; after it in the
 * child.  They do nothing in mode 1. */
GC_API void GC_CALL GC_atfork_prepare(void);
GC_API void GC_CALL GC_atfork_parent(void);
GC_API void GC_CALL GC_atfork_child(void);

#ifdef __cplusplus
}
#endif

#endif
