/* SPDX-License-Identifier: MIT */
/* Tests of short-term memory choose its settings and read its figures by these. */
#ifndef TESTS_UNIT_SHORTTERM_SHORTTERM_H
#define TESTS_UNIT_SHORTTERM_SHORTTERM_H

#include <stdlib.h>

#include "sgc_shortterm.h"
#include "tests/lib/tap.h"

TEST_UNUSED static const char *const mode_names[] = { "pin", "free", "hybrid", "verify" };

/* A process that cannot have these settings ends. */
TEST_UNUSED static void choose(int mode, int extension, int collect, int step, int page_bytes)
{
    struct SGC_shortterm wanted = { mode, extension, collect, step, page_bytes };

    if (SGC_shortterm_init(&wanted, sizeof wanted) != 0)
        exit(100);
}

TEST_UNUSED static struct SGC_shortterm_stats figures(void)
{
    struct SGC_shortterm_stats s;

    SGC_get_shortterm_stats(&s, sizeof s);
    return s;
}

/* A finalizer that counts its calls. */
TEST_UNUSED static int finalizations;

TEST_UNUSED static void count_finalization(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    finalizations++;
}

/* Those that are not over. */
TEST_UNUSED static uint64_t dates(void)
{
    return figures().dates;
}

#endif
