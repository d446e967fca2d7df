/* SPDX-License-Identifier: MIT */
/*
 * Forgetting what calls that are over have left on the stack.
 */
#ifndef SGC_TESTS_SCRUB_H
#define SGC_TESTS_SCRUB_H

#include <stddef.h>

/* Overwrites the dead part of this stack, from just below the caller's frame.  A sanitizer would put something around the
 * array and leave that out, and just there addresses stay for long. */
__attribute__((noinline, unused, no_sanitize("address", "thread", "undefined")))
static void scrub_stack(void)
{
    volatile char dead[32768];

    for (size_t i = 0; i < sizeof(dead); i++)
        dead[i] = 0;
}

#endif
