/* SPDX-License-Identifier: MIT */
/* Searching in what is sorted.  [any] */
#ifndef SGC_PLATFORM_SORTED_H
#define SGC_PLATFORM_SORTED_H

#include <stddef.h>
#include <stdint.h>

#include "platform/report.h"

/* How many of some entries begin at `value` or below: the first so many.  Entries are `each` bytes
 * apart and ascend by where they begin, a 64-bit number, which is at `begins` in the first one. */
static inline size_t sgc_sorted_up_to(const uint64_t *begins, size_t count, size_t each, uint64_t value)
{
    size_t low = 0, high = count;

    sgc_assert(each % sizeof *begins == 0);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (value < begins[middle * (each / sizeof *begins)])
            high = middle;
        else
            low = middle + 1;
    }
    sgc_assert(low == 0 || begins[(low - 1) * (each / sizeof *begins)] <= value);
    return low;
}

#endif
