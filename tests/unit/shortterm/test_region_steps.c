/* SPDX-License-Identifier: MIT */
/*
 * Calls with a region are left by a jump after each instruction from the one on at which it begins to change, when it has got
 * memory for a chunk, or is emptied: what is allocated in it afterwards lies in it, in memory of its own, and what was there
 * before, and is not over, is whole.
 *
 * Also: shortterm/region_chunks.c, shortterm/regions.c.
 */
#define GC_THREADS

#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/threads.h"
#include "tests/lib/trap.h"
#include "tests/unit/shortterm/shortterm.h"

enum { BEFORE = 42, AFTER = 120, BYTES = 96, SECONDS = 2 };     /* the first chunk is full */

static int mode;
static volatile long steps;             /* after so many a call is left; 0: none is */

void *__real_sgc_allocate_or_null(size_t bytes, uint32_t kind);
void *__wrap_sgc_allocate_or_null(size_t bytes, uint32_t kind);
void *__wrap_sgc_allocate_or_null(size_t bytes, uint32_t kind)
{
    void *object = __real_sgc_allocate_or_null(bytes, kind);

    if (steps > 0)
        trap_on();
    return object;
}

void __real_sgc_region_free_chunks(struct SGC_region *r, bool all);
void __wrap_sgc_region_free_chunks(struct SGC_region *r, bool all);
void __wrap_sgc_region_free_chunks(struct SGC_region *r, bool all)
{
    if (steps > 0)
        trap_on();
    __real_sgc_region_free_chunks(r, all);
}

void __real_sgc_region_leave_chunks(struct SGC_region *r);
void __wrap_sgc_region_leave_chunks(struct SGC_region *r);
void __wrap_sgc_region_leave_chunks(struct SGC_region *r)
{
    if (steps > 0)
        trap_on();
    __real_sgc_region_leave_chunks(r);
}

#if defined(__x86_64__)

static SGC_region_t *region;
static sigjmp_buf out;
static void after_step(TEST_UNUSED int signal)
{
    if (--steps == 0)
        siglongjmp(out, 1);
}

/* False: it was left. */
TEST_NOINLINE static bool called(void (*call)(void), long after)
{
    if (sigsetjmp(out, 1) != 0)
        return false;
    steps = after;
    call();
    trap_off();
    steps = 0;
    return true;
}

/* ---- calls ---- */

static void allocate(void)
{
    SGC_region_malloc(region, BYTES);
}

static void allocate_large(void)
{
    SGC_region_malloc(region, 3000);
}

/* ---- what must be true then ---- */

static unsigned char *fill(int number)
{
    unsigned char *object = SGC_region_malloc(region, BYTES);

    memset(object, number, BYTES);
    return object;
}

static bool is_whole(const unsigned char *object, int number)
{
    for (int i = 0; i < BYTES; i++)
        if (object[i] != (unsigned char)number)
            return false;
    return SGC_region_of(object) == region && SGC_region_of(object + BYTES - 1) == region;
}

static void *date_region(void *unused)
{
    SGC_region_refresh(region, 0);
    SGC_tick();
    return unused;
}

/* Of another thread: we find the region so. */
static bool another_date_is_over(void)
{
    pthread_join(thread_start(date_region, NULL), NULL);
    return true;
}

/* With so many objects, and a date that is not over. */
static bool is_right_after(void (*call)(void), bool over, long after, bool *left)
{
    unsigned char *before[BEFORE], *object[AFTER];
    bool right = true;

    region = SGC_region_new();
    for (int i = 0; i < BEFORE; i++)
        before[i] = fill(i);
    if (over)
        right = another_date_is_over();
    *left = !called(call, after);
    for (int i = 0; i < AFTER; i++)
        object[i] = fill(~i);
    for (int i = 0; i < AFTER; i++)
        right = right && is_whole(object[i], ~i);
    for (int i = 0; i < BEFORE && !over; i++)
        right = right && is_whole(before[i], i);
    SGC_tick();
    SGC_tick();
    return right && SGC_region_malloc(region, 16) != NULL;
}

/* Until a call comes to its end, or time is up. */
static bool at_each_step(void (*call)(void), bool over)
{
    time_t end = time(NULL) + SECONDS;
    bool left = true, right = true;
    long after = 1;

    for (; left && right && time(NULL) < end; after++)
        right = is_right_after(call, over, after, &left);
    printf("# %ld steps%s%s\n", after - 1, left ? ", and more" : "", right ? "" : ": wrong after the last");
    fflush(stdout);
    GC_gcollect();
    return right && SGC_check() == 0;
}

static int all_calls(void)
{
    static const struct { void (*call)(void); bool over; } calls[] = {
        { allocate, false }, { allocate, true }, { allocate_large, false }
    };
    struct sigaction action = { .sa_handler = after_step };

    choose(mode, 3, SGC_SHORTTERM_EAGER, -1, -1);
    if (sigaction(SIGTRAP, &action, NULL) != 0)
        return 100;
    GC_disable();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (!at_each_step(calls[i].call, calls[i].over))
            return 1 + (int)i;
    return 0;
}

static void test(void)
{
    unsetenv("SGC_SHORTTERM");
    for (int m = 0; m < 2; m++) {
        mode = m == 0 ? SGC_SHORTTERM_PIN : SGC_SHORTTERM_FREE;
        child_ok(all_calls, "%s: each call with a region is left after each instruction", m == 0 ? "pin" : "free");
    }
}

#else
#define test NULL
#endif

int main(void)
{
    return trap_main(test);
}
