/* SPDX-License-Identifier: MIT */
/*
 * What is kept for a thread that GC_pthread_create has created: its argument until it has taken it, and its
 * result until somebody has joined it, which otherwise only the C library's own memory would hold.
 *
 * A record is an uncollectable object, so what it holds is alive.  It is listed by pthread_t from before the
 * creator returns until the thread is joined, or is both over and detached.  A pthread_t is given out again
 * once it was joined, so several records may have the same one: all but the newest have been joined, and
 * a join settles the oldest that is over.  (Who joins by other means, pthread_timedjoin_np, leaves a record behind;
 * the next join of that pthread_t settles it.)
 *
 *   what                       written by                       read by        ordering
 *   body, arg                  the creator                      the thread     creation
 *   result                     the thread, under the            marker         stopping the world
 *                              registry's lock if it has
 *                              unregistered
 *   next, ended, detached,     under the registry's lock        same           the lock
 *   suspended
 */
#ifndef SGC_GC_START_RECORDS_H
#define SGC_GC_START_RECORDS_H

#include "gc/mutator.h"

struct sgc_start {
    void *(*body)(void *);
    void *arg;
    void *result;
    struct sgc_start *next;
    pthread_t thread;
    bool ended, detached;
    bool suspended;             /* though it had ended, and was not joined: gc/api_suspend.c */
};

/* NULL if there is no memory.  On the creating mutator. */
struct sgc_start *sgc_start_make(void *(*body)(void *), void *arg, bool detached);
void sgc_start_drop(struct sgc_start *start);

/* By the new thread, registered, before it runs: lists the record and sees to it that sgc_start_over is called when
 * the thread ends, whichever way.  False if the system cannot. */
bool sgc_start_begin(struct sgc_start *start);

/* What the calling thread leaves to who joins it.  It may have no record any more. */
void sgc_start_set_result(void *result);

/* A thread registers: if it was away, what it was suspended for meanwhile is over.  With the registry's lock. */
void sgc_start_registers(pthread_t thread);

/* The calling thread is over, or about to unregister. */
void sgc_start_over(void);

/* The record of a thread that is over, or has unregistered, and can still be joined; NULL if there is none.  With the registry's
 * lock. */
struct sgc_start *sgc_start_ended(pthread_t thread);

/* A thread has been joined. */
void sgc_start_joined(pthread_t thread);

/* The newest record of a thread, before it is detached; then, once it is. */
struct sgc_start *sgc_start_find(pthread_t thread);
void sgc_start_detached(struct sgc_start *start);

#endif
