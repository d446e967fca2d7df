/* SPDX-License-Identifier: MIT */
#include "tests/lib/child.h"

#include <stdint.h>
#include <sys/mman.h>

void environment_put(const char *const *literal)
{
    while (*literal != NULL)
        putenv((char *)(uintptr_t)*literal++);
}

pid_t child_begin(void)
{
    static const struct rlimit no_core = { 0, 0 };
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        setrlimit(RLIMIT_CORE, &no_core);
    return child;
}

pid_t child_start(int (*body)(void))
{
    pid_t child = child_begin();

    if (child == 0)
        _exit(body());
    return child;
}

int child_wait(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 127;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_in_child(int (*body)(void))
{
    return child_wait(child_start(body));
}

void *child_shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        tap_bail("no memory to share with children");
    return memory;
}

void child_ends_well(pid_t child, const char *format, ...)
{
    int status = child_wait(child);
    char name[256];

    tap_format(name, format);
    if (status == CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", name);
    else
        tap_ok(status == 0, "%s (status %d)", name, status);
}

pid_t child_begin_caught(void)
{
    capture_begin();
    return child_begin();
}

void child_has_said(pid_t child, int wanted, const char *message, const char *format, ...)
{
    int status = child_wait(child);
    const char *text = capture_end();
    char name[256];

    tap_format(name, format);
    if (status == CHILD_SKIPS && wanted != CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", name);
    else if (!tap_ok(status == wanted && (message == NULL ? text[0] == '\0' : capture_count(text, message) == 1), "%s", name))
        tap_diag("status %d, said: %.600s", status, text);
}
