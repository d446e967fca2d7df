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
    fprintf(stderr, "sgc-measure: %s %s: %s\n", what, name, strerror(errno));
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
    FILE *out;
    pid_t child = fork();

    if (child < 0)
        fail("cannot start", command[0], 125);
    if (child == 0)
        become(command);
    while (wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR)
            fail("lost", command[0], 125);
    began = now() - began;
    out = fopen(file, "a");
    if (out == NULL)
        fail("cannot write", file, 125);
    fprintf(out, "%.4f %.4f %ld %d\n", began, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss,
            exit_status(status));
    fclose(out);
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
