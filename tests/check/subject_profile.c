/* SPDX-License-Identifier: MIT */
/*
 * subject_profile END: a program for allocation profiles.  Of objects of 48 bytes it makes 10000 and keeps 100, of 3200
 * bytes it makes 1000 and frees half, of 100000 it makes 10, 5000 calls deep, on a stack of its own.  Then it collects, prints
 * how many objects it has, and ends as END says (return, exit, fork, signal, kill, again).
 */
#include <gc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "sgc.h"

enum { KEPT = 100, STACK = 4 << 20, DEPTH = 5000 };

static void *kept[KEPT];

/* By names that are looked for in the profile.  Each call returns here. */
__attribute__((noinline)) static void *make_little(void)
{
    void *volatile object = GC_malloc(47);
    return object;
}

__attribute__((noinline)) static void *make_middling(void)
{
    void *volatile object = GC_malloc_atomic(3199);
    return object;
}

__attribute__((noinline)) static void *make_large(int depth)
{
    void *volatile object = depth == 0 ? GC_malloc(99999) : make_large(depth - 1);
    return object;
}

static void make_deep(void)
{
    for (int i = 0; i < 10; i++)
        make_large(DEPTH);
}

static void make_all(void)
{
    for (int i = 0; i < 10000; i++)
        kept[i % KEPT] = make_little();
    for (int i = 0; i < 1000; i++) {
        void *object = make_middling();
        if (i % 2 == 0)
            GC_free(object);
    }
}

/* The collector is told of the stack that a coroutine uses. */
static void make_in_coroutine(void)
{
    static ucontext_t main_context, context;
    struct GC_stack_base thread, own;
    char *stack = GC_malloc_uncollectable(STACK);

    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = &main_context;
    makecontext(&context, make_deep, 0);
    GC_get_my_stackbottom(&thread);
    own.mem_base = stack + STACK;
    GC_set_stackbottom(NULL, &own);
    swapcontext(&main_context, &context);
    GC_set_stackbottom(NULL, &thread);
    GC_free(stack);
}

static void end_by(const char *end)
{
    pid_t child;

    if (strcmp(end, "fork") == 0) {
        child = fork();
        if (child == 0) {
            make_all();
            exit(0);
        }
        waitpid(child, NULL, 0);
    } else if (strcmp(end, "signal") == 0) {
        raise(SIGUSR2);
        make_all();
        _exit(0);
    } else if (strcmp(end, "kill") == 0) {
        kill(getpid(), SIGKILL);
    } else if (strcmp(end, "again") == 0) {
        make_all();
        GC_gcollect();
    } else if (strcmp(end, "exit") == 0) {
        exit(0);
    }
}

int main(int argc, char **argv)
{
    int alive = 0;

    GC_INIT();
    make_all();
    make_in_coroutine();
    GC_gcollect();
    for (int i = 0; i < KEPT; i++)
        alive += kept[i] != NULL;
    printf("%d\n", alive);
    fflush(stdout);
    end_by(argc > 1 ? argv[1] : "return");
    return 0;
}
