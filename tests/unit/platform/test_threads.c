/* SPDX-License-Identifier: MIT */
/*
 * platform/threads_linux.c: numbers, signals and masks of threads, and service threads.
 */
#include <pthread.h>

#include "platform/platform.h"
#include "platform/report.h"
#include "tests/lib/child.h"
#include "tests/lib/refuse.h"

enum { MS = 1000000 };

/* ---- numbers and signals ------------------------------------------------------------------------------ */

static sgc_a32_t other_tid, may_end, handled_by;
static sgc_aw_t context_seen;

static void note_thread(int signal, TEST_UNUSED siginfo_t *info, void *context)
{
    sgc_aw_store(&context_seen, (uintptr_t)context);
    if (signal == SIGUSR1)
        sgc_a32_store_rel(&handled_by, (uint32_t)sgc_thread_id());
}

static void *wait_with_usr2_blocked(TEST_UNUSED void *unused)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigaddset(&blocked, SIGRTMAX);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    sgc_a32_store_rel(&other_tid, (uint32_t)sgc_thread_id());
    sgc_wake(&other_tid, 1);
    while (!sgc_a32_load_acq(&may_end))
        usleep(1000);
    return NULL;
}

static void check_blocked(sgc_tid_t tid)
{
    errno = EDOM;
    tap_ok(sgc_thread_blocks_signal(tid, SIGUSR2), "a blocked signal is seen from outside");
    tap_ok(sgc_thread_blocks_signal(tid, SIGRTMAX), "the highest signal too");
    tap_ok(!sgc_thread_blocks_signal(tid, SIGUSR1), "one that is not blocked");
    tap_ok(!sgc_thread_blocks_signal(sgc_thread_id(), SIGUSR2), "another thread does not block it");
    tap_ok(!sgc_thread_blocks_signal(tid, 0) && !sgc_thread_blocks_signal(tid, 65)
           && !sgc_thread_blocks_signal(tid, -1), "numbers that are no signals");
    tap_ok(errno == EDOM, "errno is as before");
}

static void check_kill(sgc_tid_t tid)
{
    tap_ok(sgc_signal_install(SIGUSR1, note_thread), "a handler is installed");
    tap_ok(sgc_thread_kill(sgc_process_id(), tid, SIGUSR1) == 0, "a signal is sent to one thread");
    for (int i = 0; i < 5000 && !sgc_a32_load_acq(&handled_by); i++)
        sgc_sleep_ns(MS);
    tap_ok(sgc_a32_load(&handled_by) == (uint32_t)tid, "and handled by that thread");
    tap_ok(sgc_aw_load(&context_seen) != 0, "with its context");
}

static void test_thread_signals(void)
{
    pthread_t thread;
    tap_ok(sgc_thread_id() == (sgc_tid_t)syscall(SYS_gettid), "the first thread's number");
    pthread_create(&thread, NULL, wait_with_usr2_blocked, NULL);
    while (!sgc_a32_load_acq(&other_tid))
        sgc_wait(&other_tid, 0, -1);
    sgc_tid_t tid = (sgc_tid_t)sgc_a32_load(&other_tid);
    tap_ok(tid > 0 && tid != sgc_thread_id(), "another thread has another number");
    check_blocked(tid);
    check_kill(tid);
    tap_ok(!sgc_thread_is_over(tid), "it is not over");
    sgc_a32_store_rel(&may_end, 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 5000 && sgc_thread_kill(sgc_process_id(), tid, 0) == 0; i++)
        sgc_sleep_ns(MS);       /* joined a moment before the kernel forgets it */
    errno = EDOM;
    tap_ok(sgc_thread_kill(sgc_process_id(), tid, SIGUSR1) == ESRCH, "a thread that is gone gets none");
    tap_ok(sgc_thread_kill(-1, tid, SIGUSR1) == EINVAL, "what the system refuses is told from that");
    tap_ok(!sgc_thread_blocks_signal(tid, SIGUSR2), "and blocks none");
    tap_ok(errno == EDOM, "errno is as before");
}

/* ---- a full queue of real-time signals -------------------------------------------------------------------- */

/* 0: it is said at once that there is no room, and, when there is, the signal is sent. */
static int send_into_full_queue(void)
{
    struct rlimit limit;
    sigset_t blocked, pending;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    if (getrlimit(RLIMIT_SIGPENDING, &limit) != 0)
        return 10;
    set_queue(0);
    int full = sgc_thread_kill(sgc_process_id(), sgc_thread_id(), SIGRTMIN);
    sigpending(&pending);
    if (full != EAGAIN || sigismember(&pending, SIGRTMIN))
        return 1;
    set_queue(limit.rlim_cur);
    if (sgc_thread_kill(sgc_process_id(), sgc_thread_id(), SIGRTMIN) != 0)
        return 2;
    return sgc_signals_pending() == UINT64_C(1) << (SIGRTMIN - 1) ? 0 : 3;
}

/* ---- masks -------------------------------------------------------------------------------------------------- */

static void test_masks(void)
{
    sigset_t before, saved, now;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    sgc_signals_block(&saved);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    bool all = true, faults_open = true;
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    for (int i = 1; i <= SIGRTMAX; i++) {
        bool fault = false;
        for (size_t j = 0; j < sizeof faults / sizeof *faults; j++)
            fault = fault || faults[j] == i;
        bool never = i == SIGKILL || i == SIGSTOP || (i >= 32 && i < SIGRTMIN);
        if (fault)
            faults_open = faults_open && sigismember(&now, i) == 0;
        else if (!never)
            all = all && sigismember(&now, i) == 1;
    }
    tap_ok(all, "every signal is blocked");
    tap_ok(faults_open, "but those of faults");
    tap_ok(sigismember(&saved, SIGUSR1) == sigismember(&before, SIGUSR1), "the old mask is kept");
    sgc_signal_unblock(SIGUSR2);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    tap_ok(sigismember(&now, SIGUSR2) == 0 && sigismember(&now, SIGUSR1) == 1, "one is unblocked");
    sgc_signals_restore(&saved);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    tap_ok(sigismember(&now, SIGUSR1) == 0 && sigismember(&now, SIGTERM) == 0, "all are as before");
}

static void test_install(void)
{
    struct sigaction action;
    sgc_signal_install(SIGUSR2, note_thread);
    sigaction(SIGUSR2, NULL, &action);
    tap_ok((action.sa_flags & (SA_RESTART | SA_SIGINFO | SA_ONSTACK)) == (SA_RESTART | SA_SIGINFO),
           "handlers restart system calls, get a context and stay off alternate stacks");
    bool all = true;
    for (int i = 1; i < SIGRTMAX; i++)
        if (i != SIGKILL && i != SIGSTOP && (i < 32 || i >= SIGRTMIN))
            all = all && sigismember(&action.sa_mask, i) == (i != SIGSEGV);
    tap_ok(all, "and run with every signal masked but that of stores into pages that are read only for a while");
    errno = 0;
    tap_ok(!sgc_signal_install(SIGKILL, note_thread) && errno == EINVAL, "SIGKILL cannot be handled");
    tap_ok(!sgc_signal_install(1000, note_thread) && errno == EINVAL, "there is no signal 1000");
}

/* ---- interrupted system calls ------------------------------------------------------------------------------- */

static int pipe_ends[2];

static void *interrupt_then_write(void *raw)
{
    pthread_t reader = *(pthread_t *)raw;
    for (int i = 0; i < 10; i++) {
        pthread_kill(reader, SIGUSR2);
        sgc_sleep_ns(MS);
    }
    if (write(pipe_ends[1], "x", 1) != 1)
        tap_diag("cannot write to a pipe");
    return NULL;
}

static void test_restart(void)
{
    pthread_t thread, self = pthread_self();
    char c = 0;
    if (pipe(pipe_ends) != 0)
        tap_bail("no pipe");
    pthread_create(&thread, NULL, interrupt_then_write, &self);
    ssize_t got = read(pipe_ends[0], &c, 1);
    pthread_join(thread, NULL);
    tap_ok(got == 1 && c == 'x', "a read that is interrupted goes on by itself (%zd)", got);
}

/* ---- service threads --------------------------------------------------------------------------------------------- */

static struct {
    sgc_a32_t done;
    void *argument;
    char name[16];
    int detach_state;
    size_t stack_bytes;
    sigset_t mask;
} seen;

static void look_around(void *argument)
{
    pthread_attr_t attributes;
    seen.argument = argument;
    pthread_getname_np(pthread_self(), seen.name, sizeof seen.name);
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getdetachstate(&attributes, &seen.detach_state);
    pthread_attr_getstacksize(&attributes, &seen.stack_bytes);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, NULL, &seen.mask);
    sgc_a32_store_rel(&seen.done, 1);
}

static bool started_and_done(const char *name)
{
    memset(&seen, 0, sizeof seen);
    bool started = sgc_thread_start_service(look_around, &seen, name);
    for (int i = 0; i < 5000 && started && !sgc_a32_load_acq(&seen.done); i++)
        sgc_sleep_ns(MS);
    return started && sgc_a32_load_acq(&seen.done);
}

static void test_service(void)
{
    sigset_t now;
    tap_ok(started_and_done("sgc-test"), "a service thread runs");
    tap_ok(seen.argument == &seen, "with its argument");
    tap_ok(strcmp(seen.name, "sgc-test") == 0, "its name \"%s\"", seen.name);
    tap_ok(seen.detach_state == PTHREAD_CREATE_DETACHED, "detached");
    tap_ok(seen.stack_bytes >= 256 * 1024 && seen.stack_bytes < 4096 * 1024, "on a small stack (%zu KB)",
           seen.stack_bytes / 1024);
    tap_ok(sigismember(&seen.mask, SIGUSR1) == 1 && sigismember(&seen.mask, SIGTERM) == 1
           && sigismember(&seen.mask, SIGSEGV) == 0, "signals blocked, faults not");
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    tap_ok(sigismember(&now, SIGUSR1) == 0, "its creator's mask is as before");
    tap_ok(started_and_done("a-name-longer-than-the-kernel-keeps") && strcmp(seen.name, "a-name-longer-t") == 0,
           "a long name is cut: \"%s\"", seen.name);
}

static int creations;

static int refuse(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    (void)thread, (void)attributes, (void)body, (void)argument;
    creations++;
    return EAGAIN;
}

/* Refuses its first call, which asks for a small stack. */
static int refuse_once(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    return creations++ == 0 ? EINVAL : pthread_create(thread, attributes, body, argument);
}

static void test_refused(void)
{
    sgc_thread_set_creator(refuse);
    tap_ok(!started_and_done("sgc-test") && creations == 1, "a refused thread is reported, not waited for");
    creations = 0;
    sgc_thread_set_creator(refuse_once);
    bool ran = started_and_done("sgc-test");
    tap_ok(ran && creations == 2 && seen.stack_bytes >= 1024 * 1024 && seen.detach_state == PTHREAD_CREATE_DETACHED,
           "if the small stack is refused, the thread gets a usual one (%zu KB)", seen.stack_bytes / 1024);
    sgc_thread_set_creator(pthread_create);
}

int main(void)
{
    test_thread_signals();
    child_ok(send_into_full_queue, "a signal for which the queue has no room is not taken for sent, nor the thread for gone");
    return tap_all(test_masks, test_install, test_restart, test_service, test_refused);
}
