/* SPDX-License-Identifier: MIT */
/*
 * Thread functions that SGC must see, under their own names and, by macros, under those of pthread.h
 * and dlfcn.h.  Included by gc.h when the client defines GC_THREADS; it may be included again, after
 * a system header has redefined the names, with GC_PTHREAD_REDIRECTS_ONLY for the macros alone.
 *
 * Each function takes and returns what the function it stands for does, and fails as that does.
 * They may be called by any registered thread, not inside callbacks of the collector.
 */
#if !defined(GC_H)
#error "Include <gc/gc.h>, which includes gc_pthread_redirects.h when GC_THREADS is defined."
#endif

#if defined(GC_PTHREADS) && !defined(GC_PTHREAD_REDIRECTS_ONLY) && !defined(GC_PTHREAD_REDIRECTS_H)
#define GC_PTHREAD_REDIRECTS_H

#include <pthread.h>
#include <signal.h>
#include <time.h>
#if !defined(GC_NO_DLOPEN)
#include <dlfcn.h>
#endif

#if !defined(GC_PTHREAD_CREATE_CONST)
#define GC_PTHREAD_CREATE_CONST const
#endif
#if !defined(GC_SUSPEND_THREAD_ID)
#define GC_SUSPEND_THREAD_ID pthread_t
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Creates a registered thread: its stack is a root from before `body` runs until it ends, and the
 * argument is kept alive until the thread has taken it.  EAGAIN, as from the system, when no thread
 * can be had, or by who holds the world stopped; nothing stays registered then. */
GC_API int GC_pthread_create(pthread_t *thread, GC_PTHREAD_CREATE_CONST pthread_attr_t *attr,
                             void *(*body)(void *), void *arg);

/* Waits for the thread; its result is kept alive until the join has stored it in *result (which may
 * be NULL).  In a blocked region (GC_do_blocking) nothing keeps the result after that, unless *result lies
 * where collections look: join in GC_call_with_gc_active what is to be read.  A collection does not wait for
 * a thread that waits here.  EDEADLK from who holds the world stopped. */
GC_API int GC_pthread_join(pthread_t thread, void **result);

#if defined(_GNU_SOURCE)
/* GC_pthread_join without waiting, and waiting until a moment of the real-time clock or of another one.  The result
 * is kept until one of them succeeds.  ENOSYS if the C library has no such function. */
GC_API int GC_pthread_tryjoin_np(pthread_t thread, void **result);
GC_API int GC_pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until);
GC_API int GC_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until);
#endif

/* Gives up the thread's result: nobody will join it.  EAGAIN from who holds the world stopped. */
GC_API int GC_pthread_detach(pthread_t thread);

#if !defined(GC_NO_PTHREAD_CANCEL)
/* Cancels the thread.  It is never ended inside the collector: it ends at the next cancellation
 * point of its own. */
GC_API int GC_pthread_cancel(pthread_t thread);
#endif

#if defined(GC_HAVE_PTHREAD_EXIT) && !defined(GC_PTHREAD_EXIT_DECLARED)
#define GC_PTHREAD_EXIT_DECLARED
/* Ends the calling thread.  `result` stays alive until it is joined or the thread is detached. */
GC_API void GC_pthread_exit(void *result) GC_PTHREAD_EXIT_ATTRIBUTE;
#endif

#if !defined(GC_NO_PTHREAD_SIGMASK) && (defined(GC_PTHREAD_SIGMASK_NEEDED) || defined(_GNU_SOURCE) \
        || defined(_BSD_SOURCE) || (defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 199506L) \
        || (defined(_XOPEN_SOURCE) && _XOPEN_SOURCE >= 500))
/* Changes the signal mask of the calling thread, except that SGC's suspend signal is not blocked: a
 * thread that blocked it could not be stopped, and every collection would wait for it. */
GC_API int GC_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
#endif

#if !defined(GC_NO_DLOPEN)
/* Opens a shared object.  The system's own dlopen may be used as well: SGC learns of new modules from
 * the loader.  This one exists because clients and the ABI expect it. */
GC_API void *GC_dlopen(const char *path, int mode);
#endif

#ifdef __cplusplus
}
#endif
#endif

#if defined(GC_PTHREADS) && !defined(GC_NO_THREAD_REDIRECTS) && !defined(GC_USE_LD_WRAP)
#undef pthread_create
#undef pthread_join
#undef pthread_detach
#define pthread_create GC_pthread_create
#define pthread_join GC_pthread_join
#define pthread_detach GC_pthread_detach
#if defined(_GNU_SOURCE)
#undef pthread_tryjoin_np
#undef pthread_timedjoin_np
#undef pthread_clockjoin_np
#define pthread_tryjoin_np GC_pthread_tryjoin_np
#define pthread_timedjoin_np GC_pthread_timedjoin_np
#define pthread_clockjoin_np GC_pthread_clockjoin_np
#endif
#if !defined(GC_NO_PTHREAD_CANCEL)
#undef pthread_cancel
#define pthread_cancel GC_pthread_cancel
#endif
#if defined(GC_HAVE_PTHREAD_EXIT)
#undef pthread_exit
#define pthread_exit GC_pthread_exit
#endif
#if !defined(GC_NO_PTHREAD_SIGMASK)
#undef pthread_sigmask
#define pthread_sigmask GC_pthread_sigmask
#endif
#if !defined(GC_NO_DLOPEN)
#undef dlopen
#define dlopen GC_dlopen
#endif
#endif
