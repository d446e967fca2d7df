/* SPDX-License-Identifier: MIT */
/* Waiting for a collection to end: which threads may spin. */
#include <pthread.h>

#include "gc/threads/world_internal.h"
#include "tests/lib/tap.h"

static const uint32_t SEEN = 7;

/* Spinning sees the change that has been made already; who may not spin does not even look. */
static bool spins(const sgc_a32_t *changed, uint32_t markers, uint32_t stopped, uint32_t beside)
{
    sgc_spin_wait_begin(markers);
    for (uint32_t i = 0; i < stopped; i++)
        sgc_spin_wait_add_thread();
    return sgc_spin_wait(changed, SEEN, beside);
}

static void test_who_spins(void)
{
    sgc_a32_t word;

    sgc_a32_store(&word, SEEN + 1);
    sgc_spin_wait_init(2);
    tap_ok(spins(&word, 1, 1, 0), "a marker and a stopped thread have a processor each: it spins");
    tap_ok(!spins(&word, 1, 2, 0), "with one thread more than there are processors nobody spins");
    tap_ok(!spins(&word, 2, 1, 0), "nor beside a second marker");
    tap_ok(spins(&word, 1, 0, 1), "a thread that is not stopped spins beside the marker");
    tap_ok(!spins(&word, 1, 0, 2), "two do not");
    tap_ok(!spins(&word, 1, 1, UINT32_MAX), "any number of threads is too many");
    sgc_spin_wait_init(1);
    tap_ok(!spins(&word, 1, 1, 0), "with one processor nobody spins");
    tap_ok(!spins(&word, 2, 0, 0), "even if two markers are asked for");
    sgc_spin_wait_init(64);
    sgc_a32_store(&word, SEEN);
    tap_ok(!spins(&word, 1, 1, 0), "spinning ends although nothing changes");
}

/* A thread that counts down to 0, and lets a moment pass before each step. */
static void *count_down(void *arg)
{
    sgc_a32_t *word = arg;

    while (sgc_a32_load(word) != 0) {
        sgc_sleep_ns(1000);
        sgc_a32_add(word, (uint32_t)-1);
    }
    return NULL;
}

static void test_stopper(void)
{
    pthread_t thread;
    sgc_a32_t word;

    sgc_spin_wait_init(2);
    sgc_spin_wait_begin(1);
    sgc_spin_wait_add_thread();
    sgc_a32_store(&word, 0);
    tap_ok(sgc_spin_wait_zero(&word), "nobody is missing: the stopper goes on");
    sgc_a32_store(&word, 3);
    tap_ok(!sgc_spin_wait_zero(&word), "it does not spin for ever");
    pthread_create(&thread, NULL, count_down, &word);
    while (!sgc_spin_wait_zero(&word))
        continue;
    tap_ok(sgc_a32_load(&word) == 0, "it sees each of several threads stop");
    pthread_join(thread, NULL);
    sgc_spin_wait_add_thread();
    sgc_a32_store(&word, 1);
    tap_ok(!sgc_spin_wait_zero(&word), "with more threads than processors it does not spin");
}

int main(void)
{
    tap_plan(13);
    return tap_all(test_who_spins, test_stopper);
}
