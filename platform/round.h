/* SPDX-License-Identifier: MIT */
/* Rounding to multiples of a power of two.  Pure functions. */
#ifndef SGC_PLATFORM_ROUND_H
#define SGC_PLATFORM_ROUND_H

#include <stddef.h>

static inline size_t sgc_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) & ~(unit - 1);
}

static inline size_t sgc_round_down(size_t n, size_t unit)
{
    return n & ~(unit - 1);
}

#endif
