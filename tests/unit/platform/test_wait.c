/* SPDX-License-Identifier: MIT */
/*
 * platform/wait_linux.c: every reason for which a sleep ends.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>

#include "platform/platform.h"
#include "tests/lib/threads.h"

enum { MS = 1000000 };

static void test_no_sleep(void)
{
    sgc_a32_t word = SGC_ATOMIC_INIT(5);
    errno = EDOM;
    tap_ok(sgc_wait(&word, 6, -1), "another value: returns at once");
    tap_ok(!sgc_wait(&word, 5, 0), "timeout 0: the time is over");
    tap_ok(errno == EDOM, "and errno is as before");
}

static void test_timeout(void)
{
    sgc_a32_t word = SGC_ATOMIC_INIT(5);
    uint64_t begin = sgc_clock_ns();
    bool in_time = sgc_wait(&word, 5, 30 * MS);
    uint64_t took = sgc_clock_ns() - begin;
    tap_ok(!in_time, "a timeout is reported");
    tap_ok(took >= 30 * MS, "not before its time (%lu us)", (unsigned long)(took / 1000));
    sgc_a32_store(&word, UINT32_MAX);
    tap_ok(!sgc_wait(&word, UINT32_MAX, 1 * MS), "the greatest value can be waited on");
}

/* ---- wake-ups ---------------------------------------------------------------------------------------- */

static sgc_a32_t gate, through;

static void *wait_at_gate(TEST_UNUSED void *unused)
{
    while (sgc_a32_load_acq(&gate) == 0)
        sgc_wait(&gate, 0, -1);
    sgc_a32_add(&through, 1);
    return NULL;
}

static void test_wake_all(void)
{
    enum { SLEEPERS = 4 };
    pthread_t thread[SLEEPERS];
    threads_start(thread, SLEEPERS, wait_at_gate);
    sgc_sleep_ns(20 * MS);
    tap_ok(sgc_a32_load(&through) == 0, "sleepers sleep while the value is the expected one");
    sgc_a32_store_rel(&gate, 1);
    errno = EDOM;
    sgc_wake(&gate, INT_MAX);
    tap_ok(errno == EDOM, "sgc_wake leaves errno alone");
    threads_join(thread, SLEEPERS);
    tap_ok(sgc_a32_load(&through) == SLEEPERS, "all are woken");
}

static sgc_a32_t one_gate, woken;

/* One round only: it ends when somebody wakes this thread, and not before ten seconds otherwise. */
static void *sleep_once(TEST_UNUSED void *unused)
{
    if (sgc_wait(&one_gate, 0, 10000LL * MS))
        sgc_a32_add(&woken, 1);
    return NULL;
}

/* Wakes one at a time until `target` are awake; returns how often it took (a wake-up before both
 * sleep is nobody's). */
static unsigned wake_until(uint32_t target)
{
    unsigned calls = 0;
    for (; sgc_a32_load_acq(&woken) < target && calls < 1000; calls++) {
        sgc_wake(&one_gate, 1);
        sgc_sleep_ns(5 * MS);
    }
    return calls;
}

static void test_wake_one(void)
{
    pthread_t thread[2];
    threads_start(thread, 2, sleep_once);
    sgc_sleep_ns(20 * MS);
    unsigned calls = wake_until(1);
    sgc_sleep_ns(50 * MS);
    uint32_t awake = sgc_a32_load(&woken);
    tap_ok(awake >= 1 && awake <= calls, "sgc_wake(1) wakes at most one (%u after %u)", (unsigned)awake, calls);
    wake_until(2);
    threads_join(thread, 2);
    tap_ok(sgc_a32_load(&woken) == 2, "and the other afterwards");
}

/* ---- signals and sleeps -------------------------------------------------------------------------------- */

static sgc_a32_t signals_seen;

static void count_signal(TEST_UNUSED int signal)
{
    sgc_a32_add(&signals_seen, 1);
}

static pthread_t sleeper;
static sgc_a32_t stop_signals;

static void *send_signals(TEST_UNUSED void *unused)
{
    while (!sgc_a32_load_acq(&stop_signals)) {
        pthread_kill(sleeper, SIGUSR1);
        sgc_sleep_ns(2 * MS);
    }
    return NULL;
}

/* SA_RESTART is not set, so that nothing but our own care makes a sleep go on. */
static void test_signals(void)
{
    struct sigaction action = { .sa_handler = count_signal };
    sgc_a32_t word = SGC_ATOMIC_INIT(0);
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    sleeper = pthread_self();
    pthread_create(&thread, NULL, send_signals, NULL);
    tap_ok(sgc_wait(&word, 0, 10000LL * MS), "a signal ends sgc_wait, which is no timeout");
    uint64_t begin = sgc_clock_ns();
    sgc_sleep_ns(40 * MS);
    uint64_t took = sgc_clock_ns() - begin;
    sgc_a32_store_rel(&stop_signals, 1);
    pthread_join(thread, NULL);
    tap_ok(took >= 40 * MS, "sgc_sleep_ns sleeps its time whatever signals come (%lu us)",
           (unsigned long)(took / 1000));
    tap_ok(sgc_a32_load(&signals_seen) > 0, "signals did come (%u)", (unsigned)sgc_a32_load(&signals_seen));
}

/* ---- clocks --------------------------------------------------------------------------------------------- */

static void test_clocks(void)
{
    uint64_t wall = sgc_clock_ns(), cpu = sgc_clock_thread_cpu_ns();
    sgc_sleep_ns(20 * MS);
    uint64_t cpu_asleep = sgc_clock_thread_cpu_ns() - cpu;
    tap_ok(sgc_clock_ns() - wall >= 20 * MS, "the clock runs while the thread sleeps");
    tap_ok(cpu_asleep < 15 * MS, "processor time hardly does (%lu us)", (unsigned long)(cpu_asleep / 1000));
    cpu = sgc_clock_thread_cpu_ns();
    while (sgc_clock_thread_cpu_ns() - cpu < 2 * MS)
        sgc_spin_hint();
    sgc_yield();
    tap_ok(sgc_clock_thread_cpu_ns() > cpu, "processor time grows with work");
}

int main(void)
{
    return tap_all(test_no_sleep, test_timeout, test_wake_all, test_wake_one, test_signals, test_clocks);
}
