/* SPDX-License-Identifier: MIT */
/* A part of a test that runs in a child process, with what it says. */
#ifndef TESTS_LIB_CHILD_SAYS_H
#define TESTS_LIB_CHILD_SAYS_H

#include "tests/lib/capture.h"
#include "tests/lib/child.h"
#include "tests/lib/tap.h"

/* Right if body returns 0 and the message was said once; NULL: nothing was said. */
static void check_child(int (*body)(void), const char *message, const char *name)
{
    int status;
    const char *text;

    capture_begin();
    status = run_in_child(body);
    text = capture_end();
    if (!tap_ok(status == 0 && (message == NULL ? text[0] == '\0' : capture_count(text, message) == 1), "%s", name))
        tap_diag("status %d, said: %s", status, text);
}

#endif
