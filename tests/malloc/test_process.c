/* SPDX-License-Identifier: MIT */
/*
 * malloc at the edges of a process: before main, after it, in children of all kinds, in signal
 * handlers and around jumps out of them.  One thread.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <time.h>

#include "tests/lib/child.h"
#include "tests/malloc/conform.h"

enum { EARLY_BYTES = 300, LATE = 20, JUMPS = 2000, HANG_SECONDS = 60 };

/* ---- before main ---- */

/* What was allocated before the constructors, by one, and there freed again. */
static void *from_preinit, *from_constructor;
static bool early_work;

static void allocate_early(void)
{
    from_preinit = conform_new(EARLY_BYTES, 1);
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = allocate_early;

__attribute__((constructor(101))) static void construct(void)
{
    from_constructor = conform_new(EARLY_BYTES, 2);
    early_work = conform_work(3);
}

/* ---- after main ---- */

static void *kept_for_end;
static bool late_work;

/* The one that was registered first runs last: its answer is the process's. */
static void end_last(void)
{
    bool right = late_work && conform_work(4) && conform_free(kept_for_end, EARLY_BYTES, 5);

    _exit(right ? LATE : 1);
}

static void end_early(void)
{
    late_work = conform_work(6);
}

static int exits(void)
{
    kept_for_end = conform_new(EARLY_BYTES, 5);
    if (atexit(end_last) != 0 || atexit(end_early) != 0)
        return 1;
    exit(0);
}

/* ---- children that are other programs ---- */

static bool spawn_works(void)
{
    char *words[] = { (char *)"/bin/sh", (char *)"-c", (char *)"exit 0", NULL };
    posix_spawn_file_actions_t actions;
    bool right = conform_work(7) && posix_spawn_file_actions_init(&actions) == 0;
    pid_t child = 0;

    if (!right)
        return false;
    right = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0) == 0;
    right = posix_spawn(&child, words[0], &actions, NULL, words, environ) == 0 && child_wait(child) == 0 && right;
    posix_spawn_file_actions_destroy(&actions);
    return right && conform_work(8);
}

/* The child of vfork runs in its parent's memory until it becomes another program. */
static bool vfork_works(void)
{
    void *volatile block = conform_new(EARLY_BYTES, 9);
    pid_t child = vfork();

    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
        _exit(1);
    }
    return child_wait(child) == 0 && conform_free(block, EARLY_BYTES, 9) && conform_work(10);
}

/* ---- jumps out of a handler ---- */

static sigjmp_buf place;

static void jump(TEST_UNUSED int number)
{
    free(conform_new(EARLY_BYTES, 11));
    siglongjmp(place, 1);
}

/* The signal comes between calls of malloc, where a handler may call it, too. */
static bool jumps_do_no_harm(void)
{
    struct sigaction action = { .sa_handler = jump };
    volatile int jumps = 0;

    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigsetjmp(place, 1);
    while (jumps < JUMPS) {
        jumps = jumps + 1;
        free(conform_new((size_t)jumps, 12));
        raise(SIGUSR1);
    }
    signal(SIGUSR1, SIG_DFL);
    return conform_work(13);
}

/* ---- forks in handlers, and without any ---- */

enum { FORKS = 20, DEPTH = 3, INTERRUPTIONS = 200, LARGE = 1000000 };

static volatile sig_atomic_t answers;

/* In the child, too, up to a depth. */
static bool fork_deeply(int depth)
{
    pid_t child = fork();

    if (child == 0) {
        alarm(HANG_SECONDS);
        _exit(conform_work((unsigned)depth) && (depth == 0 || fork_deeply(depth - 1)) ? 0 : 1);
    }
    return child_wait(child) == 0;
}

static void fork_in_handler(TEST_UNUSED int number)
{
    answers += fork_deeply(DEPTH);
}

/* The signal comes between calls of malloc. */
static bool forks_in_handlers_work(void)
{
    answers = 0;
    signal(SIGUSR1, fork_in_handler);
    for (int i = 0; i < FORKS; i++) {
        void *block = conform_new(EARLY_BYTES, 14);

        raise(SIGUSR1);
        if (!conform_free(block, EARLY_BYTES, 14))
            return false;
    }
    signal(SIGUSR1, SIG_DFL);
    return answers == FORKS;
}

/* ---- forks in forks ---- */

/* Their timer's signal has its handler. */
static int work_or_hang(unsigned seed)
{
    signal(SIGALRM, SIG_DFL);
    alarm(HANG_SECONDS);
    return conform_work(seed) ? 0 : 1;
}

static void fork_and_allocate(TEST_UNUSED int number)
{
    int saved = errno, status;
    pid_t child = fork();

    if (child == 0)
        _exit(work_or_hang(23));
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0))
        conform_expect(false);
    free(malloc(LARGE));
    answers = answers + 1;
    errno = saved;
}

/* SIGALRM is in use. */
static void end_if_it_hangs(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
    struct itimerspec after = { .it_value.tv_sec = HANG_SECONDS };
    timer_t timer;

    conform_expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &after, NULL) == 0);
}

/* The program does nothing else than fork, so the signal comes in a fork. */
static int forks_interrupted(void)
{
    struct sigaction action = { .sa_handler = fork_and_allocate, .sa_flags = SA_RESTART };
    struct itimerval timer = { { 0, 0 }, { 0, 0 } }, none = { { 0, 0 }, { 0, 0 } };

    end_if_it_hangs();
    sigaction(SIGALRM, &action, NULL);
    conform_expect(conform_work(24));
    answers = 0;
    for (int i = 0; answers < INTERRUPTIONS; i++) {
        int status = -1;
        pid_t child;

        timer.it_value.tv_usec = 10 + i % 50 * 10;
        setitimer(ITIMER_REAL, &timer, NULL);
        child = fork();
        if (child == 0)
            _exit(0);
        setitimer(ITIMER_REAL, &none, NULL);
        if (waitpid(child, &status, 0) != child || status != 0)
            return 1;
    }
    return atomic_load(&conform_wrong) == 0 && conform_work(25) ? 0 : 2;
}

/* The child calls what a handler may. */
static void fork_and_leave(TEST_UNUSED int number)
{
    int saved = errno, status;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, &status, 0);
    answers = answers + 1;
    errno = saved;
}

static void every_microseconds(long between)
{
    struct itimerval timer = { { 0, between }, { 0, between } };

    setitimer(ITIMER_PROF, &timer, NULL);
}

/* The signal comes at any instruction of malloc, most often when that is under a lock.  The C
 * library may wait for itself then. */
static int forks_that_interrupt(void)
{
    struct sigaction action = { .sa_handler = fork_and_leave, .sa_flags = SA_RESTART };

    sigaction(SIGPROF, &action, NULL);
    alarm(HANG_SECONDS);
    every_microseconds(500);
    while (answers < INTERRUPTIONS)
        for (size_t size = 1000; size < LARGE; size += 5000)
            free(malloc(size));
    every_microseconds(0);
    return conform_work(16) ? 0 : 2;
}

/* ---- handlers that have interrupted malloc and call it, or never return to it ---- */

static void allocate_inside(TEST_UNUSED int number)
{
    free(malloc(LARGE));
    answers = answers + 1;
}

static void jump_out(TEST_UNUSED int number)
{
    answers = answers + 1;
    siglongjmp(place, 1);
}

/* Only blocks that are large: what is done for them is done under locks.  0: nothing was said. */
static int interrupt_with(void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };

    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    alarm(HANG_SECONDS);
    answers = 0;
    sigsetjmp(place, 1);
    every_microseconds(500);
    while (answers < INTERRUPTIONS)
        for (size_t size = LARGE / 10; size < LARGE; size += 5000)
            free(malloc(size));
    every_microseconds(0);
    return 0;
}

/* A handler of SIGABRT allocates where the program ends because a handler has: it ends all the same. */
static int interrupt_and_end(void)
{
    signal(SIGABRT, allocate_inside);
    return interrupt_with(allocate_inside);
}

static int status_of_end(void)
{
    pid_t child = child_begin_caught();
    int status;

    if (child == 0)
        _exit(interrupt_and_end());
    status = child_wait(child);
    capture_end();
    return status;
}

static void test_interrupting(void)
{
    static const char told[] = "a signal handler called malloc";

    if (!conform_is_sgc()) {
        for (int i = 0; i < 4; i++)
            tap_skip("handlers that have interrupted malloc: this malloc does not promise anything");
        return;
    }
    child_ok(forks_that_interrupt, "forks in handlers that have interrupted malloc");
    child_says_of(interrupt_with(allocate_inside), 128 + SIGABRT, told,
                  "a handler that has interrupted malloc and calls it is told");
    child_says_of(interrupt_with(jump_out), 128 + SIGABRT, told, "so is a thread whose handler has left malloc by a jump");
    tap_ok(status_of_end() == 128 + SIGABRT, "a handler of SIGABRT that allocates does not keep the program from its end");
}

/* No handlers of pthread_atfork are run. */
static bool bare_fork_works(void)
{
    void *block = conform_new(EARLY_BYTES, 17);
    pid_t child = _Fork();

    if (child == 0) {
        alarm(HANG_SECONDS);
        _exit(conform_free(block, EARLY_BYTES, 17) && conform_work(18) && fork_deeply(1) ? 0 : 1);
    }
    return child_wait(child) == 0 && conform_free(block, EARLY_BYTES, 17) && conform_work(19);
}

int main(void)
{
    tap_plan(11);
    tap_ok(conform_free(from_preinit, EARLY_BYTES, 1) && conform_free(from_constructor, EARLY_BYTES, 2) && early_work,
           "before the constructors, and in one");
    tap_ok(run_in_child(exits) == LATE, "in functions of atexit");
    tap_ok(spawn_works() && vfork_works(), "around posix_spawn and vfork");
    tap_ok(jumps_do_no_harm(), "in a handler, and after jumps out of it");
    tap_ok(forks_in_handlers_work(), "in children of forks in handlers, nested");
    if (getenv("HERRMANN") != NULL)
        tap_skip("the thesis' systems have locks of their own in a fork");
    else
        child_ends_well(child_start(forks_interrupted), "in handlers that interrupt a fork, and in children of these");
    test_interrupting();
    tap_ok(bare_fork_works(), "in a child of _Fork, and its children");
    return tap_done();
}
