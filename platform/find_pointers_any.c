/* SPDX-License-Identifier: MIT */
/* See platform/find_pointers.h.  [any] */
#include "platform/find_pointers.h"

#define BLIND __attribute__((no_sanitize("address", "thread", "undefined")))

/* Each word is written to the next place, and the place is kept if it is one: there is no branch to
 * be mispredicted. */
BLIND size_t sgc_words_inside_any(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                                  uintptr_t limit)
{
    size_t n = 0;

    for (size_t i = 0; i < ranges; i++) {
        const volatile uintptr_t *word = (const volatile uintptr_t *)range[i].start;
        const volatile uintptr_t *end = word + range[i].bytes / sizeof *word;

        for (; word < end; word++) {
            uintptr_t distance = *word - base;

            inside[n] = distance;
            n += distance < limit;
        }
    }
    return n;
}
