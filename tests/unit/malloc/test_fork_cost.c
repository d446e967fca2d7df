/* SPDX-License-Identifier: MIT */
/*
 * What the fork handlers of malloc/threads.c cost, however many threads there are and whatever the
 * heap: instructions, counted one by one by a parent that traces, and OS pages that they write to,
 * which a fork has to copy.
 *
 * The handlers are caught as they are registered, so they run when the test says, and a fork of the
 * test's own runs none.
 */
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "malloc/family.h"
#include "malloc/threads.h"
#include "tests/lib/child.h"
#include "tests/lib/tap.h"
#include "tests/lib/threads.h"

enum { FEW = 1, MANY = 40, HEAP_BLOCKS = 200000, BLOCK_BYTES = 200 };
enum { INSTRUCTIONS_EACH = 150, INSTRUCTIONS_ONCE = 1000, PAGES_MAX = 8 };

/* ---- the handlers ---- */

static struct {
    void (*prepare)(void);
    void (*parent)(void);
    void (*child)(void);
} handlers;

/* In place of the C library's, in this program. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    handlers.prepare = prepare;
    handlers.parent = parent;
    handlers.child = child;
    return 0;
}

static void nothing(void)
{
}

static void both_in_parent(void)
{
    handlers.prepare();
    handlers.parent();
}

static void both_in_child(void)
{
    handlers.prepare();
    handlers.child();
}

/* ---- other threads, each with a cache ---- */

static sgc_a32_t ready;

static void *idle(void *arg)
{
    sgc_free(sgc_malloc(100));
    sgc_free(sgc_malloc(5000));
    sgc_a32_add(&ready, 1);
    for (;;)
        pause();
    return arg;
}

/* That many besides the caller, which has a heap. */
static void start_others(int threads)
{
    void **last = NULL;

    for (int i = 0; i < HEAP_BLOCKS; i++) {
        void **block = sgc_malloc(BLOCK_BYTES);

        *block = last;
        last = block;
    }
    for (int i = 0; i < threads; i++)
        thread_start(idle, NULL);
    while (sgc_a32_load(&ready) < (uint32_t)threads)
        sched_yield();
}

/* ---- instructions ---- */

/* The parent counts the instructions between two signals. */
static int traced(int threads, void (*body)(void))
{
    start_others(threads);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return CHILD_SKIPS;
    raise(SIGSTOP);
    body();
    raise(SIGSTOP);
    return 0;
}

static bool is_stopped(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
}

/* Up to the child's next SIGSTOP; negative: it has ended. */
static long steps(pid_t child)
{
    long count = 0;
    int status = 0;

    do {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child || WIFEXITED(status))
            return -1;
        count++;
    } while (!is_stopped(status));
    return count;
}

/* Negative: they cannot be counted here. */
static long instructions(int threads, void (*body)(void))
{
    pid_t child = fork();
    long count = -1;
    int status = 0;

    if (child == 0)
        _exit(traced(threads, body));
    if (child > 0 && waitpid(child, &status, 0) == child && is_stopped(status))
        count = steps(child);
    if (child > 0 && WIFSTOPPED(status)) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    return count;
}

static void test_instructions(int threads, void (*body)(void), const char *name)
{
    long without = instructions(threads, nothing), with = instructions(threads, body);

    if (without < 0 || with < 0)
        tap_skip("the system lets nobody trace");
    else
        tap_ok(with >= without && with - without <= INSTRUCTIONS_ONCE + INSTRUCTIONS_EACH * threads,
               "%s runs %ld instructions beside %d threads", name, with - without, threads);
}

/* ---- OS pages ---- */

static char text[1 << 14];

/* Kilobytes that the process has written to and shares with no other; negative: nobody says. */
static long private_dirty(void)
{
    int file = open("/proc/self/smaps_rollup", O_RDONLY);
    ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    const char *line;

    if (file >= 0)
        close(file);
    if (got < 0)
        return -1;
    text[got] = '\0';
    line = strstr(text, "Private_Dirty:");
    return line == NULL ? -1 : strtol(line + strlen("Private_Dirty:"), NULL, 10);
}

/* In a copy of the process whose original stands still until it ends: what is written to is no
 * longer shared. */
static int pages_in_copy(void (*body)(void))
{
    long before, after;

    private_dirty();
    before = private_dirty();
    body();
    after = private_dirty();
    return before < 0 ? CHILD_SKIPS : (int)((after - before) * 1024 / sysconf(_SC_PAGESIZE));
}

static int pages_written(int threads, void (*body)(void))
{
    int status = -1;
    pid_t copy;

    start_others(threads);
    copy = (pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
    if (copy == 0)
        _exit(pages_in_copy(body));
    return copy > 0 && waitpid(copy, &status, 0) == copy && WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_SKIPS;
}

static void test_pages(int threads, void (*body)(void), const char *name)
{
    pid_t child = fork();
    int pages;

    if (child == 0)
        _exit(pages_written(threads, body));
    pages = child_wait(child);
    if (pages == CHILD_SKIPS)
        tap_skip("nobody says how many OS pages a process shares");
    else
        tap_ok(pages >= 1 && pages <= PAGES_MAX, "%s writes to %d OS pages beside %d threads", name, pages, threads);
}

static void test_parent(void)
{
    test_instructions(FEW, both_in_parent, "in the parent, a fork");
    test_instructions(MANY, both_in_parent, "in the parent, a fork");
    test_pages(MANY, both_in_parent, "in the parent, a fork");
}

static void test_child(void)
{
    test_instructions(FEW, both_in_child, "in the child, a fork");
    test_instructions(MANY, both_in_child, "in the child, a fork");
    test_pages(FEW, both_in_child, "in the child, a fork");
    test_pages(MANY, both_in_child, "in the child, a fork");
}

int main(void)
{
    sgc_free(sgc_malloc(1));
    if (SGC_SANITIZED || handlers.child == NULL)
        tap_skip_all("a sanitizer's instructions would be counted, too");
    return tap_all(test_parent, test_child);
}
