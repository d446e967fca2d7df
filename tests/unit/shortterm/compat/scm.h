/* SPDX-License-Identifier: MIT */
/* What the tests of libscm share: what a program cannot know by libscm's own calls. */
#ifndef TESTS_SCM_H
#define TESTS_SCM_H

#include <pthread.h>
#include <stdint.h>

#include "libscm.h"
#include "sgc_shortterm.h"
#include "stm-debug.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"

/* Is there an object that begins there? */
TEST_UNUSED static bool is_object(const void *object)
{
    return GC_base((void *)(uintptr_t)object) == object;
}

/* An object of 40 bytes. */
TEST_UNUSED static void *new_object(void)
{
    void *object = scm_malloc(40);

    memset(object, 0x55, 40);
    return object;
}

/* And all that is over then is freed. */
TEST_UNUSED static void collect_after(void tick(void))
{
    tick();
    scm_collect();
}

#endif
