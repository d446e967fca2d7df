/* SPDX-License-Identifier: MIT */
/*
 * libsgcpreload, which sgc-run loads before everything else: it takes the place of the C library's
 * thread functions, so that the threads of an unmodified program are registered with the collector.
 *
 * Until the collector has started, and in programs that never use it, each call goes straight to
 * the C library.  The real functions are looked up when they are first needed, which may be before
 * any constructor has run; they are exported for the collector's own calls (gc/api/real_threads.h).
 *
 *   real.*   any thread, each time the same value, relaxed    any thread, relaxed: one word each
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include "gc/gc.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

#include "gc/api/real_threads.h"
#include "platform/atomics.h"

#define EXPORT __attribute__((visibility("default")))

static struct {
    sgc_aw_t pthread_create, pthread_join, pthread_tryjoin_np, pthread_timedjoin_np, pthread_clockjoin_np, pthread_detach,
        pthread_exit;
} real;

/* The next definition of the name after this library's; 0 if there is none, which no C library
 * does. */
static uintptr_t find(sgc_aw_t *slot, const char *name)
{
    uintptr_t found = sgc_aw_load(slot);

    if (found == 0) {
        found = (uintptr_t)dlsym(RTLD_NEXT, name);
        sgc_aw_store(slot, found);
    }
    return found;
}

#define REAL(name) ((__typeof__(&name))find(&real.name, #name))

EXPORT int SGC_real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    __typeof__(&pthread_create) call = REAL(pthread_create);

    return call != NULL ? call(thread, attr, body, arg) : EAGAIN;
}

EXPORT int SGC_real_pthread_join(pthread_t thread, void **result)
{
    __typeof__(&pthread_join) call = REAL(pthread_join);

    return call != NULL ? call(thread, result) : EINVAL;
}

EXPORT int SGC_real_pthread_tryjoin_np(pthread_t thread, void **result)
{
    __typeof__(&pthread_tryjoin_np) call = REAL(pthread_tryjoin_np);

    return call != NULL ? call(thread, result) : ENOSYS;
}

EXPORT int SGC_real_pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    __typeof__(&pthread_timedjoin_np) call = REAL(pthread_timedjoin_np);

    return call != NULL ? call(thread, result, until) : ENOSYS;
}

EXPORT int SGC_real_pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
    __typeof__(&pthread_clockjoin_np) call = REAL(pthread_clockjoin_np);

    return call != NULL ? call(thread, result, clock, until) : ENOSYS;
}

EXPORT int SGC_real_pthread_detach(pthread_t thread)
{
    __typeof__(&pthread_detach) call = REAL(pthread_detach);

    return call != NULL ? call(thread) : EINVAL;
}

EXPORT void SGC_real_pthread_exit(void *result)
{
    void (*call)(void *) = (void (*)(void *))find(&real.pthread_exit, "pthread_exit");

    if (call != NULL)
        call(result);
    abort();
}

/* ---- in place of the C library's ---- */

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg)
{
    return GC_is_init_called() ? GC_pthread_create(thread, attr, body, arg)
                               : SGC_real_pthread_create(thread, attr, body, arg);
}

EXPORT int pthread_join(pthread_t thread, void **result)
{
    return GC_is_init_called() ? GC_pthread_join(thread, result) : SGC_real_pthread_join(thread, result);
}

EXPORT int pthread_tryjoin_np(pthread_t thread, void **result)
{
    return GC_is_init_called() ? GC_pthread_tryjoin_np(thread, result) : SGC_real_pthread_tryjoin_np(thread, result);
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    return GC_is_init_called() ? GC_pthread_timedjoin_np(thread, result, until)
                               : SGC_real_pthread_timedjoin_np(thread, result, until);
}

EXPORT int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
    return GC_is_init_called() ? GC_pthread_clockjoin_np(thread, result, clock, until)
                               : SGC_real_pthread_clockjoin_np(thread, result, clock, until);
}

EXPORT int pthread_detach(pthread_t thread)
{
    return GC_is_init_called() ? GC_pthread_detach(thread) : SGC_real_pthread_detach(thread);
}

EXPORT void pthread_exit(void *result)
{
    if (GC_is_init_called())
        GC_pthread_exit(result);
    SGC_real_pthread_exit(result);
}

/* ---- threads of C11, which the C library makes without calling pthread_create by its name ---- */

_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "one is the other");

static int c11_result(int error)
{
    return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : error == EBUSY ? thrd_busy : thrd_error;
}

/* On both processors an int is returned in the lower half of the register in which a pointer is: no
 * thunk is needed, nor memory for its arguments. */
EXPORT int thrd_create(thrd_t *thread, thrd_start_t body, void *arg)
{
    void *(*returns_pointer)(void *) = (void *(*)(void *))(void (*)(void))body;

    return c11_result(pthread_create((pthread_t *)thread, NULL, returns_pointer, arg));
}

EXPORT int thrd_join(thrd_t thread, int *result)
{
    void *raw = NULL;
    int error = pthread_join((pthread_t)thread, &raw);

    if (error == 0 && result != NULL)
        *result = (int)(intptr_t)raw;
    return c11_result(error);
}

EXPORT int thrd_detach(thrd_t thread)
{
    return c11_result(pthread_detach((pthread_t)thread));
}

EXPORT void thrd_exit(int result)
{
    pthread_exit((void *)(intptr_t)result);
}
