/* SPDX-License-Identifier: MIT */
/*
 * Time, waiting on a word by the kernel's private futex, and a barrier of all threads.  Owns
 * nothing: the kernel knows which processes have registered for the barrier.  All of it runs on any
 * thread, in the handler that parks a mutator too.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <time.h>

#include "platform/platform.h"
#include "platform/registers.h"
#include "platform/report.h"
#include "platform/syscall_linux.h"

enum { SGC_NS_PER_S = 1000000000 };

/* ---- clocks ---- */

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now = { 0, 0 };
    int saved = errno;
    clock_gettime(clock, &now);
    errno = saved;
    sgc_assert(now.tv_sec >= 0 && now.tv_nsec >= 0 && now.tv_nsec < SGC_NS_PER_S);
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

    sgc_assert(end >= ns);
    while (sgc_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, (long)&until, 0) == -EINTR)
        ;
}

/* ---- waiting ---- */

/* Callers loop: where the system refuses to let them sleep, they are not to take the processor from
 * whom they wait for. */
bool sgc_wait(sgc_a32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct timespec timeout = { timeout_ns / SGC_NS_PER_S, timeout_ns % SGC_NS_PER_S };
    struct timespec *limit = timeout_ns < 0 ? NULL : &timeout;
    long result;

    sgc_assert(word != NULL && (uintptr_t)word % sizeof *word == 0);
    result = sgc_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)expected, (long)limit);
    if (result < 0 && result != -EAGAIN && result != -EINTR && result != -ETIMEDOUT)
        sgc_yield();
    return result != -ETIMEDOUT;
}

/* The address alone is used: there may be no word any more. */
void sgc_wake(sgc_a32_t *word, int count)
{
    sgc_assert(word != NULL && (uintptr_t)word % sizeof *word == 0 && count >= 0);
    sgc_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0);
}

void sgc_yield(void)
{
    sgc_syscall(SYS_sched_yield, 0, 0, 0, 0);
}

void sgc_spin_hint(void)
{
    sgc_arch_pause();
}

/* ---- a barrier of all threads ---- */

static long ask_membarrier(int command)
{
    return sgc_syscall(SYS_membarrier, command, 0, 0, 0);
}

/* A process that has not said before that it will ask is refused with EPERM: the first time, and
 * where a fork or a restore has lost it. */
bool sgc_barrier_all_threads(void)
{
    long result = ask_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);

    if (result == -EPERM && ask_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        result = ask_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    return result == 0;
}
