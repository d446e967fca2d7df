/* SPDX-License-Identifier: MIT */
/*
 * The C library's own thread functions.
 *
 * libsgcpreload defines functions of the same names, which lead to GC_pthread_create and its
 * relatives; these must not lead back there.  So it also exports the real ones under the names
 * below, and the collector's library uses them if they are there: they are weak, null without
 * libsgcpreload.
 */
#ifndef SGC_GC_API_REAL_THREADS_H
#define SGC_GC_API_REAL_THREADS_H

#include <pthread.h>
#include <time.h>

#define SGC_REAL(result, name, parameters) \
    extern result SGC_real_##name parameters __attribute__((weak, visibility("default")))

SGC_REAL(int, pthread_create, (pthread_t *thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg));
SGC_REAL(int, pthread_join, (pthread_t thread, void **result));
SGC_REAL(int, pthread_tryjoin_np, (pthread_t thread, void **result));
SGC_REAL(int, pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until));
SGC_REAL(int, pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until));
SGC_REAL(int, pthread_detach, (pthread_t thread));
SGC_REAL(void, pthread_exit, (void *result)) __attribute__((noreturn));

/* The C library's function, whatever stands before it. */
#define SGC_REAL_OF(name) (SGC_real_##name != NULL ? SGC_real_##name : name)

#endif
