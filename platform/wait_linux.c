/* SPDX-License-Identifier: MIT */
/*
 * Waiting on a word: the kernel's private futex.  Owns nothing; runs on any thread, in the handler
 * that parks a mutator too.
 */
#include <linux/futex.h>
#include <time.h>

#include "platform/platform.h"
#include "platform/registers.h"
#include "platform/syscall_linux.h"

/* Callers loop: where the system refuses to let them sleep, they are not to take the processor from whom they wait for. */
bool sgc_wait(sgc_a32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct timespec timeout = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
    struct timespec *limit = timeout_ns < 0 ? NULL : &timeout;
    long result = sgc_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)expected, (long)limit);
    if (result < 0 && result != -EAGAIN && result != -EINTR && result != -ETIMEDOUT)
        sgc_yield();
    return result != -ETIMEDOUT;
}

void sgc_wake(sgc_a32_t *word, int count)
{
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
