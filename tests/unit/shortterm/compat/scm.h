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

/* Runs body(arg) on another thread; its result, or a number that is none if there is no thread. */
TEST_UNUSED static intptr_t on_thread(void *(*body)(void *), void *arg)
{
    pthread_t thread;
    void *result;

    if (pthread_create(&thread, NULL, body, arg) != 0 || pthread_join(thread, &result) != 0)
        return -99;
    return (intptr_t)result;
}

#endif
