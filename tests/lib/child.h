/* SPDX-License-Identifier: MIT */
/*
 * Runs a part of a test in a child process: what changes limits, locks memory or ends by a signal.
 * The child reports by its exit status, not through tests/lib/tap.h.
 */
#ifndef TESTS_LIB_CHILD_H
#define TESTS_LIB_CHILD_H

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/capture.h"
#include "tests/lib/tap.h"

enum { CHILD_SKIPS = 77 };      /* what a body returns that cannot be tried here */

/* The child, which goes on beside its parent until child_wait is called; negative: there is none. */
__attribute__((unused)) static pid_t child_start(int (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit no_core = { 0, 0 };
        setrlimit(RLIMIT_CORE, &no_core);
        _exit(body());
    }
    return child;
}

/* What body returned (0 to 127), or 128 and the number of the signal that killed the child. */
__attribute__((unused)) static int child_wait(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Both at once. */
__attribute__((unused)) static int run_in_child(int (*body)(void))
{
    return child_wait(child_start(body));
}

/* One check: body returns 0. */
TAP_PRINTF(2, 3) static void child_ok(int (*body)(void), const char *format, ...)
{
    int status = run_in_child(body);
    char name[256];

    tap_format(name, format);
    if (status == CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", name);
    else
        tap_ok(status == 0, "%s (status %d)", name, status);
}

/* One check: body ends so, and the message was said once; NULL: nothing was said. */
TAP_PRINTF(4, 5) static void child_says(int (*body)(void), int wanted, const char *message, const char *format, ...)
{
    char name[256];
    const char *text;
    int status;

    tap_format(name, format);
    capture_begin();
    status = run_in_child(body);
    text = capture_end();
    if (status == CHILD_SKIPS && wanted != CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", name);
    else if (!tap_ok(status == wanted && (message == NULL ? text[0] == '\0' : capture_count(text, message) == 1), "%s", name))
        tap_diag("status %d, said: %.600s", status, text);
}

#endif
