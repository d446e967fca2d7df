/* SPDX-License-Identifier: MIT */
/*
 * Records of threads that GC_pthread_create has created, each with the thread's argument until it
 * has taken it, and its result until somebody has joined it, which otherwise only the C library's
 * own memory would hold.
 *
 * A record is an uncollectable object, so what it holds is alive.  It is listed by pthread_t from
 * before the creator returns until the thread is joined, or is both over and detached.  A program
 * that joins or detaches it by other means than ours leaves a record behind.  The C library gives a
 * pthread_t out again only when its thread has been joined, or has ended detached: so a thread that
 * begins settles the older records of its pthread_t.  It may do that before the thread that has
 * joined the older one comes to do it.  Therefore each record has a number, which the joiner asks
 * for before it joins.
 *
 * Settled records are put on a list, and freed by the thread once it has released the lock, or, if
 * it is not registered and cannot free, by the next one that can.
 *
 *   what                       written by                       read by        ordering
 *   body, arg                  the creator                      the thread     creation
 *   result                     the thread, under the            marker         stopping the world
 *                              registry's lock if it has
 *                              unregistered
 *   next, ended, detached,     under the registry's lock        same           the lock
 *   suspended, serial
 */
#ifndef SGC_GC_API_CREATED_THREADS_H
#define SGC_GC_API_CREATED_THREADS_H

#include "gc/threads/mutator.h"

struct sgc_start {
    void *(*body)(void *);
    void *arg;
    void *result;
    struct sgc_start *next;
    pthread_t thread;
    uint64_t serial;            /* from 1 */
    bool ended, detached;
    bool suspended;             /* though it had ended, and was not joined: gc/api/suspend.c */
};

/* Is it the record of a thread that has begun?  With the registry's lock, or for that thread. */
static inline bool sgc_start_ok(const struct sgc_start *start)
{
    return start->serial != 0 && start->body != NULL;
}

/* The calling thread is over, or about to unregister. */
void sgc_start_over(void);

/* The record of a thread that is over, or has unregistered, and can still be joined; NULL if there
 * is none.  With the registry's lock. */
struct sgc_start *sgc_start_ended(pthread_t thread);

/* The number of a thread's record before it is joined or detached, 0: it has none.  Then, once that
 * has been done. */
uint64_t sgc_start_serial(pthread_t thread);
void sgc_start_joined(pthread_t thread, uint64_t serial);
void sgc_start_detached(pthread_t thread, uint64_t serial);

/* True, with a message, on a thread that has stopped the world: the records of threads have a lock,
 * and a thread that stands still does not end.  `what`: "joined" ... */
bool sgc_threads_refused(const char *function, const char *what);

#endif
