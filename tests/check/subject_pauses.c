/* SPDX-License-Identifier: MIT */
/*
 * A program for tests/check/check_pauses, built for libgc.so.1 as others are.  What happens in it is known: a hook of its own
 * makes each of its collections take so many milliseconds with the world stopped.
 *
 *     subject_pauses WHAT [COLLECTIONS [MILLISECONDS]]
 *
 *   stops      collects; its exit status is 3
 *   killed     the same, and ends by SIGKILL
 *   exits      the same, but the main thread ends first, by pthread_exit
 *   forks      the same in a child of a fork, too
 *   implicit   the same, but it never calls GC_INIT
 *   typed      the same, and what it allocates first is typed
 *   idle       starts the collector only
 *   unused     not even that
 *   alarmed    the same as stops; a signal comes while its thread blocks it, which that thread must get all the same
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include "gc/gc.h"
#include "gc/gc_hooks.h"
#include "gc/gc_typed.h"

static long collections = 10, milliseconds;
static int hooked;
static pthread_t expected;
static volatile sig_atomic_t alarms;

static void wait_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static void GC_CALLBACK on_event(GC_EventType event)
{
    if (event == GC_EVENT_MARK_START) {
        hooked++;
        wait_ms(milliseconds);
    }
}

static void need(int condition, const char *what)
{
    if (condition)
        return;
    printf("wrong: %s\n", what);
    exit(9);
}

static void collect(void)
{
    GC_set_on_collection_event(on_event);
    need(GC_get_on_collection_event() == on_event, "the hook");
    hooked = 0;
    for (long i = 0; i < collections; i++) {
        wait_ms(20);
        GC_gcollect();
    }
    need(hooked >= collections, "the hook was not called for each collection");
    wait_ms(20);
}

static void *end_later(void *arg)
{
    (void)arg;
    collect();
    puts("collected");
    fflush(stdout);
    return NULL;
}

static void exit_before(void)
{
    pthread_t thread;

    GC_pthread_create(&thread, NULL, end_later, NULL);
    GC_pthread_exit(NULL);
}

static void fork_and_collect(void)
{
    int status = 0;
    pid_t child;

    GC_atfork_prepare();
    child = fork();
    if (child == 0) {
        GC_atfork_child();
        collect();
        _exit(0);
    }
    GC_atfork_parent();
    need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child");
    collect();
}

static void on_alarm(int signal)
{
    need(signal == SIGALRM && pthread_equal(pthread_self(), expected), "a signal of the program's went to another thread");
    alarms++;
}

/* A signal for the process waits as long as none of its threads takes it. */
static void be_alarmed(void)
{
    sigset_t set;

    expected = pthread_self();
    signal(SIGALRM, on_alarm);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGALRM);
    wait_ms(20);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    need(alarms == 1, "a signal of the program's is lost");
}

static int act(const char *what)
{
    if (strcmp(what, "implicit") == 0) {
        *(void *volatile *)GC_malloc(1000) = NULL;
        collect();
        return 0;
    }
    if (strcmp(what, "typed") == 0) {
        need(GC_malloc_explicitly_typed(1000, 0) != NULL, "a typed object");
        collect();
        return 0;
    }
    if (strcmp(what, "unused") == 0)
        return 0;
    if (strcmp(what, "forks") == 0)
        GC_set_handle_fork(-1);
    GC_INIT();
    wait_ms(50);
    if (strcmp(what, "idle") == 0)
        return 0;
    if (strcmp(what, "exits") == 0)
        exit_before();
    if (strcmp(what, "forks") == 0)
        fork_and_collect();
    if (strcmp(what, "alarmed") == 0)
        be_alarmed();
    collect();
    puts("collected");
    fflush(stdout);
    if (strcmp(what, "killed") == 0)
        raise(SIGKILL);
    return 3;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        collections = atol(argv[2]);
    if (argc > 3)
        milliseconds = atol(argv[3]);
    return act(argc > 1 ? argv[1] : "stops");
}
