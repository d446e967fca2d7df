/* SPDX-License-Identifier: MIT */
/* Threads of a test, one or several at a time; without threads the test ends.  In a test that includes gc.h first,
 * pthread_create may be the collector's: so these are compiled in each. */
#ifndef TESTS_LIB_THREADS_H
#define TESTS_LIB_THREADS_H

#include <pthread.h>
#include <stdint.h>

#include "tests/lib/tap.h"

TEST_UNUSED static pthread_t thread_start(void *(*body)(void *), void *arg)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, arg) != 0)
        tap_bail("no thread can be had");
    return thread;
}

TEST_UNUSED static void *thread_result(void *(*body)(void *), void *arg)
{
    void *result;

    if (pthread_join(thread_start(body, arg), &result) != 0)
        tap_bail("a thread cannot be joined");
    return result;
}

/* body(0) to body(n - 1), each in a thread of its own. */
TEST_UNUSED static void threads_start(pthread_t *thread, int n, void *(*body)(void *))
{
    for (intptr_t i = 0; i < n; i++)
        thread[i] = thread_start(body, (void *)i);
}

TEST_UNUSED static void threads_join(const pthread_t *thread, int n)
{
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

/* The sum of what they return, as numbers. */
TEST_UNUSED static intptr_t threads_sum(const pthread_t *thread, int n)
{
    intptr_t sum = 0;
    void *result;

    for (int i = 0; i < n; i++) {
        if (pthread_join(thread[i], &result) != 0)
            tap_bail("a thread cannot be joined");
        sum += (intptr_t)result;
    }
    return sum;
}

#endif
