/* SPDX-License-Identifier: MIT */
/*
 * Stacks that are not simply the thread's own: coroutines that tell the collector where their stack is, coroutines
 * that do not (the stack pointer hook), and signal handlers on an alternate stack.
 */
#include "api.h"

#include <ucontext.h>

enum { STACK = 256 * 1024, HELD = 20 };

static GC_hidden_pointer hidden[2 * HELD];

/* ---- a coroutine that says where its stack is ------------------------------------------------ */

struct coroutine {
    ucontext_t context, caller;
    char *stack;
    struct GC_stack_base base, caller_base;
    int errors;
    bool over;
};

static struct coroutine routine;

/* The stack base changes and the stack changes, without a collection between the two: under the lock.  It is
 * released on the new stack. */
static void switch_to(struct GC_stack_base *base, ucontext_t *from, ucontext_t *to)
{
    GC_alloc_lock();
    GC_set_stackbottom(NULL, base);
    swapcontext(from, to);
    GC_alloc_unlock();
}

/* Holds objects on the coroutine's stack only, through collections here and by the caller. */
static void coroutine_body(void)
{
    void *volatile object[HELD];
    struct GC_stack_base seen = { NULL };

    GC_alloc_unlock();
    routine.errors += GC_get_my_stackbottom(&seen) == NULL || seen.mem_base != routine.base.mem_base;
    api_fill(object, hidden, HELD);
    for (int round = 0; round < 3; round++) {
        routine.errors += api_survive(hidden, HELD) != HELD;
        switch_to(&routine.caller_base, &routine.context, &routine.caller);
        routine.errors += api_lost(object, HELD);
    }
    routine.over = true;
    GC_alloc_lock();
    GC_set_stackbottom(NULL, &routine.caller_base);
    setcontext(&routine.caller);
}

static void start_coroutine(void)
{
    routine.stack = api_outside(STACK);
    getcontext(&routine.context);
    routine.context.uc_stack.ss_sp = routine.stack;
    routine.context.uc_stack.ss_size = STACK;
    makecontext(&routine.context, coroutine_body, 0);
    routine.base.mem_base = routine.stack + STACK;
}

/* Objects of the caller's: on its own stack, which the coroutine's collections must be told of. */
static bool run_coroutine(void)
{
    void *volatile object[HELD];
    struct GC_stack_base base;
    char *low = (char *)__builtin_frame_address(0) - 4096;
    int good = 0;

    api_fill(object, hidden + HELD, HELD);
    good += GC_get_my_stackbottom(&base) != NULL;
    routine.caller_base = base;
    while (!routine.over) {
        GC_add_roots(low, base.mem_base);
        switch_to(&routine.base, &routine.caller, &routine.context);
        GC_remove_roots(low, base.mem_base);
        if (routine.over)
            break;
        GC_add_roots(routine.stack, routine.stack + STACK);
        good += api_survive(hidden, 2 * HELD) == 2 * HELD;
        GC_remove_roots(routine.stack, routine.stack + STACK);
    }
    return good == 4;
}

static void check_coroutine(void)
{
    bool good;

    start_coroutine();
    good = run_coroutine();
    tap_ok(good, "caller and coroutine keep what they hold while the other is suspended");
    tap_ok(routine.errors == 0, "the coroutine's stack is scanned while it runs (%d errors)", routine.errors);
    tap_ok(api_survive(hidden, HELD) <= 3, "a coroutine's stack that is over is no root");
}

/* ---- handles of threads ---------------------------------------------------------------------- */

static void *handle;

static void *other_handle(void *arg)
{
    struct GC_stack_base base = { NULL };

    return GC_get_my_stackbottom(&base) == handle || base.mem_base == NULL ? NULL : arg;
}

static void *set_by_handle(void *arg)
{
    GC_set_stackbottom(handle, arg);
    return arg;
}

static void check_handles(void)
{
    struct GC_stack_base base = { NULL }, own = { NULL }, other = { NULL };
    char here;

    handle = GC_get_my_stackbottom(&base);
    tap_ok(handle != NULL && (char *)base.mem_base > &here, "the main thread has a handle and a stack base");
    GC_get_stack_base(&own);
    tap_ok((char *)own.mem_base > &here, "the system knows one too");
    tap_ok(api_in_thread(other_handle, &other) == &other, "another thread has another handle");
    own.mem_base = (char *)base.mem_base - 16;
    GC_call_with_alloc_lock(set_by_handle, &own);
    tap_ok(GC_get_my_stackbottom(&other) == handle && other.mem_base == own.mem_base, "a base can be set by handle");
    GC_call_with_alloc_lock(set_by_handle, &base);
}

/* ---- a handler on an alternate stack --------------------------------------------------------- */

static int handler_errors;

/* Runs on the alternate stack, with objects there only, while another thread collects. */
static void handler(TEST_UNUSED int signal)
{
    void *volatile object[HELD];

    api_fill(object, hidden, HELD);
    api_stay();
    handler_errors += api_lost(object, HELD);
}

/* Its older frames, on the normal stack, hold objects as well; bdwgc 8.2 does not scan them then. */
static void *use_altstack(void *arg)
{
    void *volatile object[HELD];
    struct GC_stack_base base;
    stack_t alternate = { .ss_sp = api_outside(STACK), .ss_size = STACK };
    char *low;

    api_fill(object, hidden + HELD, HELD);
    sigaltstack(&alternate, NULL);
    GC_get_stack_base(&base);
    low = (char *)base.mem_base - STACK;
    if (arg != NULL)
        GC_register_altstack(low, STACK, alternate.ss_sp, STACK);
    raise(SIGUSR1);
    for (int i = 0; api_on_sgc && i < HELD; i++)
        handler_errors += GC_base(object[i]) != object[i];
    return NULL;
}

static void check_altstack(void *registered, const char *name)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    pthread_t thread;

    handler_errors = 0;
    sigaction(SIGUSR1, &action, NULL);
    GC_pthread_create(&thread, NULL, use_altstack, registered);
    api_wait(&api_there);
    tap_ok(api_survive(hidden, HELD) == HELD, "%s is scanned", name);
    tap_ok(!api_on_sgc || api_alive(hidden + HELD, HELD) == HELD, "%s: so is the thread's own stack", name);
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
    tap_ok(handler_errors == 0, "%s: the handler finds its objects (%d errors)", name, handler_errors);
}

#ifndef API_PEER       /* bdwgc 8.2 has no such hook */

/* ---- a coroutine that says nothing: the stack pointer hook ----------------------------------- */

static ucontext_t native, foreign;
static char *foreign_stack;
static pthread_t foreign_thread;
static struct GC_stack_base foreign_base;
static int corrections, corrections_elsewhere;

/* The foreign stack is a root of its own; of the thread's stack everything from the corrected address up is scanned. */
static void correct(void **sp, void *thread)
{
    bool foreign_sp = (char *)*sp >= foreign_stack && (char *)*sp < foreign_stack + STACK;

    if (foreign_sp && thread == (void *)foreign_thread) {
        corrections++;
        *sp = (char *)foreign_base.mem_base - 32 * 1024;
    } else if (foreign_sp) {
        corrections_elsewhere++;
    }
}

static void on_foreign_stack(void)
{
    void *volatile object[HELD];

    api_fill(object, hidden, HELD);
    api_stay();
    handler_errors += api_lost(object, HELD);
}

static void *run_foreign(void *unused)
{
    void *volatile object[HELD];

    api_fill(object, hidden + HELD, HELD);
    foreign_thread = pthread_self();
    GC_get_my_stackbottom(&foreign_base);
    getcontext(&foreign);
    foreign.uc_stack.ss_sp = foreign_stack;
    foreign.uc_stack.ss_size = STACK;
    foreign.uc_link = &native;
    makecontext(&foreign, on_foreign_stack, 0);
    swapcontext(&native, &foreign);
    handler_errors += api_lost(object, HELD);
    return unused;
}

static void check_beyond(void)
{
    pthread_t thread;

    handler_errors = 0;
    foreign_stack = api_outside(STACK);
    GC_add_roots(foreign_stack, foreign_stack + STACK);
    GC_set_sp_corrector(correct);
    tap_ok(GC_get_sp_corrector() == correct, "the stack pointer hook can be read");
    GC_pthread_create(&thread, NULL, run_foreign, NULL);
    api_wait(&api_there);
    api_collect();
    tap_ok(corrections >= 2 && corrections_elsewhere == 0, "it is called with the thread and its stack pointer");
    tap_ok(api_alive(hidden, 2 * HELD) == 2 * HELD, "what it says is scanned");
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
    tap_ok(handler_errors == 0, "nothing was lost (%d errors)", handler_errors);
    GC_set_sp_corrector(NULL);
    GC_remove_roots(foreign_stack, foreign_stack + STACK);
}

#else
static void check_beyond(void) { }
#endif

int main(void)
{
    GC_INIT();
    check_coroutine();
    check_handles();
    check_altstack(&routine, "a registered alternate stack");
    if (api_on_sgc)
        check_altstack(NULL, "one that only the system knows");
    check_beyond();
    return tap_done();
}
