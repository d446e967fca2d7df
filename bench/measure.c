/* SPDX-License-Identifier: MIT */
/* See bench/measure.h.  One thread. */
#include "bench/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct spread spread_of(double *figure, size_t n)
{
    qsort(figure, n, sizeof *figure, ascending);
    return (struct spread){ figure[n / 2], figure[0], figure[n - 1] };
}

static void fail(const char *what)
{
    fprintf(stderr, "benchmark: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void child(void (*fill)(double *, size_t, long), double *figure, size_t n, long arg, int fd)
{
    fill(figure, n, arg);
    if (write(fd, figure, n * sizeof *figure) != (ssize_t)(n * sizeof *figure))
        _exit(1);
    exit(0);
}

void in_child(void (*fill)(double *, size_t, long), double *figure, size_t n, long arg)
{
    int pipe_fd[2], status;
    size_t got = 0;
    pid_t pid;

    fflush(NULL);
    if (pipe(pipe_fd) != 0)
        fail("pipe");
    pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid == 0)
        child(fill, figure, n, arg, pipe_fd[1]);
    close(pipe_fd[1]);
    while (got < n * sizeof *figure) {
        ssize_t r = read(pipe_fd[0], (char *)figure + got, n * sizeof *figure - got);

        if (r <= 0)
            break;
        got += (size_t)r;
    }
    close(pipe_fd[0]);
    if (waitpid(pid, &status, 0) != pid || status != 0 || got != n * sizeof *figure)
        fail("a case failed");
}

size_t resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long size, resident = 0;

    if (f == NULL || fscanf(f, "%lu %lu", &size, &resident) != 2)
        fail("/proc/self/statm");
    fclose(f);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

long argument(int argc, char **argv, int i, long otherwise, long least, long most)
{
    char *end;
    long value;

    if (i >= argc)
        return otherwise;
    errno = 0;
    value = strtol(argv[i], &end, 10);
    if (errno != 0 || *end != '\0' || end == argv[i] || value < least || value > most) {
        fprintf(stderr, "%s: \"%s\" is no number from %ld to %ld\n", argv[0], argv[i], least, most);
        exit(2);
    }
    return value;
}

int choice(int argc, char **argv, int i, const char *words)
{
    int index = 0;

    if (i >= argc)
        return 0;
    for (const char *word = words; *word != '\0'; index++) {
        size_t length = strcspn(word, "|");

        if (strlen(argv[i]) == length && strncmp(argv[i], word, length) == 0)
            return index;
        word += length + (word[length] == '|');
    }
    fprintf(stderr, "%s: \"%s\" is none of %s\n", argv[0], argv[i], words);
    exit(2);
}
