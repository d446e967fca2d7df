/* SPDX-License-Identifier: MIT */
/*
 * Runs a part of a test in a child process: what changes limits, locks memory or ends by a signal.
 * The child reports by its exit status, not through tests/lib/tap.h.
 */
#ifndef TESTS_LIB_CHILD_H
#define TESTS_LIB_CHILD_H

#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/lib/capture.h"

enum { CHILD_SKIPS = 77 };      /* what a body returns that cannot be tried here */

/* Sets variables of the environment, for children and for the program itself: literals, "NAME=value" each. */
#define environment(...) environment_put((const char *const[]){ __VA_ARGS__, NULL })
void environment_put(const char *const *literal);

/* As fork: 0 in the child, negative if there is none. */
pid_t child_begin(void);

/* The child, which goes on beside its parent until child_wait is called; negative: there is none. */
pid_t child_start(int (*body)(void));

/* What body returned (0 to 127), or 128 and the number of the signal that killed the child. */
int child_wait(pid_t child);

/* Both at once. */
int run_in_child(int (*body)(void));

/* Memory that children share with their parent, by which they can tell more. */
void *child_shared(size_t bytes);

/* One check: the child returns 0. */
TAP_PRINTF(2, 3) void child_ends_well(pid_t child, const char *format, ...);

/* One check: body returns 0; or the value, which a child finds out, is 0. */
#define child_ok(body, ...) child_ok_of((body)(), __VA_ARGS__)
#define child_ok_of(value, ...)                     \
    do {                                            \
        pid_t child_now = child_begin();            \
        if (child_now == 0)                         \
            _exit(value);                           \
        child_ends_well(child_now, __VA_ARGS__);    \
    } while (0)

/* As child_begin; what the child says is caught, until the next call. */
pid_t child_begin_caught(void);

/* One check: the child ends so, and the message was said once; NULL: nothing was said. */
TAP_PRINTF(4, 5) void child_has_said(pid_t child, int wanted, const char *message, const char *format, ...);

#define child_says(body, wanted, message, ...) child_says_of((body)(), wanted, message, __VA_ARGS__)
#define child_says_of(value, wanted, message, ...)                  \
    do {                                                            \
        pid_t child_now = child_begin_caught();                     \
        if (child_now == 0)                                         \
            _exit(value);                                           \
        child_has_said(child_now, wanted, message, __VA_ARGS__);    \
    } while (0)

#endif
