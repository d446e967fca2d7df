/* SPDX-License-Identifier: MIT */
/*
 * What run-time systems of Java ask of a collector: all finalizers at the end, and one thread stopped for long.  Others
 * hardly need it.  The marks [unregistered], [callback], ... are those of gc.h.
 */
#ifndef GC_JAVAXFC_H
#define GC_JAVAXFC_H

#ifndef GC_H
#include "gc.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Runs every registered finalizer, even of objects that are reachable, and those registered meanwhile, until none is
 * left; GC_finalizer_notifier is not called.  It does not return while finalizers keep registering new ones. */
GC_API void GC_CALL GC_finalize_all(void);

#ifdef GC_THREADS
/* What names a thread: its pthread_t, as a pointer unless the client defines another type of that size. */
#ifndef GC_SUSPEND_THREAD_ID
#define GC_SUSPEND_THREAD_ID void *
#endif

/*
 * Stops a registered thread.  When the call returns, the thread runs no code of the program any more, its signal handlers
 * included, until GC_resume_thread is called for it.  Collections go on, beginning with objects that this thread's
 * stack, registers and thread-local variables point at, as if it ran.
 *
 * - There is no count: the first GC_resume_thread ends it, however often the thread was suspended.
 * - A thread may suspend itself: the call returns when another one has resumed it.
 * - A thread inside GC_do_blocking counts as suspended at once, and stops when it leaves that.
 * - The function may be called inside GC_do_blocking, which is left for that time, as by GC_call_with_gc_active.
 * - A thread that GC_pthread_create made and that has ended meanwhile, or has unregistered, counts as suspended until it is
 *   resumed, joined or registered again: who suspends a thread cannot know that it still runs.
 * - Any other thread that is not registered is reported, and nothing happens.  So is a call by a thread that holds the
 *   allocation lock.
 * - SGC never suspends a thread that holds a lock of the collector's or the loader's.  It may well hold one of the
 *   program's or of the C library, that of malloc or of a stream: whoever needs that waits until it is resumed.
 * - A fork leaves a suspended thread suspended in the parent; in the child it does not exist, as other threads.
 * - Cancelling a suspended thread, or a signal for it, has no effect before it is resumed.
 */
GC_API void GC_CALL GC_suspend_thread(GC_SUSPEND_THREAD_ID thread);

/* Lets a suspended thread go on; nothing happens if the thread is not suspended.
 * [unregistered] */
GC_API void GC_CALL GC_resume_thread(GC_SUSPEND_THREAD_ID thread);

/* Nonzero if the thread is suspended. [unregistered] */
GC_API int GC_CALL GC_is_thread_suspended(GC_SUSPEND_THREAD_ID thread);
#endif

#ifdef __cplusplus
}
#endif

#endif
