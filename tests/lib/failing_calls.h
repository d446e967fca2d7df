/* SPDX-License-Identifier: MIT */
/*
 * System calls of the sources of written pages that fail: by a function of the test program in place of the C library's
 * syscall(), through which the library makes them.  Included by one source of a program.
 */
#ifndef TESTS_LIB_FAILING_CALLS_H
#define TESTS_LIB_FAILING_CALLS_H

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int made;               /* calls so far, */
static volatile bool counting;          /* of which only those count that are made meanwhile */
static volatile int failing;            /* the one that fails; 0: none */
static volatile bool onward, over_and_over;     /* and all after it; and as many after that again */
static volatile int failing_error;

static bool fails(void)
{
    if (!counting)
        return false;
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    if (failing == 0)
        return false;
    return onward ? made >= failing : over_and_over ? made % failing == 0 : made == failing;
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Of the sources' calls only those that may fail without a reason in the program: not waiting and waking, not clearing up. */
static bool is_the_sources(long number)
{
    return number == SYS_ioctl || number == SYS_mprotect || number == SYS_userfaultfd || number == SYS_fstat ||
           number == SYS_pwrite64 || number == SYS_pread64 || number == SYS_madvise || number == SYS_prlimit64;
}

/* The last protection must be taken away by somebody: only protecting fails. */
static bool protects(long number, long access)
{
    return number != SYS_mprotect || access == PROT_READ;
}

long syscall(long number, ...)
{
    static long (*next)(long, ...);
    long a[6];
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (next == NULL) {
        void *symbol = real("syscall");
        memcpy(&next, &symbol, sizeof next);
    }
    if (is_the_sources(number) && protects(number, a[2]) && fails()) {
        errno = failing_error;
        return -1;
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
