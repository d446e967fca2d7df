/* SPDX-License-Identifier: MIT */
/* See platform/find_pointers.h.  [any] */
#include "platform/find_pointers.h"

#include "platform/platform.h"

#define BLIND __attribute__((no_sanitize("address", "thread", "undefined")))
#define INLINE __attribute__((always_inline)) static inline

SGC_STATE struct sgc_word_form sgc_word_form = { .mask = UINTPTR_MAX, .shift = 0 };

/* Each word is written to the next place, and the place is kept if it is one: there is no branch to
 * be mispredicted. */
BLIND INLINE size_t inside_any(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                               uintptr_t limit, uintptr_t mask)
{
    size_t n = 0;

    for (size_t i = 0; i < ranges; i++) {
        const volatile uintptr_t *word = (const volatile uintptr_t *)range[i].start;
        const volatile uintptr_t *end = word + range[i].bytes / sizeof *word;

        for (; word < end; word++) {
            uintptr_t distance = (*word & mask) - base;

            inside[n] = distance;
            n += distance < limit;
        }
    }
    return n;
}

BLIND size_t sgc_words_inside_any(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                                  uintptr_t limit)
{
    return inside_any(inside, range, ranges, base, limit, UINTPTR_MAX);
}

BLIND size_t sgc_words_masked_any(uintptr_t *inside, const struct sgc_words *range, size_t ranges, uintptr_t base,
                                  uintptr_t limit)
{
    return inside_any(inside, range, ranges, base, limit, sgc_word_form.mask);
}
