/* SPDX-License-Identifier: MIT */
/* Signals of gc.h: which one stops threads, wrong choices, interrupted system calls, threads that block everything. */
#include "api.h"

#include <stdatomic.h>

static atomic_int stop;

static void pause_ms(long ms)
{
    struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) != 0)
        continue;
}

/* ---- the client's choice: in children -------------------------------------------------------- */

static void *allocate(void *unused)
{
    sem_post(&api_there);
    while (!stop)
        GC_malloc(100);
    return unused;
}

static bool collects_beside_thread(void)
{
    GC_word before = GC_get_gc_no();
    pthread_t thread = api_start(allocate, NULL);

    api_wait(&api_there);
    for (int i = 0; i < 10; i++)
        GC_gcollect();
    stop = 1;
    GC_pthread_join(thread, NULL);
    return GC_get_gc_no() >= before + 10;
}

static void chosen_signal(void)
{
    struct sigaction action;

    GC_set_suspend_signal(SIGUSR2);
    GC_set_thr_restart_signal(SIGUSR1);
    GC_INIT();
    API_CHILD(GC_get_suspend_signal() == SIGUSR2 && GC_get_thr_restart_signal() == SIGUSR1);
    API_CHILD(collects_beside_thread());
    sigaction(SIGUSR2, NULL, &action);
    API_CHILD(action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

static void default_signal(void)
{
    API_CHILD(GC_get_suspend_signal() > 0 && GC_get_suspend_signal() != GC_get_thr_restart_signal());
    API_CHILD(collects_beside_thread());
}

static int wrong_signal;

static void try_signal(void)
{
    int before = GC_get_suspend_signal();

    GC_set_suspend_signal(wrong_signal);
    API_CHILD(GC_get_suspend_signal() == before);
}

static void check_wrong(int signal, const char *message, const char *name)
{
    wrong_signal = signal;
    api_check_child(try_signal, message, name);
}

/* ---- system calls go on ---------------------------------------------------------------------- */

static int ends[2];

/* 100 bytes from a pipe, in one read each, while it is stopped again and again. */
static void *read_pipe(TEST_UNUSED void *unused)
{
    intptr_t failures = 0;
    char byte;

    sem_post(&api_there);
    for (int i = 0; i < 100; i++)
        failures += read(ends[0], &byte, 1) != 1;
    return (void *)failures;
}

static void check_restart(void)
{
    pthread_t thread;
    void *failures;

    if (pipe(ends) != 0)
        tap_bail("no pipe");
    GC_pthread_create(&thread, NULL, read_pipe, NULL);
    api_wait(&api_there);
    for (int i = 0; i < 100; i++) {
        GC_gcollect();
        GC_gcollect();
        if (write(ends[1], "x", 1) != 1)
            tap_bail("no write");
    }
    GC_pthread_join(thread, &failures);
    tap_ok(failures == NULL, "system calls of stopped threads go on (%ld of 100 failed)", (long)(intptr_t)failures);
}

/* ---- a thread that blocks all signals: in a child -------------------------------------------- */

static void *block_all(void *unused)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    sem_post(&api_there);
    while (!stop)
        pause_ms(10);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return unused;
}

static void *unblock_later(void *unused)
{
    pause_ms(1500);
    stop = 1;
    return unused;
}

static void blocked_thread(void)
{
    pthread_t blocker, timer;
    GC_word before;

    setenv("SGC_STOP_WARN_MS", "300", 1);
    GC_INIT();
    GC_pthread_create(&blocker, NULL, block_all, NULL);
    api_wait(&api_there);
    pthread_create(&timer, NULL, unblock_later, NULL);
    GC_gcollect();
    stop = 1;
    pthread_join(timer, NULL);
    GC_pthread_join(blocker, NULL);
    before = GC_get_gc_no();
    GC_gcollect();
    API_CHILD(GC_get_gc_no() > before);
}

/* ---- a handler in a thread that joins another: it may change objects, so not while they are marked ---- */

static atomic_int handled, marks, handled_in_mark;
static GC_push_other_roots_proc push_others;

static void handle(TEST_UNUSED int number)
{
    handled++;
    handled_in_mark += marks;
}

/* The signal is any thread's that does not block it. */
static void send_one(void)
{
    marks = 1;
    kill(getpid(), SIGALRM);
    pause_ms(30);
    marks = 0;
    if (push_others != NULL)
        push_others();
}

static void *collect_later(void *unused)
{
    pause_ms(50);
    GC_gcollect();
    return unused;
}

static void check_joiner(void)
{
    pthread_t thread;

    signal(SIGALRM, handle);
    push_others = GC_get_push_other_roots();
    GC_set_push_other_roots(send_one);
    thread = api_start(collect_later, NULL);
    GC_pthread_join(thread, NULL);
    GC_set_push_other_roots(push_others);
    tap_ok(handled > 0 && handled_in_mark == 0, "a thread that joins another runs its handlers when the stop is over (%d, %d)",
           handled, handled_in_mark);
    signal(SIGALRM, SIG_DFL);
}

int main(void)
{
    api_check_child(chosen_signal, NULL, "the client may choose the signals");
    api_check_started(default_signal, NULL, "or leave it");
    if (api_on_sgc) {
        check_wrong(0, "GC_set_suspend_signal", "0 is no signal");
        check_wrong(-7, "-7", "nor -7");
        check_wrong(1000, "1000", "nor 1000");
        check_wrong(SIGKILL, "GC_set_suspend_signal", "SIGKILL cannot stop threads");
        check_wrong(SIGSTOP, "GC_set_suspend_signal", "nor SIGSTOP");
        check_wrong(SIGSEGV, "GC_set_suspend_signal", "nor SIGSEGV");
        api_check_child(blocked_thread, "block", "a thread that blocks all signals is named, and all goes on");
    }
    GC_INIT();
    check_restart();
    check_joiner();
    return tap_done();
}
