/* SPDX-License-Identifier: MIT */
/*
 * An object with a finalizer of its own is allocated, and a client's handler leaves that by siglongjmp, at instruction after
 * instruction of the section: what a slot held before is not finalized again.
 */
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "gc/finalize/disclaim.h"
#include "gc/gc_disclaim.h"
#include "tests/lib/trap.h"
#include "tests/lib/white.h"

#if defined(__x86_64__)

enum { OBJECTS = 64, BYTES = 24, STRIDE = 9, LAST = 700 };

static void *volatile row[OBJECTS];
static sigjmp_buf way_out;
static volatile long step, jump_at;
static long again;

static void finalize(void *object, TEST_UNUSED void *unused)
{
    long *times = object;

    again += ++*times > 1;
}

static const struct GC_finalizer_closure closure = { finalize, NULL };

/* Not under a lock, where signals are blocked. */
static void on_trap(TEST_UNUSED int signal, TEST_UNUSED siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;

    if (sgc_section_inside(&sgc_self->section) && !sigismember(&interrupted->uc_sigmask, SIGUSR1) && ++step == jump_at)
        siglongjmp(way_out, 1);
}

static void collect(void)
{
    sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    sgc_disclaim_run(sgc_mutator_self(), SIZE_MAX, sgc_stack_pointer());
}

/* Most die; their slots are free after the next collection. */
TEST_NOINLINE static void make_some(void)
{
    for (int i = 0; i < OBJECTS; i++)
        row[i] = GC_finalized_malloc(BYTES, &closure);
    for (int i = 0; i < OBJECTS; i++)
        if (i % 8 != 0)
            row[i] = NULL;
    collect();
    collect();
}

/* False: it was not left, since it has fewer instructions. */
TEST_NOINLINE static bool left_at(long at)
{
    step = 0;
    jump_at = at;
    if (sigsetjmp(way_out, 1) != 0)
        return true;
    trap_on();
    GC_finalized_malloc(BYTES, &closure);
    trap_off();
    return false;
}

static void test_left(void)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
    long at = 1;

    white_init();
    GC_init_finalized_malloc();
    sigaction(SIGTRAP, &action, NULL);
    for (make_some(); at < LAST && left_at(at); at += STRIDE)
        make_some();
    collect();
    tap_ok(at > 300 && again == 0, "allocating with a finalizer, left in many places (%ld): none runs twice (%ld)", at, again);
}

#else

static void (*const test_left)(void) = NULL;

#endif

int main(void)
{
    return trap_main(test_left);
}
