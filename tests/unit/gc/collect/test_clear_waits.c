/* SPDX-License-Identifier: MIT */
/*
 * alloc/pages/marks.c: a thread waits until another one has cleared its part of the bits for the next mark, and a whole cycle
 * comes and goes before it goes on.  Then as much is to be cleared again, and there may be nobody who does it: it clears that
 * itself.  So waits the thread that leads concurrent cycles, without a lock.
 *
 * The other thread is stopped in its part by single steps, so on x86-64 only.  The test is linked with sgc_wait wrapped
 * (tests/list.txt).
 */
#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>

#include <signal.h>
#include <ucontext.h>

#include "alloc/pages/marks.h"
#include "tests/lib/child.h"
#include "tests/lib/trap.h"
#include "tests/lib/white.h"

#if defined(__x86_64__)

enum { STEPS = 400, STRIDE = 20, IN_VAIN = 100 };

static pthread_t other;
static volatile int step, stay_at;
static sgc_a32_t stays, goes_on;
static _Thread_local bool waits_for_other;
static int waits, waits_in_vain;

/* ---- the other thread ---- */

static void on_trap(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *interrupted)
{
    if (step++ != stay_at)
        return;
    trap_end(interrupted);
    sgc_a32_store_rel(&stays, 1);
    while (sgc_a32_load_acq(&goes_on) == 0)
        sgc_yield();
}

static void clear_one(TEST_UNUSED void *unused)
{
    trap_on();
    sgc_clear_some(1);
    trap_off();
    sgc_a32_store_rel(&stays, 1);
}

static void let_it_go_on(void)
{
    sgc_a32_store_rel(&goes_on, 1);
    white_join(other);
}

/* ---- the thread that waits ---- */

bool __real_sgc_wait(sgc_a32_t *word, uint32_t expected, int64_t timeout_ns);
bool __wrap_sgc_wait(sgc_a32_t *word, uint32_t expected, int64_t timeout_ns);

/* The first time it sleeps until all that is over. */
bool __wrap_sgc_wait(sgc_a32_t *word, uint32_t expected, int64_t timeout_ns)
{
    if (!waits_for_other)
        return __real_sgc_wait(word, expected, timeout_ns);
    if (waits++ == 0) {
        waits_for_other = false;
        let_it_go_on();
        white_collect();
        waits_for_other = true;
    } else if (++waits_in_vain == IN_VAIN) {
        _exit(2);
    }
    return true;
}

/* 0: it has waited, and come back; 1: it need not wait, since the other one was not in the middle of it. */
static int finish_beside(void)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

    setenv("SGC_BACKGROUND_THREAD", "off", 1);
    white_init();
    sigaction(SIGTRAP, &action, NULL);
    GC_MALLOC(16);
    white_collect();
    other = white_start(clear_one, NULL);
    if (!white_reached(&stays, 1))
        return 3;
    waits_for_other = true;
    sgc_clear_finish();
    waits_for_other = false;
    if (waits == 0)
        let_it_go_on();
    return waits != 0 ? 0 : 1;
}

static void test_all(void)
{
    int came_back = 0, wrong = 0;

    for (stay_at = 0; stay_at < STEPS; stay_at += STRIDE) {
        int status = run_in_child(finish_beside);

        came_back += status == 0;
        wrong += status > 1;
    }
    tap_ok(came_back > 0 && wrong == 0, "who waits over a cycle clears what that leaves (%d did; %d waited in vain)", came_back,
           wrong);
}

#else

static void (*const test_all)(void) = NULL;

#endif

int main(void)
{
    return trap_main(test_all);
}
