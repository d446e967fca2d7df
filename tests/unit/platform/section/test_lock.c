/* SPDX-License-Identifier: MIT */
/*
 * platform/section/lock.c: exclusion under contention, no sleeper forgotten, ranks, signals blocked while a
 * lock is held, and a thread that waits for its first lock can be stopped.
 */
#include <signal.h>

#include "platform/section/lock.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"

/* Locks of our own; the collector is running, so sections have somewhere to park. */
static struct sgc_lock first = SGC_LOCK_INIT(SGC_RANK_NODES);
static struct sgc_lock second = SGC_LOCK_INIT(SGC_RANK_SPANS);

/* ---- contention ---------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 20000 };

static long counter, inner_counter;
static sgc_a32_t finished;

static void count_up(TEST_UNUSED void *unused)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());

    for (int i = 0; i < ROUNDS; i++) {
        sgc_lock(&first, self);
        counter++;
        sgc_lock(&second, self);
        inner_counter++;
        sgc_unlock(&second, self);
        counter++;
        sgc_unlock(&first, self);
    }
    sgc_a32_add(&finished, 1);
}

static void test_contention(void)
{
    pthread_t thread[THREADS];

    white_start_all(thread, THREADS, count_up);
    if (!tap_ok(white_reached(&finished, THREADS), "%d threads take two locks %d times each", THREADS, ROUNDS))
        tap_bail("threads hang");
    white_join_all(thread, THREADS);
    tap_ok(counter == 2L * THREADS * ROUNDS && inner_counter == (long)THREADS * ROUNDS, "nobody's step is lost");
}

/* ---- no sleeper is forgotten ------------------------------------------------------------------------ */

enum { WAITERS = 3 };

static sgc_a32_t waiting, served;

static void wait_once(TEST_UNUSED void *unused)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());

    sgc_a32_add(&waiting, 1);
    sgc_lock(&first, self);
    sgc_a32_add(&served, 1);
    sgc_unlock(&first, self);
}

/* All of them sleep when the lock is freed.  Only one is woken; it must wake the next. */
static void test_sleepers(void)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());
    pthread_t thread[WAITERS];

    sgc_lock(&first, self);
    white_start_all(thread, WAITERS, wait_once);
    white_reached(&waiting, WAITERS);
    sgc_sleep_ns(100 * WHITE_MS);
    tap_ok(sgc_a32_load(&served) == 0, "%d threads wait for a lock that is held", WAITERS);
    sgc_unlock(&first, self);
    for (int i = 0; i < 2000 && sgc_a32_load_acq(&served) < WAITERS; i++)
        sgc_sleep_ns(WHITE_MS);
    if (!tap_ok(sgc_a32_load_acq(&served) == WAITERS, "each gets it after the other (%u)", sgc_a32_load(&served)))
        tap_bail("a thread sleeps for ever");
    white_join_all(thread, WAITERS);
}

/* ---- signals ---------------------------------------------------------------------------------------- */

static sgc_a32_t handled;

static void on_usr1(TEST_UNUSED int signal)
{
    sgc_a32_add(&handled, 1);
}

static bool blocked_now(int signal)
{
    sigset_t now;

    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signal) == 1;
}

static void test_signals(void)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());
    sigset_t usr2;

    signal(SIGUSR1, on_usr1);
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    sgc_lock(&first, self);
    raise(SIGUSR1);
    tap_ok(sgc_a32_load(&handled) == 0 && blocked_now(SIGUSR1), "no handler runs while a lock is held");
    tap_ok(!blocked_now(SIGSEGV) && !blocked_now(SIGBUS), "faults are not blocked");
    sgc_lock(&second, self);
    sgc_unlock(&second, self);
    tap_ok(sgc_a32_load(&handled) == 0 && sgc_section_inside(self), "nor when only the second is given back");
    sgc_unlock(&first, self);
    tap_ok(sgc_a32_load(&handled) == 1 && !sgc_section_inside(self), "it runs after the last one");
    tap_ok(!blocked_now(SIGUSR1) && blocked_now(SIGUSR2), "and the thread's own mask is back");
    pthread_sigmask(SIG_UNBLOCK, &usr2, NULL);
}

/* ---- waiting does not keep the world from stopping ----------------------------------------------------- */

static sgc_a32_t holder_has_it, holder_may_go, waiter_began, waiter_done;

/* Holds a lock for longer than anybody may; it has no section, so no stop waits for it. */
static void *hold_long(void *unused)
{
    sgc_lock(&second, NULL);
    sgc_a32_store_rel(&holder_has_it, 1);
    white_reached(&holder_may_go, 1);
    sgc_unlock(&second, NULL);
    return unused;
}

static void wait_for_second(TEST_UNUSED void *unused)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());

    sgc_a32_store_rel(&waiter_began, 1);
    sgc_lock(&second, self);
    sgc_unlock(&second, self);
    sgc_a32_store_rel(&waiter_done, 1);
}

static void test_stop_while_waiting(void)
{
    pthread_t holder = thread_start(hold_long, NULL), waiter;

    white_reached(&holder_has_it, 1);
    waiter = white_start(wait_for_second, NULL);
    white_reached(&waiter_began, 1);
    sgc_sleep_ns(20 * WHITE_MS);
    tap_ok(white_collect() == SGC_COLLECTED && sgc_a32_load(&waiter_done) == 0,
           "a thread that waits for its first lock is stopped for a collection");
    sgc_a32_store_rel(&holder_may_go, 1);
    white_join(waiter);
    white_join(holder);
    tap_ok(sgc_a32_load_acq(&waiter_done) == 1, "and gets the lock when it is freed");
}

/* ---- ranks ------------------------------------------------------------------------------------------- */

static int take_in_wrong_order(void)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());

    sgc_report_to(STDERR_FILENO);
    sgc_lock(&second, self);
    sgc_lock(&first, self);
    return 0;
}

static int free_what_is_free(void)
{
    sgc_unlock(&first, NULL);
    return 0;
}

static int take_without_section_after_reset(void)
{
    sgc_lock(&first, NULL);
    sgc_lock_reset(&first);
    sgc_lock(&first, NULL);
    return sgc_lock_taken(&first) ? 0 : 1;
}

static void test_ranks(void)
{
    struct sgc_section *self = sgc_section_of(sgc_mutator_self());

    sgc_lock(&first, self);
    tap_ok(sgc_lock_taken(&first) && !sgc_lock_taken(&second), "one lock is held, not the other");
    sgc_unlock(&first, self);
    tap_ok(!sgc_lock_taken(&first), "and is free when it was given back");
    child_ok(take_without_section_after_reset, "a reset lock is free");
    if (!TEST_ASSERTIONS) {
        tap_skip("ranks are checked in builds with assertions");
        return;
    }
    child_says(take_in_wrong_order, 128 + SIGABRT, "platform/section/lock.c", "taking locks against their ranks is caught");
    child_says(free_what_is_free, 128 + SIGABRT, "assertion", "so is freeing a free lock");
}

int main(void)
{
    white_init();
    tap_each(test_contention, test_sleepers, test_signals);
    if (TEST_SANITIZED)
        tap_skip("a sanitizer delivers no signal to a thread in our own system call");
    else
        test_stop_while_waiting();
    test_ranks();
    return tap_done();
}
