/* SPDX-License-Identifier: MIT */
/*
 * The settings of short-term memory, and how the start takes them over.
 *
 *   wanted     SGC_shortterm_init, before the start,     the start   the lock
 *              under the lock of short-term memory
 *   the rest   the thread that starts the layer, under   everybody   release of sgc_upper_now /
 *              that lock                                             acquire
 */
#ifndef SGC_SHORTTERM_SETTINGS_H
#define SGC_SHORTTERM_SETTINGS_H

#include "gc/threads/mutator.h"
#include "sgc_shortterm.h"

struct sgc_shortterm {
    uint32_t mode;                      /* SGC_SHORTTERM_PIN ... */
    uint32_t extension;                 /* the largest */
    bool eager;                         /* ticks alone take dates off; with verify nothing does */
    bool counts;                        /* an object's dates are counted */
    uint32_t step;                      /* lazy: dates that an operation takes off */
    uint32_t check;                     /* verify: ticks of a thread between checks; 0: none */
    uint32_t words;                     /* of a date: the object, and with verify the caller */
};
SGC_INNER struct sgc_shortterm sgc_shortterm;

enum { SGC_EXTENSION_MAX = 65535, SGC_STEP_MAX = 1 << 20 };

static inline bool sgc_verifies(void)
{
    return sgc_shortterm.mode == SGC_SHORTTERM_VERIFY;
}

static inline bool sgc_shortterm_ok(void)
{
    return sgc_shortterm.mode <= SGC_SHORTTERM_VERIFY && sgc_shortterm.extension <= SGC_EXTENSION_MAX;
}

/* Takes over what was chosen.  Without memory to count dates the mode is pin, with a warning.
 * Under that lock and the GC lock; once. */
void sgc_shortterm_settle(void);

#endif
