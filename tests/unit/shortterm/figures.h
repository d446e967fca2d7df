/* SPDX-License-Identifier: MIT */
/* The figures of short-term memory, for its tests. */
#ifndef TESTS_UNIT_SHORTTERM_FIGURES_H
#define TESTS_UNIT_SHORTTERM_FIGURES_H

#include "sgc_shortterm.h"
#include "tests/lib/tap.h"

TEST_UNUSED static struct SGC_shortterm_stats figures(void)
{
    struct SGC_shortterm_stats s;

    SGC_get_shortterm_stats(&s, sizeof s);
    return s;
}

/* Those that are not over. */
TEST_UNUSED static uint64_t dates(void)
{
    return figures().dates;
}

#endif
