/* SPDX-License-Identifier: MIT */
/*
 * Storm of coroutines: each thread switches between stacks of its own with swapcontext and tells
 * the collector by GC_set_stackbottom, with the allocation lock held over the switch, so that no
 * collection sees a stack pointer and a bottom that do not belong together.
 *
 * Three kinds of stacks: a collectable object; mapped memory registered by GC_add_roots; and plain
 * mapped memory that nobody but the running thread makes known, whose coroutine keeps nothing on it
 * while it is suspended.  While a coroutine runs, the thread's first stack is not scanned, so the
 * scheduler keeps everything in static data.  All of it belongs to its thread.
 */
#include "tests/stress/storm.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/stress/object.h"

enum { HEAP_STACK, ROOT_STACK, PLAIN_STACK, BOTTOM, FINISH, COLLECT };
static const char *const parts[] = { "heap-stack", "root-stack", "plain-stack", "bottom", "finish", "collect", NULL };

#define THREADS_MAX 64
#define COROUTINES 8
#define STACK_BYTES (192 * 1024)

/* ---- what TSan must know of other stacks ---- */

#ifdef STORM_TSAN
#include <sanitizer/tsan_interface.h>
#define fiber_self() __tsan_get_current_fiber()
#define fiber_make() __tsan_create_fiber(0)
#define fiber_end(fiber) __tsan_destroy_fiber(fiber)
#define fiber_switch(fiber) __tsan_switch_to_fiber(fiber, 0)
#else
#define fiber_self() NULL
#define fiber_make() NULL
#define fiber_end(fiber) ((void)(fiber))
#define fiber_switch(fiber) ((void)(fiber))
#endif

/* ---- structures ---- */

/* Collectable; found from the scheduler.  The context holds the registers of a suspended one. */
struct coroutine {
    ucontext_t context;
    void *fiber;
    int kind;
    bool finished;
    char *stack;
    struct rng rng;
    struct message *kept;       /* what a coroutine on a plain stack keeps while suspended */
};

struct scheduler {
    ucontext_t context;
    void *fiber;
    void *handle;
    struct GC_stack_base bottom;
    struct rng rng;
    struct coroutine *running;
    struct coroutine *coroutine[COROUTINES];
};
static struct scheduler scheduler[THREADS_MAX];
static __thread struct scheduler *mine;

/* ---- switching ---- */

static void switch_stack(ucontext_t *from, ucontext_t *to, void *fiber, const struct GC_stack_base *bottom)
{
    GC_alloc_lock();
    GC_set_stackbottom(rng_once_in(&mine->rng, 2) ? NULL : mine->handle, bottom);
    fiber_switch(fiber);
    swapcontext(from, to);
    GC_alloc_unlock();          /* whoever came back here locked it */
}

static void suspend(struct coroutine *coroutine)
{
    switch_stack(&coroutine->context, &mine->context, mine->fiber, &mine->bottom);
}

static void resume(struct coroutine *coroutine)
{
    struct GC_stack_base bottom = { coroutine->stack + STACK_BYTES };
    mine->running = coroutine;
    switch_stack(&mine->context, &coroutine->context, coroutine->fiber, &bottom);
    mine->running = NULL;
}

/* ---- what a coroutine does ---- */

static void check_bottom(const struct coroutine *coroutine)
{
    struct GC_stack_base bottom;
    void *handle = GC_get_my_stackbottom(&bottom);
    STORM_CHECK(handle == mine->handle, "GC_get_my_stackbottom returned handle %p, not %p", handle, mine->handle);
    STORM_CHECK(bottom.mem_base == coroutine->stack + STACK_BYTES, "the bottom of a coroutine is %p, not %p",
                bottom.mem_base, (void *)(coroutine->stack + STACK_BYTES));
    storm_ran(BOTTOM);
}

static void maybe_collect(struct rng *rng)
{
    if (storm_running() && storm_may(COLLECT, rng, 12))
        storm_collect();
}

/* Frames with objects, suspended in the innermost. */
static __attribute__((noinline)) void descend(struct coroutine *coroutine, int depth)
{
    struct ref graph = graph_make(&coroutine->rng, 800);
    storm_scrub_stack();
    maybe_collect(&coroutine->rng);
    if (depth > 0)
        descend(coroutine, depth - 1);
    else
        suspend(coroutine);
    graph_check(&graph);
}

/* Keeps nothing on the stack over the suspension. */
static __attribute__((noinline)) void one_slice(struct coroutine *coroutine)
{
    struct message *message = coroutine->kept;
    if (message)
        message_check(message, "a coroutine's own record");
    message = message_make(&coroutine->rng, PLAIN_STACK);
    storm_scrub_stack();
    maybe_collect(&coroutine->rng);
    sched_yield();
    message_check(message, "a plain coroutine stack");
    coroutine->kept = message;
}

static void coroutine_main(void)
{
    GC_alloc_unlock();          /* as after every switch */
    struct coroutine *coroutine = mine->running;
    int kind = coroutine->kind;
    for (size_t turns = 1 + rng_below(&coroutine->rng, 12); turns > 0 && storm_running(); turns--) {
        storm_step(parts[kind]);
        check_bottom(coroutine);
        if (kind == PLAIN_STACK) {
            one_slice(coroutine);
            storm_scrub_stack();
            suspend(coroutine);
        } else {
            descend(coroutine, (int)rng_below(&coroutine->rng, 10));
        }
        storm_ran(kind);
    }
    coroutine->finished = true;
    suspend(coroutine);
}

/* ---- the scheduler ---- */

static char *make_stack(int kind)
{
    char *stack;
    if (kind == HEAP_STACK) {
        stack = GC_malloc(STACK_BYTES);
        STORM_CHECK(stack, "no memory for a stack");
        return stack;
    }
    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    STORM_CHECK(stack != MAP_FAILED, "mmap: error %d", errno);
    if (kind == ROOT_STACK)
        GC_add_roots(stack, stack + STACK_BYTES);
    return stack;
}

static void drop_stack(const struct coroutine *coroutine)
{
    if (coroutine->kind == HEAP_STACK)
        return;
    if (coroutine->kind == ROOT_STACK)
        GC_remove_roots(coroutine->stack, coroutine->stack + STACK_BYTES);
    munmap(coroutine->stack, STACK_BYTES);
}

static int some_kind(struct rng *rng)
{
    for (;;) {
        int kind = (int)rng_below(rng, 3);
        if (storm_has(kind))
            return kind;
    }
}

static __attribute__((noinline)) void start(size_t i)
{
    struct coroutine *coroutine = GC_malloc(sizeof *coroutine);
    STORM_CHECK(coroutine, "no memory for a coroutine");
    mine->coroutine[i] = coroutine;
    coroutine->kind = some_kind(&mine->rng);
    coroutine->rng = rng_make(rng_next(&mine->rng));
    coroutine->stack = make_stack(coroutine->kind);
    coroutine->fiber = fiber_make();
    getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = coroutine->stack;
    coroutine->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&coroutine->context, coroutine_main, 0);
}

static __attribute__((noinline)) void end(size_t i)
{
    fiber_end(mine->coroutine[i]->fiber);
    drop_stack(mine->coroutine[i]);
    mine->coroutine[i] = NULL;
    storm_ran(FINISH);
}

static void schedule(int index)
{
    mine = &scheduler[index];
    mine->rng = rng_make((uint64_t)index);
    mine->fiber = fiber_self();
    mine->handle = GC_get_my_stackbottom(&mine->bottom);
    STORM_CHECK(mine->handle, "GC_get_my_stackbottom gave no handle");
    while (storm_running()) {
        size_t i = rng_below(&mine->rng, COROUTINES);
        storm_step("scheduling");
        if (!mine->coroutine[i])
            start(i);
        resume(mine->coroutine[i]);
        if (mine->coroutine[i]->finished)
            end(i);
    }
    for (size_t i = 0; i < COROUTINES; i++)
        while (mine->coroutine[i]) {
            resume(mine->coroutine[i]);
            if (mine->coroutine[i]->finished)
                end(i);
        }
}

static void body(void)
{
    storm_on_threads(storm.threads < THREADS_MAX ? storm.threads : THREADS_MAX, schedule);
}

const struct storm_program storm_program = { "storm_coroutines", parts, 0, 0, NULL, body, NULL };
