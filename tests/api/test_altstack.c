/* SPDX-License-Identifier: MIT */
/*
 * Handlers on alternate stacks.  One that lies inside the thread's own, above what was interrupted: a finalizer or a disclaim
 * procedure has not been left, wherever the handler stands.  One with SS_AUTODISARM, of which the kernel says nothing while it
 * is in use: what the handler and the code that it interrupted hold is alive.
 */
#include "api.h"

#include <gc/gc_disclaim.h>

#include <limits.h>
#include <stdatomic.h>

enum { OBJECTS = 200, STRAYS = 8, READY = 4711, STACK = 65536 };

enum { AUTODISARM = INT_MIN };          /* SS_AUTODISARM, which old headers do not have */

static atomic_int ran, running, nested, interrupted, collected;

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define HANDLERS_MAY_COLLECT 0
#else
#define HANDLERS_MAY_COLLECT 1
#endif

/* ---- what is interrupted --------------------------------------------------------------------- */

/* The first one is. */
static void run(void)
{
    nested += running;
    running = 1;
    if (ran++ == 0)
        raise(SIGUSR1);
    running = 0;
}

static void finalize(TEST_UNUSED void *object, TEST_UNUSED void *data)
{
    run();
}

static void make_finalizable(void)
{
    for (int i = 0; i < OBJECTS; i++)
        GC_register_finalizer_no_order(GC_malloc(100), finalize, NULL, NULL, NULL);
}

static int kind;

static int disclaim(void *object)
{
    if (*(long *)object == READY)
        run();
    return 0;
}

static void make_disclaimable(void)
{
    for (int i = 0; i < OBJECTS; i++)
        *(long *)GC_generic_malloc(100, kind) = READY;
}

static void begin_finalizers(void)
{
    GC_INIT();
    api_run(make_finalizable);
}

static void begin_disclaim(void)
{
    GC_INIT();
    kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc(kind, disclaim, 0);
    api_run(make_disclaimable);
}

/* ---- the handler's stack --------------------------------------------------------------------- */

static void stand_on(char *memory, int flags, void (*handler)(int))
{
    stack_t stack = { .ss_sp = memory, .ss_size = STACK, .ss_flags = flags };
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

    API_CHILD(sigaltstack(&stack, NULL) == 0);
    sigaction(SIGUSR1, &action, NULL);
}

static void stand_nowhere(void)
{
    stack_t none = { .ss_flags = SS_DISABLE };

    sigaltstack(&none, NULL);
}

/* With AUTODISARM the kernel does not say where the handler stands, the program does. */
TEST_NOINLINE static void collect_interrupted(int flags, void (*handler)(int))
{
    char memory[STACK];

    stand_on(memory, flags, handler);
    if (flags != 0)
        GC_register_altstack(NULL, 0, memory, STACK);
    api_collect();
    stand_nowhere();
}

static void collect_there(TEST_UNUSED int signal)
{
    GC_gcollect();
    API_CHILD(nested == 0 && ran == 1);
}

static void all_ran(void)
{
    api_collect();
    API_CHILD(nested == 0 && ran >= OBJECTS - STRAYS);
}

static void interrupt(void (*begin)(void), int flags)
{
    begin();
    collect_interrupted(flags, collect_there);
    all_ran();
}

static void in_finalizer(void) { interrupt(begin_finalizers, 0); }

/* ---- another thread asks --------------------------------------------------------------------- */

static void wait_there(TEST_UNUSED int signal)
{
    interrupted = 1;
    while (!collected)
        usleep(100);
}

static void *collect_and_wait(void *arg)
{
    collect_interrupted(0, wait_there);
    return arg;
}

static void beside_disclaim(void)
{
    pthread_t thread;

    begin_disclaim();
    API_CHILD(GC_pthread_create(&thread, NULL, collect_and_wait, NULL) == 0);
    while (!interrupted)
        usleep(100);
    api_collect();
    API_CHILD(nested == 0 && ran == 1);
    collected = 1;
    API_CHILD(GC_pthread_join(thread, NULL) == 0);
    all_ran();
}

/* ---- what is alive --------------------------------------------------------------------------- */

enum { HELD = 8 };                      /* by memory: registers may hold one more */

static GC_hidden_pointer below[HELD], here[HELD];
static atomic_int other_collects;

static void *collect_once(void *arg)
{
    while (!interrupted)
        usleep(100);
    api_collect();
    collected = 1;
    return arg;
}

TEST_NOINLINE static void make_held(void *volatile *object, GC_hidden_pointer *hidden)
{
    api_fill(object, hidden, HELD);
    scrub_stack();
}

/* Stands on its stack while there is a collection. */
static void hold_there(TEST_UNUSED int signal)
{
    void *volatile object[HELD];

    make_held(object, here);
    interrupted = 1;
    if (!other_collects)
        api_collect();
    while (other_collects && !collected)
        usleep(100);
    API_CHILD(api_alive(below, HELD) == HELD && api_alive(here, HELD) == HELD && object[0] != NULL);
}

TEST_NOINLINE static void hold_and_be_interrupted(void)
{
    void *volatile object[HELD];

    make_held(object, below);
    raise(SIGUSR1);
    API_CHILD(object[0] != NULL);
}

static void hold(bool by_other, char *memory)
{
    pthread_t thread;

    GC_INIT();
    other_collects = by_other;
    stand_on(memory, AUTODISARM, hold_there);
    if (by_other)
        GC_pthread_create(&thread, NULL, collect_once, NULL);
    hold_and_be_interrupted();
    if (by_other)
        GC_pthread_join(thread, NULL);
    stand_nowhere();
    api_collect();
}

TEST_NOINLINE static void hold_inside(bool by_other)
{
    char memory[STACK];

    GC_register_altstack(NULL, 0, memory, STACK);
    hold(by_other, memory);
}

static void holds(void) { hold(false, api_outside(STACK)); }
static void holds_inside(void) { hold_inside(false); }

/* ---- an alternate stack whose memory is something else by now -------------------------------- */

/* As a program does that sets it up in a function and returns. */
TEST_NOINLINE static void leave_one_behind(stack_t *before)
{
    struct { char memory[STACK], gap[STACK / 4]; } frame;        /* who calls this has room to call others above it */
    stack_t stack = { .ss_sp = frame.memory, .ss_size = STACK };

    API_CHILD(sigaltstack(&stack, before) == 0);
}

TEST_NOINLINE static void *be_stopped(void *arg)
{
    volatile unsigned char now[2 * STACK];

    for (size_t i = 0; i < sizeof now; i++)
        now[i] = (unsigned char)i;
    interrupted = 1;
    while (!collected)
        continue;
    for (size_t i = 0; i < sizeof now; i++)
        API_CHILD(now[i] == (unsigned char)i);
    return arg;
}

/* The frame of the function that set it up lies below be_stopped's, in which it has to lie for this. */
TEST_NOINLINE static void *set_up_and_be_stopped(void *arg)
{
    stack_t before;

    leave_one_behind(&before);
    arg = be_stopped(arg);
    API_CHILD(sigaltstack(&before, NULL) == 0);
    return arg;
}

static void left_behind(void)
{
    pthread_t thread = api_start(set_up_and_be_stopped, NULL);

    while (!interrupted)
        usleep(100);
    for (int i = 0; i < 10; i++)
        api_collect();
    collected = 1;
    API_CHILD(GC_pthread_join(thread, NULL) == 0);
}

int main(void)
{
    if (!HANDLERS_MAY_COLLECT)
        tap_skip_all("ThreadSanitizer reports a handler that starts threads, and stops none whose handler runs");
    api_check_child(in_finalizer, NULL, "a handler that interrupts a finalizer is inside it: no other one runs");
    api_check_child_of(interrupt(begin_disclaim, 0), NULL, "likewise a disclaim procedure");
    api_check_child(beside_disclaim, NULL, "nor does another thread ask meanwhile");
    api_check_child_of(interrupt(begin_finalizers, AUTODISARM),
                       NULL, "one that the kernel does not know of, but the collector was told: in a finalizer");
    api_check_child_of(interrupt(begin_disclaim, AUTODISARM), NULL, "and in a disclaim procedure");
    api_check_child(holds, NULL,
                    "a handler on a stack with SS_AUTODISARM collects: what it holds, and what it interrupted, lives");
    api_check_child_of(hold(true, api_outside(STACK)), NULL, "also when another thread collects");
    api_check_child(holds_inside, NULL, "on such a stack inside the thread's own, of which the collector was told");
    api_check_child_of(hold_inside(true), NULL, "also when another thread collects");
    api_check_started_of(api_run(holds_inside), NULL, "and not only on the first thread");
    api_check_started(left_behind, NULL, "an alternate stack in a frame that is gone: what lies there now is left alone");
    return tap_done();
}
