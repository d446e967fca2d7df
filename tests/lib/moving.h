/* SPDX-License-Identifier: MIT */
/*
 * Processes in which objects move about (tests/lib/world.h) while something goes wrong: for tests
 * of concurrent cycles.  Each loses nothing, comes to its end, collects beside the program or in
 * stops as is expected, and says just what is expected, once.
 */
#ifndef TESTS_LIB_MOVING_H
#define TESTS_LIB_MOVING_H

#define GC_THREADS 1
#define GC_NO_THREAD_REDIRECTS 1
#include <gc/gc.h>

#include <sys/mman.h>

#include "gc/collect/concurrent.h"
#include "tests/lib/child.h"
#include "tests/lib/white.h"
#include "tests/lib/world.h"

enum { SLOTS = 2000, CYCLES = 3 };

static struct world world;

TEST_UNUSED static void change_often(int times)
{
    world_change_often(&world, times);
}

TEST_UNUSED static bool right(void)
{
    return world_right(&world);
}

/* ---- cycles ---- */

TEST_UNUSED static void begin(void)
{
    GC_INIT();
    world_count_cycles();
    world = world_make(SLOTS, 0, false);
}

/* Until so many more have come of it. */
TEST_UNUSED static bool work_for(const sgc_a32_t *count, uint32_t more)
{
    uint64_t until = world_patience();
    uint32_t wanted = sgc_a32_load(count) + more;

    while (sgc_a32_load(count) < wanted && sgc_clock_ns() < until)
        change_often(500);
    return sgc_a32_load(count) >= wanted;
}

TEST_UNUSED static bool work_until_marking(bool marking)
{
    uint64_t until = world_patience();

    while (sgc_concurrent_marks() != marking && sgc_clock_ns() < until)
        change_often(marking ? 50 : 500);
    return sgc_concurrent_marks() == marking;
}

enum mode { STOPPED, BESIDE, EITHER };

TEST_UNUSED static int end(enum mode mode)
{
    if (!work_for(&world_cycles.all, 1) || !work_for(mode == BESIDE ? &world_cycles.concurrent : &world_cycles.all, CYCLES))
        return 3;
    if (!right())
        return 1;
    GC_gcollect();
    if (!right())
        return 2;
    return mode == EITHER || GC_is_incremental_mode() == (mode == BESIDE) ? 0 : 4;
}

TEST_UNUSED static int whole_run(enum mode mode)
{
    begin();
    return end(mode);
}

/* The process works, something happens in the middle of a cycle or between two, and it works on. */
TEST_UNUSED static int disturbed(bool in_the_middle, bool (*happens)(void), enum mode mode)
{
    begin();
    if (!GC_is_incremental_mode() || !work_for(&world_cycles.concurrent, 1) || !work_until_marking(in_the_middle))
        return CHILD_SKIPS;
    if (!happens())
        return CHILD_SKIPS;
    return end(mode);
}

/* ---- what is said ---- */

/* The child returns 0 and nothing is said but that, once; NULL: nothing; after "+": and whatever
 * else. */
TAP_PRINTF(3, 4) static void has_said(pid_t child, const char *message, const char *format, ...)
{
    bool more = message != NULL && message[0] == '+';
    int status = child_wait(child);
    const char *text = capture_end();
    char name[256];

    tap_format(name, format);
    message += more;
    if (status == CHILD_SKIPS)
        tap_skip("%s: cannot be tried here", name);
    else if (!tap_ok(status == 0 && (more || capture_count(text, "SGC: ") == (message != NULL)) &&
                     (message == NULL || capture_count(text, message) == 1), "%s", name))
        tap_diag("status %d, said: %.600s", status, text);
}

#define says(body, message, ...) says_of((body)(), message, __VA_ARGS__)
#define says_of(value, message, ...)                        \
    do {                                                    \
        pid_t child_now = child_begin_caught();             \
        if (child_now == 0)                                 \
            _exit(value);                                   \
        has_said(child_now, message, __VA_ARGS__);          \
    } while (0)

/* ---- what any source must stand ---- */

TEST_UNUSED static int little_address_space(void)
{
    struct rlimit little = { 400 << 20, 400 << 20 };

    return setrlimit(RLIMIT_AS, &little) == 0 ? whole_run(BESIDE) : CHILD_SKIPS;
}

TEST_UNUSED static int locked_memory(void)
{
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? whole_run(BESIDE) : CHILD_SKIPS;
}

enum { FORKS = 12 };

static int child_number;

/* One child in four collects beside itself; the others store and end. */
static int child_of_fork(void)
{
    if (child_number % 4 == 0)
        return end(BESIDE);
    change_often(3000);
    return right() ? 0 : 1;
}

TEST_UNUSED static int forks(void)
{
    GC_set_handle_fork(1);
    begin();
    if (!GC_is_incremental_mode())
        return CHILD_SKIPS;
    for (child_number = 0; child_number < FORKS; child_number++) {
        pid_t child;

        if (child_number % 3 != 0)
            work_until_marking(true);
        child = child_start(child_of_fork);
        change_often(500);
        if (child_wait(child) != 0)
            return 5;
    }
    return end(BESIDE);
}

#endif
