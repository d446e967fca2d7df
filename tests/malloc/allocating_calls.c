/* SPDX-License-Identifier: MIT */
/*
 * A program, or what it has preloaded, may put functions of its own in the place of system calls,
 * and these allocate: also those that a malloc makes while it starts.  It may refuse them, but not
 * wait for itself.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARGUMENTS = 6, BLOCKS = 1000 };

static unsigned calls;

/* The function that would be called without this program; allocates when it is asked for first. */
static void *next(void **known, const char *name)
{
    calls++;
    if (*known == NULL) {
        *known = dlsym(RTLD_NEXT, name);
        free(malloc(40));
    }
    return *known;
}

/* For the libraries that the program runs with. */
#pragma GCC visibility push(default)

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t from)
{
    static void *known;
    void *(*real)(void *, size_t, int, int, int, off_t) = next(&known, "mmap");

    return real(address, length, protection, flags, file, from);
}

int mprotect(void *address, size_t length, int protection)
{
    static void *known;
    int (*real)(void *, size_t, int) = next(&known, "mprotect");

    return real(address, length, protection);
}

int madvise(void *address, size_t length, int advice)
{
    static void *known;
    int (*real)(void *, size_t, int) = next(&known, "madvise");

    return real(address, length, advice);
}

long syscall(long number, ...)
{
    static void *known;
    long (*real)(long, ...) = next(&known, "syscall");
    long a[ARGUMENTS];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < ARGUMENTS; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#pragma GCC visibility pop

int main(void)
{
    static char *block[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        block[i] = malloc((size_t)i * 100);
        if (block[i] == NULL)
            return 1;
        memset(block[i], i, (size_t)i * 100);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(block[i]);
    printf("%d blocks, %s\n", BLOCKS, calls != 0 ? "calls seen" : "no call seen");
    return 0;
}
