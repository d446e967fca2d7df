/* SPDX-License-Identifier: MIT */
/*
 * A disclaim procedure that is called on a stack of a coroutine, and gives way to the thread's own: it runs still, so nobody is
 * asked meanwhile, and its object is asked about once.  If the coroutine is never resumed, others are asked in the end.
 */
#include "disclaim.h"

#include <ucontext.h>

enum { OBJECTS = 200, STACK = 1 << 18 };

static volatile int called[OBJECTS], running, nested, yields;
static ucontext_t home, coroutine;

static int gives_way(void *object)
{
    struct thing *t = object;

    if (t->ready != READY)
        return 0;
    nested += running != 0;
    called[t->number]++;
    if (yields) {
        yields = 0;
        running = 1;
        swapcontext(&coroutine, &home);
        running = 0;
    }
    return 0;
}

static void make_things(void)
{
    for (int i = 0; i < OBJECTS; i++)
        make_thing(i, sizeof(struct thing));
}

static void collect(void)
{
    yields = 1;
    GC_gcollect();
}

/* Returns when a procedure has given way. */
TEST_NOINLINE static void begin(void)
{
    start(gives_way, 0);
    api_run(make_things);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = GC_malloc_uncollectable(STACK);
    coroutine.uc_stack.ss_size = STACK;
    coroutine.uc_link = &home;
    makecontext(&coroutine, collect, 0);
    swapcontext(&home, &coroutine);
    API_CHILD(running == 1);
}

static int asked(void)
{
    int sum = 0;

    for (int i = 0; i < OBJECTS; i++) {
        API_CHILD(called[i] <= 1);
        sum += called[i];
    }
    return sum;
}

static void resumed(void)
{
    begin();
    api_collect();
    API_CHILD(nested == 0 && asked() == 1);
    swapcontext(&home, &coroutine);
    API_CHILD(running == 0);
    api_collect();
    api_collect();
    API_CHILD(nested == 0 && asked() >= OBJECTS - STRAYS);
}

static void abandoned(void)
{
    void *stack;

    begin();
    stack = coroutine.uc_stack.ss_sp;
    memset(&coroutine, 0, sizeof coroutine);
    GC_free(stack);
    running = 0;
    for (int i = 0; i < OBJECTS; i++)
        called[i] = 0;
    api_collect();
    api_collect();
    API_CHILD(asked() >= OBJECTS - STRAYS);
}

int main(void)
{
    if (TEST_SANITIZED)
        tap_skip_all("AddressSanitizer warns of each swapcontext, and may be wrong about what comes after");
    api_check_child(resumed, NULL, "a procedure on another stack runs until it returns, and its object is asked about once");
    api_check_child(abandoned, NULL, "and if its coroutine is never resumed, others are asked in the end");
    return tap_done();
}
