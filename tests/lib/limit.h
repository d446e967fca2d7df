/* SPDX-License-Identifier: MIT */
/* The system has no memory: for a child process. */
#ifndef TESTS_LIB_LIMIT_H
#define TESTS_LIB_LIMIT_H

#include <stdbool.h>
#include <sys/resource.h>

enum { LIMIT_NOTHING = 4096 };          /* no mapping more is had; RLIM_INFINITY: all is as before */

/* False: it cannot be limited. */
__attribute__((unused)) static bool limit_memory(rlim_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return false;
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

#endif
