/* SPDX-License-Identifier: MIT */
/*
 * Raw system calls for the files of platform/ only.
 *
 * Libc's wrappers of open, read, futex and the like are cancellation points, and sanitizers put
 * themselves in front of them; neither may happen in a signal handler or while the world is
 * stopped.  The result is the kernel's (negative: an error number) and errno stays as it was,
 * because the code that a handler interrupted may be about to look at it.
 */
#ifndef SGC_PLATFORM_SYSCALL_LINUX_H
#define SGC_PLATFORM_SYSCALL_LINUX_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline long sgc_syscall(long number, long a, long b, long c, long d)
{
    int saved = errno;
    long result = syscall(number, a, b, c, d);
    if (result == -1)
        result = -errno;
    errno = saved;
    return result;
}

/* With six arguments. */
static inline long sgc_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
    int saved = errno;
    long result = syscall(number, a, b, c, d, e, f);
    if (result == -1)
        result = -errno;
    errno = saved;
    return result;
}

/* mincore, which answers EAGAIN where the kernel has no page to spare just now: that says nothing
 * about the range. */
static inline long sgc_ask_mincore(uintptr_t start, size_t bytes, unsigned char *resident)
{
    long result = -EAGAIN;
    for (int tries = 0; result == -EAGAIN && tries < 100; tries++)
        result = sgc_syscall(SYS_mincore, (long)start, (long)bytes, (long)resident, 0);
    return result;
}

#endif
