/* SPDX-License-Identifier: MIT */
/* What a range of memory holds. */
#ifndef TESTS_LIB_BYTES_H
#define TESTS_LIB_BYTES_H

#include <stdbool.h>
#include <stddef.h>

static inline bool all_zero(const void *start, size_t bytes)
{
    const unsigned char *p = start;

    for (size_t i = 0; i < bytes; i++)
        if (p[i] != 0)
            return false;
    return true;
}

#endif
