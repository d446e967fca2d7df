/* SPDX-License-Identifier: MIT */
/*
 * mark/work/idle.h: the numbers, who spins and who sleeps, and who is woken.
 */

#include "platform/platform.h"

static int yields;

#define sgc_yield() ((void)yields++)
#include "mark/work/idle.h"
#include "tests/lib/threads.h"

enum { MS = 1000000, LAST_LOOK = SGC_BACKOFF_SPINS + SGC_BACKOFF_YIELDS };

static struct sgc_idle idle;

/* ---- the numbers ----------------------------------------------------------------------------------------------- */

static void test_policy(void)
{
    int changes = 0, wrong = 0, falling = 0;
    int64_t before = 0;

    for (uint32_t looks = 0; looks < 1000; looks++) {
        bool naps = looks >= LAST_LOOK;
        wrong += sgc_backoff_spins(looks) + sgc_backoff_yields(looks) + naps != 1;
        changes += looks > 0 && sgc_backoff_spins(looks) != sgc_backoff_spins(looks - 1);
        if (naps) {
            falling += sgc_backoff_nap_ns(looks) < before;
            before = sgc_backoff_nap_ns(looks);
        }
    }
    tap_ok(wrong == 0 && changes == 1, "first it spins, then it yields, then it naps");
    tap_ok(sgc_backoff_nap_ns(LAST_LOOK) == SGC_BACKOFF_NAP_NS && falling == 0, "naps grow longer");
    tap_ok(sgc_backoff_nap_ns(LAST_LOOK + 8) == MS && sgc_backoff_nap_ns(UINT32_MAX) == MS, "up to a millisecond");
    tap_ok(sgc_backoff_sleep_ns(1) == MS && sgc_backoff_sleep_ns(1000) == 1000LL * MS,
           "a thousand sleepers together wake up no more often than one");
}

/* ---- one at a time --------------------------------------------------------------------------------------------- */

/* How many looks until it is told to sleep. */
static uint32_t looks_until_sleep(struct sgc_rest *rest)
{
    uint32_t looks = 0;

    do {
        sgc_idle_note_signal(&idle, rest);
        looks++;
    } while (sgc_idle_spin(&idle, rest) && looks < 1000);
    return looks;
}

static void test_spinner(void)
{
    struct sgc_rest one = { 0 }, two = { 0 };

    sgc_idle_init(&idle);
    tap_ok(looks_until_sleep(&one) == LAST_LOOK + 1, "the spinner looks %d times before it naps", LAST_LOOK + 1);
    tap_ok(yields == SGC_BACKOFF_YIELDS, "and gives way to others %d times", yields);
    tap_ok(looks_until_sleep(&two) == 1, "another sleeps after its first look");
    sgc_idle_end(&idle, &two, true);
    tap_ok(looks_until_sleep(&two) == 1, "who does not spin leaves the place alone when it goes");
    sgc_a32_add(&idle.signal, 1);
    tap_ok(looks_until_sleep(&one) == LAST_LOOK + 1, "after a signal the spinner begins anew");
    sgc_idle_end(&idle, &one, false);
    tap_ok(looks_until_sleep(&two) == LAST_LOOK + 1, "when it has gone, the next one spins");
    sgc_idle_end(&idle, &two, false);
}

static uint64_t slept(struct sgc_rest *rest)
{
    uint64_t begin = sgc_clock_ns();

    sgc_idle_sleep(&idle, rest);
    return sgc_clock_ns() - begin;
}

static void test_sleep(void)
{
    struct sgc_rest one = { 0 }, two = { 0 };

    looks_until_sleep(&one);
    tap_ok(slept(&one) >= SGC_BACKOFF_NAP_NS && slept(&one) >= 2 * SGC_BACKOFF_NAP_NS, "the spinner's naps");
    looks_until_sleep(&two);
    tap_ok(slept(&two) >= MS, "a sleeper's millisecond");
    sgc_a32_store(&idle.sleepers, 4);
    tap_ok(slept(&two) >= 5 * MS, "with four more asleep, five");
    sgc_a32_store(&idle.sleepers, 0);
    sgc_idle_note_signal(&idle, &two);
    sgc_a32_add(&idle.signal, 1);
    sgc_a32_store(&idle.sleepers, 10000);
    tap_ok(slept(&two) < 5000ULL * MS, "a signal since the look: no sleep");
    sgc_idle_end(&idle, &one, false);
    sgc_idle_note_signal(&idle, &two);
    tap_ok(slept(&two) < 5000ULL * MS, "nobody spins: no sleep");
    sgc_a32_store(&idle.sleepers, 0);
}

/* ---- waking ---------------------------------------------------------------------------------------------------- */

enum { SLEEPERS = 3 };

static sgc_a32_t awake;

/* Sleeps once, up to half a minute. */
static void *sleep_once(TEST_UNUSED void *unused)
{
    struct sgc_rest rest = { 0 };

    sgc_idle_note_signal(&idle, &rest);
    sgc_idle_sleep(&idle, &rest);
    sgc_a32_add(&awake, 1);
    return NULL;
}

/* The sleepers' count is raised so that they would sleep long. */
static void start_sleepers(pthread_t *thread, struct sgc_rest *spinner)
{
    sgc_idle_init(&idle);
    sgc_a32_store(&awake, 0);
    sgc_idle_note_signal(&idle, spinner);
    sgc_idle_spin(&idle, spinner);
    sgc_a32_store(&idle.sleepers, 30000);
    threads_start(thread, SLEEPERS, sleep_once);
    while (sgc_a32_load(&idle.sleepers) < 30000 + SLEEPERS)
        sgc_sleep_ns(MS);
    sgc_sleep_ns(20 * MS);
}

static void wait_until_awake(uint32_t target)
{
    for (int i = 0; i < 5000 && sgc_a32_load(&awake) < target; i++)
        sgc_sleep_ns(MS);
}

static void test_wake(void)
{
    pthread_t thread[SLEEPERS];
    struct sgc_rest spinner = { 0 };

    start_sleepers(thread, &spinner);
    tap_ok(sgc_a32_load(&awake) == 0, "they sleep");
    sgc_idle_wake(&idle, 1);
    wait_until_awake(1);
    sgc_sleep_ns(20 * MS);
    tap_ok(sgc_a32_load(&awake) == 1, "work for one wakes one");
    sgc_idle_end(&idle, &spinner, true);
    wait_until_awake(2);
    sgc_sleep_ns(20 * MS);
    tap_ok(sgc_a32_load(&awake) == 2, "a spinner that finds work wakes one to take its place");
    sgc_idle_wake_all(&idle);
    threads_join(thread, SLEEPERS);
    tap_ok(sgc_a32_load(&awake) == SLEEPERS && sgc_a32_load(&idle.sleepers) == 30000, "the end wakes all");
}

static void test_wake_all(void)
{
    pthread_t thread[SLEEPERS];
    struct sgc_rest spinner = { 0 };

    start_sleepers(thread, &spinner);
    sgc_idle_end(&idle, &spinner, false);
    sgc_sleep_ns(20 * MS);
    tap_ok(sgc_a32_load(&awake) == 0, "a spinner that leaves at the end wakes nobody");
    uint64_t begin = sgc_clock_ns();
    sgc_idle_wake_all(&idle);
    threads_join(thread, SLEEPERS);
    tap_ok(sgc_clock_ns() - begin < 5000ULL * MS, "all are woken at once");
}

/* Nobody sleeps: no signal, so no shared line is written; but the end always gives one. */
static void test_nobody(void)
{
    sgc_idle_init(&idle);
    sgc_idle_wake(&idle, 1);
    tap_ok(sgc_a32_load(&idle.signal) == 0, "with no sleeper sharing work gives no signal");
    sgc_idle_wake_all(&idle);
    tap_ok(sgc_a32_load(&idle.signal) == 1, "the end does: somebody may be about to fall asleep");
}

int main(void)
{
    return tap_all(test_policy, test_spinner, test_sleep, test_wake, test_wake_all, test_nobody);
}
