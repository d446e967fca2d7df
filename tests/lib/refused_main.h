/* SPDX-License-Identifier: MIT */
/*
 * The first thread of the work in tests/lib/refused_threads.h, and its moments.
 */
#ifndef TESTS_LIB_REFUSED_MAIN_H
#define TESTS_LIB_REFUSED_MAIN_H

#include "tests/lib/refused_threads.h"

enum { DEEP_FRAMES = 24, FRAME_BYTES = 4096 };

static const char in_first_frame[] = "a frame of the first thread";
static const char in_first_variable[] = "a thread-local variable of the first thread";
static const char in_first_module[] = "a thread-local variable of a module, in the first thread";
static const char in_specific[] = "thread-specific data of the first thread";
static const char in_static[] = "static data";

static struct link *static_chain;
static pthread_key_t specific_chain;

static void at_moment(int moment, int refused_from)
{
    if (moment == refused_from)
        atomic_store(&report->armed, 1);
}

static void check_first(void)
{
    check_chain(thread_local_chain, in_first_variable);
    check_chain(*module_chain(), in_first_module);
    check_chain(pthread_getspecific(specific_chain), in_specific);
    check_chain(static_chain, in_static);
}

/* What the child has found wrong is in the report; what it says would be what its parent has said. */
static void run_fork(void)
{
    int status = -1;
    pid_t child = fork();

    if (child < 0) {
        atomic_fetch_add(&report->no_fork, 1);
        return;
    }
    if (child == 0) {
        GC_set_warn_proc(GC_ignore_warn_proc);
        collect_and_churn();
        check_first();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        is_wrong("the child of fork");
}

static void make_rounds(void)
{
    for (int round = 1; round <= ROUNDS; round++) {
        collect_and_churn();
        check_first();
        give_turns(round);
        check_first();
        run_late_thread();
        run_own_thread();
    }
    run_fork();
    join_threads();
}

API_NOINLINE static void go_deeper(int depth, int refused_from)
{
    volatile char room[FRAME_BYTES];
    struct link *volatile held = make_chain(in_first_frame);

    room[0] = (char)depth;
    scrub_stack();
    if (depth < DEEP_FRAMES) {
        go_deeper(depth + 1, refused_from);
    } else {
        at_moment(REFUSED_COLLECT, refused_from);
        make_rounds();
    }
    check_chain(held, in_first_frame);
    if (room[0] != (char)depth)
        is_wrong("a frame");
}

/* Prepared before anything is refused: what is a matter of the program's alone. */
static void prepare_work(void)
{
    struct sigaction on_alternate = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

    sigaction(SIGUSR2, &on_alternate, NULL);
    if (pthread_key_create(&specific_chain, NULL) != 0)
        _exit(4);
    GC_set_oom_fn(on_no_memory);
}

/* What a collection loses shows: a chain that nobody can see, held where everybody's are. */
static GC_hidden_pointer hidden_chain;

static void run_planted_work(int refused_from)
{
    prepare_work();
    GC_INIT();
    hidden_chain = GC_HIDE_POINTER(make_chain(in_static));
    for (int i = 0; i < 2; i++)
        collect_and_churn();
    check_chain(GC_REVEAL_POINTER(hidden_chain), in_static);
    (void)refused_from;
}

static void run_work(int refused_from)
{
    prepare_work();
    at_moment(REFUSED_START, refused_from);
    GC_INIT();
    GC_start_mark_threads();
    at_moment(REFUSED_REGISTER, refused_from);
    for (int kind = 0; kind < THREADS; kind++)
        start_thread(kind);
    thread_local_chain = make_chain(in_first_variable);
    *module_chain() = make_chain(in_first_module);
    pthread_setspecific(specific_chain, make_chain(in_specific));
    static_chain = make_chain(in_static);
    scrub_stack();
    go_deeper(0, refused_from);
    check_first();
}

#endif
