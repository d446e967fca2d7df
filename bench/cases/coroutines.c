/* SPDX-License-Identifier: MIT */
/*
 * Collections of an almost empty heap, made on a coroutine that the collector has been told of, beside many stacks of
 * coroutines that wait: each is a mapping of its own with a guard.  With MAPPERS there are threads besides that map and unmap
 * memory all the time and are not registered.
 *
 *     coroutines [STACKS [MAPPERS [COLLECTIONS]]]
 */
#define GC_NO_THREAD_REDIRECTS
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "bench/cases/case.h"
#include "bench/measure.h"

enum { STACK_BYTES = 64 << 10, GUARD_BYTES = 4096, MAPPED_BYTES = 64 << 10, WARM_UP = 5 };

static struct {
    ucontext_t context, caller;
    struct GC_stack_base bottom, own;
    size_t n;
    double *us;
} routine;

static volatile int end;

/* The lowest page is the guard. */
static char *map_stack(void)
{
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    need(stack != MAP_FAILED && mprotect(stack, GUARD_BYTES, PROT_NONE) == 0, "map a stack");
    return stack;
}

static void *map_and_unmap(void *unused)
{
    while (!end) {
        char *memory = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        need(memory != MAP_FAILED, "map memory");
        memory[0] = 1;
        munmap(memory, MAPPED_BYTES);
    }
    return unused;
}

static double collection_us(void)
{
    uint64_t began = now_ns();

    GC_gcollect();
    return (double)(now_ns() - began) / 1e3;
}

static void body(void)
{
    GC_alloc_unlock();
    for (int i = 0; i < WARM_UP; i++)
        GC_gcollect();
    for (size_t i = 0; i < routine.n; i++)
        routine.us[i] = collection_us();
    GC_alloc_lock();
    GC_set_stackbottom(NULL, &routine.own);
}

static void run_on(char *stack)
{
    need(getcontext(&routine.context) == 0, "make a coroutine");
    routine.context.uc_stack.ss_sp = stack;
    routine.context.uc_stack.ss_size = STACK_BYTES;
    routine.context.uc_link = &routine.caller;
    makecontext(&routine.context, body, 0);
    GC_get_my_stackbottom(&routine.own);
    routine.bottom.mem_base = stack + STACK_BYTES;
    GC_alloc_lock();
    GC_set_stackbottom(NULL, &routine.bottom);
    swapcontext(&routine.caller, &routine.context);
    GC_alloc_unlock();
}

int main(int argc, char **argv)
{
    long stacks = argument(argc, argv, 1, 20000, 1, 30000);
    long mappers = argument(argc, argv, 2, 0, 0, 64);
    pthread_t mapper[64];
    char *stack;

    routine.n = (size_t)argument(argc, argv, 3, 200, 1, 1000000);
    routine.us = obtained(malloc(routine.n * sizeof *routine.us));
    case_begin();
    stack = map_stack();
    for (long i = 1; i < stacks; i++)
        map_stack();
    for (long i = 0; i < mappers; i++)
        need(pthread_create(&mapper[i], NULL, map_and_unmap, NULL) == 0, "create a thread");
    run_on(stack);
    end = 1;
    for (long i = 0; i < mappers; i++)
        pthread_join(mapper[i], NULL);
    figures("collection_us", routine.us, routine.n, "us");
    case_end();
    free(routine.us);
    return 0;
}
