/* SPDX-License-Identifier: MIT */
/* What is to be done with an object that has expired, with dates as roots: it is called when nothing reaches the object. */
#define GC_THREADS

#include <errno.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "gc/gc.h"
#include "sgc_shortterm.h"
#include "tests/lib/child.h"
#include "tests/lib/scrub.h"
#include "tests/lib/tap.h"

enum { OBJECTS = 1000, STRAY = 10 };    /* so many may be seen by old words on the stack */

static int called, called_again, finalized;

static int count(void *object)
{
    called++;
    return *(int *)object;
}

static int count_again(void *object)
{
    (void)object;
    called_again++;
    return 0;
}

static void finalize(void *object, void *data)
{
    (void)object;
    (void)data;
    finalized++;
}

static void collect(void)
{
    scrub_stack();
    for (int i = 0; i < 3; i++)
        GC_gcollect();
}

__attribute__((noinline))
static int make(unsigned extension)
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

__attribute__((noinline))
static int forgets(void)
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

__attribute__((noinline))
static int replaces(void)
{
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        void *object = GC_MALLOC(32), *left = GC_MALLOC(32);

        wrong += SGC_set_expiry_proc(object, count) != 0;
        GC_register_finalizer_no_order(object, finalize, NULL, NULL, NULL);
        GC_register_finalizer_no_order(left, finalize, NULL, NULL, NULL);
        wrong += SGC_set_expiry_proc(left, NULL) != 0;
    }
    return wrong;
}

/* A finalizer takes its place; to take it away leaves a finalizer. */
static int replaced(void)
{
    int wrong = replaces();

    collect();
    return wrong + (called != 0 || finalized < 2 * OBJECTS - STRAY || finalized > 2 * OBJECTS);
}

static int refused(void)
{
    char *object = GC_MALLOC(100), stack[32];
    int wrong = SGC_set_expiry_proc(NULL, count) != EINVAL || SGC_set_expiry_proc(stack, count) != EINVAL;

    wrong += SGC_set_expiry_proc(object + 16, count) != EINVAL || SGC_set_expiry_proc(object + 1, count) != EINVAL;
    GC_free(object);
    return wrong + (SGC_set_expiry_proc(object, count) != ESTALE);
}

/* ---- where dates free ---- */

enum { BATCH = 200, JUMPER = 10 };

static jmp_buf out;

static int jump(void *object)
{
    (void)object;
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
    struct SGC_shortterm_stats s;

    if (make_uncollectable() != 0)
        return 2;
    if (setjmp(out) == 0) {
        SGC_tick();
        return 3;
    }
    if (SGC_tick() != 0 || SGC_tick() != 0)
        return 4;
    SGC_get_shortterm_stats(&s, sizeof s);
    return s.dates != 0 || s.expired != 0 || s.freed != BATCH - 1;
}

/* One gives up the hold of another object, whose function is called within that, and then ticks. */
static void *held, *later;
static bool held_is_gone, later_stays;

static int unhold(void *object)
{
    (void)object;
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

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    tap_plan(6);
    child_ok(called_once, "it is called once, when the object has no date and nothing reaches it");
    child_ok(forgotten, "it is forgotten when the object is freed, and when another takes its place");
    child_ok(replaced, "finalizers and it take each other's place");
    child_ok(refused, "what is no object has none");
    setenv("SGC_SHORTTERM", "free", 1);
    setenv("SGC_SHORTTERM_COLLECT", "eager", 1);
    child_ok(jumped, "left by a jump, it loses no other object");
    child_ok(unholds, "it may give up a hold: that object goes within the call, and no other one");
    return tap_done();
}
