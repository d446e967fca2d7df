/* SPDX-License-Identifier: MIT */
/*
 * libscm's finalizers: their numbers, when they are called, what their answers mean; and its figures.
 *
 * Also: shortterm/compat/objects.c.
 */
#include <setjmp.h>
#include <stdlib.h>

#include "tests/unit/shortterm/compat/scm.h"

static int called;
static void *last;

static int lets_go(void *object)
{
    called++;
    last = object;
    return *(char *)object != 0x55;
}

static int keeps(void *object)
{
    called++;
    last = object;
    return 1;
}

/* An object without a date, once it has expired. */
static void *expired(int finalizer)
{
    void *object = new_object();

    scm_set_finalizer(object, finalizer);
    scm_refresh(object, 0);
    collect_after(scm_tick);
    return object;
}

static int numbers(void)
{
    int wrong = scm_register_finalizer(NULL) != -1;

    for (int i = 0; i < SCM_FINALIZER_TABLE_SIZE; i++)
        wrong += scm_register_finalizer(i % 2 == 0 ? lets_go : keeps) != i;
    for (int i = 0; i < 100; i++)
        wrong += scm_register_finalizer(lets_go) != -1;
    for (int i = 0; i < SCM_FINALIZER_TABLE_SIZE; i++) {
        void *object = expired(i);

        wrong += called != i + 1 || last != object || is_object(object) != (i % 2 != 0);
    }
    return wrong;
}

/* The object that stays is persistent, has no finalizer, and can be freed or refreshed. */
static int stays(void)
{
    int number = scm_register_finalizer(keeps), wrong;
    void *object = expired(number), *other = expired(number);

    wrong = called != 2 || !is_object(object) || *(char *)object != 0x55;
    GC_gcollect();
    for (int i = 0; i < 20; i++)
        collect_after(scm_tick);
    wrong += called != 2 || !is_object(object) || !is_object(other);
    scm_free(object);
    scm_refresh(other, 0);
    collect_after(scm_tick);
    return wrong + (called != 2 || is_object(object) || is_object(other));
}

static int wrong_numbers(void)
{
    int number = scm_register_finalizer(lets_go), wrong = number != 0;

    wrong += is_object(expired(1000)) || is_object(expired(-2)) || is_object(expired(32)) || is_object(expired(1));
    wrong += is_object(expired(INT32_MIN)) || called != 0;
    scm_set_finalizer(NULL, number);
    scm_set_finalizer(&wrong, number);
    return wrong + (is_object(expired(number)) || called != 1);
}

static int not_called(void)
{
    int number = scm_register_finalizer(lets_go);
    void *freed = new_object(), *taken = new_object(), *waits = new_object();

    scm_set_finalizer(freed, number);
    scm_free(freed);
    scm_set_finalizer(taken, number);
    scm_set_finalizer(taken, -1);
    scm_refresh(taken, 0);
    scm_set_finalizer(waits, number);
    scm_refresh(waits, 1);
    scm_refresh(new_object(), 0);
    collect_after(scm_tick);
    return called != 0 || is_object(freed) || is_object(taken) || !is_object(waits);
}

/* ---- finalizers that use the interface ---- */

static int depth, deepest, chain;

/* Each makes the next object to expire. */
static int busy(void *object)
{
    void *next;

    called++;
    depth++;
    deepest = depth > deepest ? depth : deepest;
    next = scm_malloc(40);
    scm_set_finalizer(next, chain);
    scm_refresh(next, 0);
    collect_after(scm_tick);
    scm_free(object);
    depth--;
    return 0;
}

static int uses_all(void)
{
    chain = scm_register_finalizer(busy);
    for (int i = 0; i < 10; i++)
        expired(chain);
    for (int i = 0; i < 1000; i++)
        scm_tick();
    return called < 100 || deepest != 1;
}

static jmp_buf out;

static int jumps(TEST_UNUSED void *object)
{
    called++;
    longjmp(out, 1);
}

static int left_by_jump(void)
{
    int number = scm_register_finalizer(jumps), other = scm_register_finalizer(lets_go);

    if (setjmp(out) == 0)
        expired(number);
    return called != 1 || is_object(expired(other)) || called != 2;
}

/* ---- figures ---- */

static void *makes_some(TEST_UNUSED void *unused)
{
    for (int i = 0; i < 100; i++)
        scm_free(scm_malloc(64));
    return NULL;
}

static int figures(void)
{
    enum { OBJECTS = 1000 };
    struct scm_mem_info before, after;
    int wrong = 0;

    scm_get_mem_info(&before);
    for (int i = 0; i < OBJECTS; i++)
        scm_refresh(scm_malloc(64), 0);
    scm_get_mem_info(&after);
    wrong += after.num_alloc - before.num_alloc != OBJECTS || after.num_freed != before.num_freed;
    wrong += after.allocated - before.allocated < OBJECTS * 64 || after.overhead == 0;
    collect_after(scm_tick);
    wrong += thread_result(makes_some, NULL) != NULL || thread_result(makes_some, NULL) != NULL;
    scm_get_mem_info(&after);
    wrong += after.num_alloc - before.num_alloc != OBJECTS + 200 || after.num_freed - before.num_freed != OBJECTS + 200;
    return wrong + (after.freed - before.freed < (OBJECTS + 200) * 64 || after.freed > after.allocated);
}

int main(void)
{
    tap_plan(7);
    child_ok(numbers, "32 finalizers have numbers, and are called with objects that have expired");
    child_ok(stays, "an object that stays is persistent");
    child_ok(wrong_numbers, "numbers that are nobody's change nothing");
    child_ok(not_called, "no finalizer is called for objects that are freed, or have a date left");
    child_ok(uses_all, "a finalizer may use everything, and is not called within another");
    child_ok(left_by_jump, "a finalizer may be left by a jump");
    child_ok(figures, "figures of objects and bytes");
    return tap_done();
}
