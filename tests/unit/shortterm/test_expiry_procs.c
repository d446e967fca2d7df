/* SPDX-License-Identifier: MIT */
/* What is to be done with an object that has expired, with dates as roots: it is called when nothing reaches the object. */
#define GC_THREADS

#include <setjmp.h>
#include <stdint.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/scrub.h"
#include "tests/unit/shortterm/shortterm.h"

enum { OBJECTS = 1000, STRAY = 10 };    /* so many may be seen by old words on the stack */

static int called, called_again;

static int count(void *object)
{
    called++;
    return *(int *)object;
}

static int count_again(TEST_UNUSED void *object)
{
    called_again++;
    return 0;
}

static void collect(void)
{
    scrub_stack();
    for (int i = 0; i < 3; i++)
        GC_gcollect();
}

TEST_NOINLINE static int make(unsigned extension)
{
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        int *object = GC_MALLOC(32);

        *object = i % 2;
        wrong += SGC_refresh(object, extension) != 0 || SGC_set_expiry_proc(object, count) != 0;
    }
    return wrong;
}

static int called_once(void)
{
    int wrong = make(1);

    wrong += SGC_tick() != 0;
    collect();
    wrong += called != 0 || SGC_tick() != 0;
    collect();
    return wrong + (called < OBJECTS - STRAY || called > OBJECTS);
}

TEST_NOINLINE static int forgets(void)
{
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        void *freed = GC_MALLOC(32), *taken = GC_MALLOC(32), *other = GC_MALLOC(32);

        wrong += SGC_set_expiry_proc(freed, count) != 0 || SGC_set_expiry_proc(taken, count) != 0;
        wrong += SGC_set_expiry_proc(other, count) != 0 || SGC_set_expiry_proc(other, count_again) != 0;
        wrong += SGC_set_expiry_proc(taken, NULL) != 0 || SGC_set_expiry_proc(taken, NULL) != 0;
        GC_free(freed);
    }
    return wrong;
}

static int forgotten(void)
{
    int wrong = forgets();

    collect();
    return wrong + (called != 0 || called_again < OBJECTS - STRAY || called_again > OBJECTS);
}

TEST_NOINLINE static int replaces(void)
{
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        void *object = GC_MALLOC(32), *left = GC_MALLOC(32);

        wrong += SGC_set_expiry_proc(object, count) != 0;
        GC_register_finalizer_no_order(object, count_finalization, NULL, NULL, NULL);
        GC_register_finalizer_no_order(left, count_finalization, NULL, NULL, NULL);
        wrong += SGC_set_expiry_proc(left, NULL) != 0;
    }
    return wrong;
}

static int replaced(void)
{
    int wrong = replaces();

    collect();
    return wrong + (called != 0 || finalizations < 2 * OBJECTS - STRAY || finalizations > 2 * OBJECTS);
}

/* ---- where dates free ---- */

enum { BATCH = 200, JUMPER = 10 };

static jmp_buf out;

static int jump(TEST_UNUSED void *object)
{
    longjmp(out, 1);
}

/* Uncollectable, so that nothing else frees them; the one whose function is left stays. */
static int make_uncollectable(void)
{
    int wrong = 0;

    for (int i = 0; i < BATCH; i++) {
        void *object = GC_MALLOC_UNCOLLECTABLE(32);

        wrong += SGC_refresh(object, 0) != 0 || (i == JUMPER && SGC_set_expiry_proc(object, jump) != 0);
    }
    return wrong;
}

static int jumped(void)
{
    if (make_uncollectable() != 0)
        return 2;
    if (setjmp(out) == 0) {
        SGC_tick();
        return 3;
    }
    if (SGC_tick() != 0 || SGC_tick() != 0)
        return 4;
    return dates() != 0 || figures().expired != 0 || figures().freed != BATCH - 1;
}

/* One gives up the hold of another object, whose function is called within that, and then ticks. */
static void *held, *later;
static bool held_is_gone, later_stays;

static int unhold(TEST_UNUSED void *object)
{
    if (SGC_unhold(held) != 0 || SGC_tick() != 0)
        abort();
    held_is_gone = called == 1 && SGC_dates(held) == -1;
    later_stays = SGC_dates(later) == 1;
    return 0;
}

static int unholds(void)
{
    int *object = GC_MALLOC(32), wrong;

    held = GC_MALLOC(32);
    later = GC_MALLOC(32);
    wrong = SGC_set_expiry_proc(held, count) != 0 || SGC_hold(held) != 0;
    wrong += SGC_set_expiry_proc(object, unhold) != 0 || SGC_refresh(object, 0) != 0 || SGC_refresh(later, 1) != 0;
    wrong += SGC_tick() != 0 || !held_is_gone || !later_stays;
    return wrong + (SGC_dates(object) != -1 || SGC_expire(SIZE_MAX) != 1 || SGC_dates(later) != -1 || called != 1);
}

/* ---- an object that is freed, or moves, though dates keep it ---- */

enum { FREE, FREE_FINALIZER, MOVE, MOVE_TO_NOTHING, FREE_GUARDED, MOVE_GUARDED, WAYS };

static int give_up(void *object, int way)
{
    switch (way) {
    case MOVE: return GC_realloc(object, 4000) == NULL;
    case MOVE_TO_NOTHING: return GC_realloc(object, 0) != NULL;
    case FREE_GUARDED: GC_debug_free(object); return 0;
    case MOVE_GUARDED: return GC_debug_realloc(object, 4000, "here.c", way) == NULL;
    default: GC_free(object); return 0;
    }
}

TEST_NOINLINE static int all_ways(void)
{
    int wrong = 0;

    for (int i = 0; i < WAYS * 20; i++) {
        int way = i % WAYS;
        void *object = way >= FREE_GUARDED ? GC_debug_malloc(32, "here.c", way) : GC_MALLOC(32);

        if (way == FREE_FINALIZER)
            GC_register_finalizer_no_order(object, count_finalization, NULL, NULL, NULL);
        else
            wrong += SGC_set_expiry_proc(object, count) != 0;
        wrong += SGC_refresh(object, 0) != 0 || give_up(object, way) != 0;
    }
    return wrong;
}

static int freed_with_date(void)
{
    int wrong = all_ways();

    wrong += SGC_tick() != 0;
    if (SGC_shortterm_mode() == SGC_SHORTTERM_FREE)
        wrong += figures().freed != WAYS * 20;
    collect();
    return wrong + (SGC_tick() != 0 || called != 0 || finalizations != 0);
}

TEST_NOINLINE static int free_held(void)
{
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        void *object = GC_MALLOC(32);

        wrong += SGC_set_expiry_proc(object, count) != 0 || SGC_hold(object) != 0;
        GC_free(object);
        wrong += SGC_unhold(object) != 0;
    }
    return wrong;
}

static int freed_with_hold(void)
{
    int wrong = free_held();

    collect();
    return wrong + (called != 0);
}

/* ---- a function that lets another object expire, and collects ---- */

enum { BEGINNERS = 40, ENDLESS = 4 * BEGINNERS };

TEST_NOINLINE static int begin_another(SGC_expiry_proc proc)
{
    void *object = GC_MALLOC(32);

    return SGC_set_expiry_proc(object, proc) != 0 || SGC_refresh(object, 0) != 0;
}

static int succeed(TEST_UNUSED void *object)
{
    if (called++ >= ENDLESS)
        return 0;
    if (begin_another(succeed) != 0 || SGC_tick() != 0)
        abort();
    GC_gcollect();
    return 0;
}

/* Each tick takes off what is over when it begins, and no successors. */
static int successors(void)
{
    for (int i = 0; i < BEGINNERS; i++)
        if (begin_another(succeed) != 0)
            return 2;
    if (SGC_shortterm_mode() == SGC_SHORTTERM_VERIFY) {
        SGC_tick();
        GC_gcollect();
    }
    for (int turn = 1; turn <= 3; turn++)
        if (called != (turn - 1) * BEGINNERS || SGC_tick() != 0 || called != turn * BEGINNERS)
            return 2 + turn;
    return 0;
}

static int left_release(void)
{
    SGC_clock_t *clock = SGC_clock_new();
    SGC_region_t *region = SGC_region_new();
    char *inside = SGC_region_malloc(region, 16);
    int wrong = SGC_region_refresh_clock(region, 4, clock);

    *inside = 'x';
    for (unsigned i = 0; i < BATCH; i++) {
        void *object = GC_MALLOC_UNCOLLECTABLE(32);

        wrong += SGC_refresh_clock(object, i % 6, clock) != 0 || (i == JUMPER && SGC_set_expiry_proc(object, jump) != 0);
    }
    if (wrong != 0 || setjmp(out) == 0) {
        SGC_clock_release(clock);
        return 2;
    }
    if (dates() != 0 || *inside != 0)
        return 3;
    SGC_tick();
    return figures().expired != 0 || figures().freed != BATCH - 1;
}

static int left_tick(void)
{
    SGC_region_t *region = SGC_region_new();
    char *inside = SGC_region_malloc(region, 16);
    void *object = GC_MALLOC_UNCOLLECTABLE(32);

    *inside = 'x';
    if (SGC_refresh(object, 0) != 0 || SGC_set_expiry_proc(object, jump) != 0 || SGC_region_refresh(region, 1) != 0)
        return 2;
    if (setjmp(out) == 0) {
        SGC_tick();
        return 3;
    }
    return *inside != 'x' || SGC_tick() != 0 || *inside != 0;
}

/* ---- what may be freed still may when it was kept once ---- */

enum { KEPT = 300 };

static uintptr_t kept[KEPT];            /* inverted */
static int keeping;

static int keep(TEST_UNUSED void *object)
{
    return keeping++ >= 0;
}

static void *object_of(int i)
{
    return (void *)~kept[i];
}

TEST_NOINLINE static int keep_all(void)
{
    int wrong = 0;

    for (int i = 0; i < KEPT; i++) {
        void *object = SGC_malloc_dated(48, 0, SGC_SHORTTERM_FREEABLE);

        kept[i] = ~(uintptr_t)object;
        wrong += SGC_set_expiry_proc(object, keep) != 0;
    }
    return wrong;
}

static void *volatile held_by[KEPT];

/* Kept, without a date for some collections, then with one again.  What is not held goes meanwhile, and who comes to its place
 * has nothing of it. */
static int kept_once(void)
{
    int wrong = keep_all();

    for (int i = 0; i < KEPT; i++)
        held_by[i] = i % 2 == 0 ? object_of(i) : NULL;
    wrong += SGC_tick() != 0 || keeping != KEPT;
    for (int i = 0; i < 3; i++)
        collect();
    for (int i = 0; i < 4 * KEPT; i++)
        wrong += SGC_refresh(GC_MALLOC(48), 0) != 0;
    wrong += SGC_tick() != 0 || figures().freed != 0;
    for (int i = 0; i < KEPT; i += 2)
        wrong += SGC_refresh(object_of(i), 0) != 0;
    return wrong + (SGC_tick() != 0 || figures().freed != KEPT / 2);
}

static int kept_and_freed(void)
{
    int wrong = keep_all();

    wrong += SGC_tick() != 0;
    for (int i = 0; i < KEPT; i++)
        GC_free(object_of(i));
    for (int i = 0; i < 4 * KEPT; i++)
        wrong += SGC_refresh(GC_MALLOC(48), 0) != 0;
    return wrong + (SGC_tick() != 0 || figures().freed != 0 || keeping != KEPT);
}

static int left_thread;

static int leave_thread(void *object)
{
    left_thread += GC_unregister_my_thread() == GC_SUCCESS;
    return count(object);
}

static int stays_registered(void)
{
    GC_INIT();
    for (int i = 0; i < OBJECTS; i++) {
        int *object = GC_MALLOC(32);

        SGC_refresh(object, 0);
        SGC_set_expiry_proc(object, leave_thread);
    }
    SGC_tick();
    SGC_expire(SIZE_MAX);
    collect();
    GC_invoke_finalizers();
    return called >= OBJECTS - STRAY && left_thread == 0 ? 0 : 1;
}

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    tap_plan(18);
    child_ok(called_once, "it is called once, when the object has no date and nothing reaches it");
    child_ok(forgotten, "it is forgotten when the object is freed, and when another takes its place");
    child_ok(replaced, "finalizers and it take each other's place");
    child_ok(stays_registered, "its thread does not unregister within");
    child_ok(freed_with_hold, "it is forgotten when an object is freed that a hold keeps");
    setenv("SGC_SHORTTERM", "free", 1);
    setenv("SGC_SHORTTERM_COLLECT", "eager", 1);
    child_ok(stays_registered, "nor does it where dates free");
    child_ok(jumped, "left by a jump, it loses no other object");
    child_ok(unholds, "it may give up a hold: that object goes within the call, and no other one");
    child_ok(left_release, "left by a jump out of a clock's release, the clock is gone, and its dates are over");
    child_ok(left_tick, "out of a tick, the regions' clock goes on with the objects'");
    child_ok(freed_with_date, "it is forgotten when the object is freed, or moves, though a date keeps the old one");
    child_ok(freed_with_hold, "or a hold does");
    child_ok(successors, "a tick takes off what is over when it begins, and nothing that functions let expire");
    setenv("SGC_SHORTTERM", "verify", 1);
    child_ok(freed_with_date, "likewise where expired objects are looked for");
    child_ok(successors, "and such a tick takes off what is due when it begins");
    setenv("SGC_SHORTTERM", "hybrid", 1);
    child_ok(freed_with_date, "and where only some are freed");
    child_ok(kept_once, "what is kept once is freed the next time, also after collections; others in its place are not");
    child_ok(kept_and_freed, "nor those in the place of what is freed by hand");
    return tap_done();
}
