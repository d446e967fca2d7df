/* SPDX-License-Identifier: MIT */
/*
 * A program whose main thread ends first, by pthread_exit, ends with its last thread: those by which the collector marks and
 * sweeps do not keep it.  They come again if a thread that the collector did not know registers later.  Each case is a process
 * of its own, which executes this file with the name of the case.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>

#include "tests/lib/kept.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/tap.h"

enum { KEPT_MB = 20, DROPPED_MB = 60, SECONDS = 60 };

static size_t dropped = DROPPED_MB * MB;

static void *work(void *arg)
{
    sgc_verify(keep(KEPT_MB * MB));
    drop(DROPPED_MB * MB);
    sgc_verify(kept_bytes() >= KEPT_MB * MB && GC_get_gc_no() != 0);
    return arg;
}

static void *work_and_exit(void *arg)
{
    work(arg);
    GC_pthread_exit(arg);
    return NULL;
}

/* The collector does not know this thread until all others are gone. */
static void *come_late(void *arg)
{
    struct GC_stack_base base;
    struct timespec nap = { 0, 200000000 };

    nanosleep(&nap, NULL);
    sgc_verify(GC_get_stack_base(&base) == GC_SUCCESS && GC_register_my_thread(&base) == GC_SUCCESS);
    work(arg);
    GC_unregister_my_thread();
    return arg;
}

static void start(void *(*body)(void *), int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
{
    pthread_attr_t detached;
    pthread_t thread;

    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sgc_verify(create(&thread, &detached, body, &dropped) == 0);
    pthread_attr_destroy(&detached);
}

static void run_case(const char *name)
{
    GC_INIT();
    GC_allow_register_threads();
    if (strcmp(name, "late") == 0)
        start(come_late, pthread_create);
    else
        start(strcmp(name, "exit") == 0 ? work_and_exit : work, GC_pthread_create);
    start(drop_all, GC_pthread_create);
    pthread_exit(NULL);
}

/* The status of a process, -1 if it has not ended by then and is killed. */
static int wait_for(pid_t child)
{
    struct timespec nap = { 0, 10000000 };
    int status;

    for (int i = 0; i < SECONDS * 100; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        nanosleep(&nap, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

static void check(const char *name, const char *mode, const char *service, const char *what)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        setenv("SGC_MODE", mode, 1);
        setenv("SGC_BACKGROUND_THREAD", service, 1);
        setenv("GC_MARKERS", "3", 1);
        execl("/proc/self/exe", "test_main_ends", name, (char *)NULL);
        _exit(127);
    }
    status = wait_for(child);
    tap_ok(status == 0, "%s (%s, %s): the process ends (%d)", what, mode, service, status);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = { "stop", "concurrent" }, *const services[] = { "on", "eager" };

    if (argc > 1)
        run_case(argv[1]);
    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer may have a thread of its own, which keeps the process");
    tap_plan(12);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            check("return", modes[i], services[j], "threads that return");
            check("exit", modes[i], services[j], "one that calls pthread_exit");
            check("late", modes[i], services[j], "one that registers when the others have ended");
        }
    return tap_done();
}
