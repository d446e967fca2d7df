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

/* What body returned (0 to 127), or 128 and the number of the signal that killed the child. */
__attribute__((unused)) static int run_in_child(int (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit no_core = { 0, 0 };
        setrlimit(RLIMIT_CORE, &no_core);
        _exit(body());
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
