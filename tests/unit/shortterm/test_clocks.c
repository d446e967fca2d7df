/* SPDX-License-Identifier: MIT */
/*
 * Clocks beside a thread's own one: dates are over by their ticks and no others', by their release, and by their thread's end.
 */
#define GC_THREADS

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { EXTENSION = 10 };

/* Ticks of everything but the clock. */
static int other_ticks(SGC_clock_t *other)
{
    int wrong = 0;

    for (int i = 0; i < 2 * EXTENSION; i++)
        wrong += SGC_tick() != 0 || SGC_tick_global() != 0 || SGC_tick_clock(other) != 0;
    return wrong;
}

static int own_ticks_only(void)
{
    SGC_clock_t *clock = SGC_clock_new(), *other = SGC_clock_new();
    int wrong = clock == NULL || other == NULL || clock == other;

    for (unsigned e = 0; e <= EXTENSION && wrong == 0; e++) {
        wrong += SGC_refresh_clock(GC_MALLOC(40), e, clock) != 0;
        wrong += other_ticks(other) || figures().dates != 1;
        for (unsigned i = 0; i < e; i++)
            wrong += SGC_tick_clock(clock) != 0 || figures().dates != 1;
        wrong += SGC_tick_clock(clock) != 0 || figures().dates != 0;
    }
    return wrong;
}

static int without_a_clock(void)
{
    int wrong = SGC_refresh_clock(GC_MALLOC(40), 1, NULL) != 0 || figures().dates != 1;

    wrong += SGC_tick() != 0 || figures().dates != 1;
    return wrong + (SGC_tick_clock(NULL) != 0 || figures().dates != 0 || SGC_clock_release(NULL) != EINVAL);
}

/* Clocks that are released leave nothing, so that any number of them can be had one after the other. */
static int released(void)
{
    SGC_clock_t *kept = SGC_clock_new();
    int wrong = SGC_refresh_clock(GC_MALLOC(40), 3, kept);

    for (int round = 0; round < 2000; round++) {
        SGC_clock_t *clock = SGC_clock_new();

        for (unsigned e = 0; e <= EXTENSION; e++)
            wrong += SGC_refresh_clock(GC_MALLOC(40), e, clock);
        wrong += figures().dates != EXTENSION + 2;
        wrong += SGC_clock_release(clock) != 0 || figures().dates != 1;
    }
    return wrong != 0 || figures().date_bytes > 1 << 20;
}

static void *another(void *clock)
{
    int wrong = SGC_refresh_clock(GC_MALLOC(40), 0, clock) != EPERM || SGC_tick_clock(clock) != EPERM;

    wrong += SGC_clock_release(clock) != EPERM;
    return (void *)(intptr_t)wrong;
}

static int foreign(void)
{
    SGC_clock_t *clock = SGC_clock_new();

    return thread_result(another, clock) != NULL || SGC_refresh_clock(GC_MALLOC(40), 0, clock) != 0 || figures().dates != 1;
}

static void *leaves_clocks(TEST_UNUSED void *unused)
{
    int wrong = 0;

    for (unsigned i = 0; i < 5; i++) {
        SGC_clock_t *clock = SGC_clock_new();

        wrong += SGC_refresh_clock(GC_MALLOC(40), i, clock) != 0 || SGC_refresh_clock(GC_MALLOC(40), EXTENSION, clock) != 0;
    }
    return (void *)(intptr_t)(wrong + (figures().dates != 10));
}

static int thread_ends(void)
{
    return thread_result(leaves_clocks, NULL) != NULL || figures().dates != 0;
}

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    tap_plan(5);
    child_ok(own_ticks_only, "dates are over at exactly the right tick of their clock, whatever others do");
    child_ok(without_a_clock, "no clock is the thread's own one");
    child_ok(released, "a clock that is released leaves no date and no memory");
    child_ok(foreign, "another thread's clock is refused");
    child_ok(thread_ends, "clocks end with their thread");
    return tap_done();
}
