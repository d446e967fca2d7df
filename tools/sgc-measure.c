/* SPDX-License-Identifier: MIT */
/*
 * sgc-measure FILE [NAME=VALUE]... PROGRAM ARGS: runs a program, with these in its environment, and appends to FILE what it
 * used: wall-clock and CPU seconds, the peak of resident memory in kilobytes, and its exit status (128 + the signal that
 * ended it).  For sgc-run --compare and bench/programs.
 *
 * The settings are for the program alone: libraries that were preloaded here would be part of its peak, as the kernel
 * counts from before the exec.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/out_file.h"
#include "platform/report.h"
#include "platform/text_line.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static _Noreturn void fail(const char *what, const char *name, int status)
{
    char shown[1024];
    int error = errno;

    fprintf(stderr, "sgc-measure: %s %s: %s\n", what, sgc_quote(name, strlen(name), shown, sizeof shown), strerror(error));
    exit(status);
}

static _Noreturn void become(char **command)
{
    while (strchr(command[0], '=') != NULL && command[1] != NULL)
        putenv(*command++);
    execvp(command[0], command);
    fail("cannot execute", command[0], errno == ENOENT ? 127 : 126);
}

static int exit_status(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int measure(const char *file, char **command)
{
    double began = now();
    struct rusage usage;
    int status = 0;
    size_t written;
    char text[200];
    int out;
    pid_t child = fork();

    if (child < 0)
        fail("cannot start", command[0], 125);
    if (child == 0)
        become(command);
    while (wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR)
            fail("lost", command[0], 125);
    began = now() - began;
    snprintf(text, sizeof text, "%.4f %.4f %ld %d\n", began, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss,
             exit_status(status));
    out = sgc_out_append(file);
    errno = out < 0 ? -out : sgc_quiet_write_all(out, text, strlen(text), &written);
    if (errno != 0)
        fail("cannot write", file, 125);
    return exit_status(status);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "Usage: sgc-measure FILE [NAME=VALUE]... PROGRAM [ARGUMENT]...\n");
        return 125;
    }
    return measure(argv[1], argv + 2);
}
