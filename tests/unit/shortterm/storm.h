/* SPDX-License-Identifier: MIT */
/* Storms of short-term memory measure time and count what was wrong by these. */
#ifndef TESTS_UNIT_SHORTTERM_STORM_H
#define TESTS_UNIT_SHORTTERM_STORM_H

#include <time.h>

#include "platform/atomics.h"
#include "tests/lib/random.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

static sgc_a32_t over, wrong, refused;
static sgc_aw_t first_refused;          /* the line of that call, and its error above 16 bits */

/* An error number, or what became of a child. */
static void must_at(int error, int line)
{
    if (error != 0 && sgc_a32_add(&refused, 1) == 0)
        sgc_aw_store(&first_refused, (uintptr_t)error << 16 | (uintptr_t)line);
}

#define must(error) must_at(error, __LINE__)

static bool all_right(void)
{
    struct SGC_shortterm_stats s = figures();

    printf("# %u are wrong, %u calls refused, the first at line %u with %u; %lu dates, %lu of them over\n",
           sgc_a32_load(&wrong), sgc_a32_load(&refused), (unsigned)sgc_aw_load(&first_refused) & 0xffff,
           (unsigned)(sgc_aw_load(&first_refused) >> 16), (unsigned long)s.dates, (unsigned long)s.expired);
    fflush(stdout);
    return sgc_a32_load(&wrong) == 0 && sgc_a32_load(&refused) == 0;
}

static void doze(long microseconds)
{
    struct timespec t = { 0, microseconds * 1000 };

    nanosleep(&t, NULL);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
