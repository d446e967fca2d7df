/* SPDX-License-Identifier: MIT */
/*
 * platform/section/brief.h and gc/threads/world.c: brief sections beside full ones that were left
 * by a jump, and beside handlers that use the collector and leave it by a jump of their own.
 * tests/model/brief.pml has every order of steps; here are those that need care in the code.
 */
#include <setjmp.h>
#include <signal.h>

#include "tests/lib/child.h"
#include "tests/lib/trap.h"
#include "tests/lib/white.h"

static sgc_a32_t in_section, collected;

/* ---- a stop that is asked for while the thread is where `ask` is called from ----------------------------------------- */

static void collect_once(TEST_UNUSED void *unused)
{
    white_reached(&in_section, 1);
    sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
    sgc_a32_store_rel(&collected, 1);
}

/* Waits until the world has been stopped, or for some time; was it? */
static bool stopped_here(int most_ms)
{
    sgc_a32_store_rel(&in_section, 1);
    for (int i = 0; i < most_ms && !sgc_a32_load_acq(&collected); i++)
        sgc_sleep_ns(WHITE_MS);
    return sgc_a32_load_acq(&collected) != 0;
}

static pthread_t collector(void)
{
    sgc_a32_store(&in_section, 0);
    sgc_a32_store(&collected, 0);
    return white_start(collect_once, NULL);
}

/* What the subtraction leaves when a stop was asked for, and a handler jumps out before the look at it. */
static void test_bit_left_behind(void)
{
    pthread_t thread = collector();

    sgc_aw_store(&sgc_self->section.brief, SGC_BRIEF_ASKED);
    tap_ok(stopped_here(3000), "a thread that left after the subtraction, before the look, is stopped");
    sgc_aw_store(&sgc_self->section.brief, 0);
    (void)sgc_small_try(sgc_self, WHITE_KIND, 1);
    white_join(thread);
}

/* Below the caller, as a path whose frame is gone when it jumps to the slow one. */
TEST_NOINLINE static void enter_below(void)
{
    sgc_brief_enter(&sgc_self->section);
    sgc_compiler_barrier();
}

/* No calls: the stack pointer stays above what is recorded. */
__attribute__((always_inline)) static inline void wait_above(void)
{
    sgc_a32_store_rel(&in_section, 1);
    for (unsigned long i = 0; i < 4000000000ul && !sgc_a32_load_acq(&collected); i++)
        ;
}

static int stop_between_frames(void)
{
    pthread_t thread = collector();
    bool stopped;

    enter_below();
    wait_above();
    sgc_brief_end(&sgc_self->section);
    stopped = sgc_a32_load_acq(&collected) != 0;
    white_join(thread);
    return stopped ? 0 : 1;
}

#if defined(__x86_64__)

static sigjmp_buf way_out;
static volatile bool stopped_inside, tried;

static void catch_traps(void (*handler)(int signal))
{
    struct sigaction action = { .sa_handler = handler };

    sigaction(SIGTRAP, &action, NULL);
}

/* ---- a full section that was left, and is still recorded -------------------------------------------------------------- */

static void jump_from_full(TEST_UNUSED int signal)
{
    if (sgc_self->section.sp != 0)
        siglongjmp(way_out, 1);
}

/* Far below where brief sections will be, so that the suspend handler sees at once that it was left. */
TEST_NOINLINE static void leave_full_section(void)
{
    volatile char deep[65536];

    deep[0] = 0;
    catch_traps(jump_from_full);
    if (sigsetjmp(way_out, 1) == 0) {
        trap_on();
        (void)sgc_small_try(sgc_self, WHITE_KIND, 1);
        trap_off();
    }
    (void)deep[0];
}

static void stop_in_brief(TEST_UNUSED int signal)
{
    if (tried || sgc_brief_recorded(&sgc_self->section) == sgc_self->section.sp)
        return;             /* what was left is recorded twice */
    tried = true;
    stopped_inside = stopped_here(300);
}

static int allocate_over_full(void)
{
    pthread_t thread;
    void *volatile object = sgc_allocate(24, WHITE_KIND);

    leave_full_section();
    if (sgc_self->section.sp == 0)
        return 1;
    thread = collector();
    tried = false;
    catch_traps(stop_in_brief);
    trap_on();
    object = sgc_allocate(24, WHITE_KIND);
    trap_off();
    white_join(thread);
    return object == NULL ? 2 : !tried ? 3 : stopped_inside ? 4 : sgc_self->section.sp != 0 ? 5 : 0;
}

/* ---- a handler's brief section that the handler itself leaves by a jump ------------------------------------------------- */

TEST_NOINLINE static void leave_brief_section(void)
{
    sgc_brief_enter(&sgc_self->section);
}

static void meddle(TEST_UNUSED int signal)
{
    if (tried || (sgc_self->section.sp == 0 && sgc_brief_recorded(&sgc_self->section) == 0))
        return;
    tried = true;
    leave_brief_section();
}

static int meddled(bool full)
{
    catch_traps(meddle);
    trap_on();
    if (full)
        (void)sgc_small_try(sgc_self, WHITE_KIND, 1);
    else
        (void)sgc_allocate(24, SGC_KIND_POINTER_FREE);
    trap_off();
    return 0;
}

static void test_steps(void)
{
    static const char message[] = "a signal handler called the collector";

    child_ok(allocate_over_full, "a brief section is not cut because a full one was left before, which is repaired");
    tried = false;
    child_says_of(meddled(false), 128 + SIGABRT, message, "a handler uses the collector in a brief section and jumps: told");
    child_says_of(meddled(true), 128 + SIGABRT, message, "and in a full section");
}

#else

static void test_steps(void)
{
    tap_skip("single steps are for x86-64");
}

#endif

int main(void)
{
    white_init();
    (void)sgc_allocate(24, SGC_KIND_POINTER_FREE);
    child_ok_of(sgc_section_inside(&sgc_self->section), "no section is recorded in the child of a fork");
    test_bit_left_behind();
    child_ok(stop_between_frames, "stopped after a common path's frame is gone, before the slow path's is there");
    if (TEST_SANITIZED)
        tap_skip("a sanitizer traces through single steps");
    else
        test_steps();
    return tap_done();
}
