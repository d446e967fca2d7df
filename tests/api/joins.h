/* SPDX-License-Identifier: MIT */
/* Tests join threads in these ways, which wait until a thread is over, but not for ever. */
#ifndef TESTS_API_JOINS_H
#define TESTS_API_JOINS_H

#include "api.h"

static bool join_early;                 /* nobody waits; a thread that goes on gives ETIMEDOUT */

static struct timespec join_until(clockid_t clock)
{
    struct timespec time = { 0, 0 };

    if (join_early)
        return time;
    clock_gettime(clock, &time);
    time.tv_sec += 100;
    return time;
}

static int join_at_once(pthread_t thread, void **result)
{
    int error;

    while ((error = GC_pthread_tryjoin_np(thread, result)) == EBUSY && !join_early)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    return error == EBUSY ? ETIMEDOUT : error;
}

static int join_by_time(pthread_t thread, void **result)
{
    struct timespec time = join_until(CLOCK_REALTIME);

    return GC_pthread_timedjoin_np(thread, result, &time);
}

static int join_by_clock(pthread_t thread, void **result)
{
    struct timespec time = join_until(CLOCK_MONOTONIC);

    return GC_pthread_clockjoin_np(thread, result, CLOCK_MONOTONIC, &time);
}

#endif
