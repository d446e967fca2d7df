/* SPDX-License-Identifier: MIT */
/*
 * Clocks.  Owns nothing; runs on any thread.
 */
#include <errno.h>
#include <time.h>

#include "platform/platform.h"
#include "platform/syscall_linux.h"

enum { SGC_NS_PER_S = 1000000000 };

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now = { 0, 0 };
    int saved = errno;
    clock_gettime(clock, &now);
    errno = saved;
    return (uint64_t)now.tv_sec * SGC_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t sgc_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t sgc_clock_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Until an absolute time, so that signals do not lengthen the sleep; a raw call, so that a thread
 * that is cancelled does not end in the middle of the collector. */
void sgc_sleep_ns(uint64_t ns)
{
    uint64_t end = sgc_clock_ns() + ns;
    struct timespec until = { (time_t)(end / SGC_NS_PER_S), (long)(end % SGC_NS_PER_S) };
    while (sgc_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&until, 0) == -EINTR)
        ;
}
