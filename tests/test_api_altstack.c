/* SPDX-License-Identifier: MIT */
/*
 * A handler on an alternate stack that lies inside the thread's own, above what it has interrupted: a finalizer or a disclaim
 * procedure that was interrupted has not been left, wherever the handler stands.
 */
#include "api.h"

#include <gc/gc_disclaim.h>

#include <stdatomic.h>

enum { OBJECTS = 200, STRAYS = 8, READY = 4711 };

static atomic_int ran, running, nested, interrupted, collected;

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

static void finalize(void *object, void *data)
{
    (void)object, (void)data;
    run();
}

static void *make_finalizable(void *unused)
{
    for (int i = 0; i < OBJECTS; i++)
        GC_register_finalizer_no_order(GC_malloc(100), finalize, NULL, NULL, NULL);
    return unused;
}

static int kind;

static int disclaim(void *object)
{
    if (*(long *)object == READY)
        run();
    return 0;
}

static void *make_disclaimable(void *unused)
{
    for (int i = 0; i < OBJECTS; i++)
        *(long *)GC_generic_malloc(100, kind) = READY;
    return unused;
}

static void begin_finalizers(void)
{
    GC_INIT();
    api_in_thread(make_finalizable, NULL);
}

static void begin_disclaim(void)
{
    GC_INIT();
    kind = (int)GC_new_kind(GC_new_free_list(), 0, 1, 1);
    GC_register_disclaim_proc(kind, disclaim, 0);
    api_in_thread(make_disclaimable, NULL);
}

/* ---- the handler's stack --------------------------------------------------------------------- */

API_NOINLINE static void collect_interrupted(void (*handler)(int))
{
    char memory[65536];
    stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) }, none = { .ss_flags = SS_DISABLE };
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    api_collect();
    sigaltstack(&none, NULL);
}

static void collect_there(int signal)
{
    (void)signal;
    GC_gcollect();
    API_CHILD(nested == 0 && ran == 1);
}

static void all_ran(void)
{
    api_collect();
    API_CHILD(nested == 0 && ran >= OBJECTS - STRAYS);
}

static void in_finalizer(void)
{
    begin_finalizers();
    collect_interrupted(collect_there);
    all_ran();
}

static void in_disclaim(void)
{
    begin_disclaim();
    collect_interrupted(collect_there);
    all_ran();
}

/* ---- another thread asks --------------------------------------------------------------------- */

static void wait_there(int signal)
{
    (void)signal;
    interrupted = 1;
    while (!collected)
        usleep(100);
}

static void *collect_and_wait(void *arg)
{
    collect_interrupted(wait_there);
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

int main(void)
{
    api_check_child(in_finalizer, NULL, "a handler that interrupts a finalizer is inside it: no other one runs");
    api_check_child(in_disclaim, NULL, "likewise a disclaim procedure");
    api_check_child(beside_disclaim, NULL, "nor does another thread ask meanwhile");
    return tap_done();
}
