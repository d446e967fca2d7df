/* SPDX-License-Identifier: MIT */
/*
 * GC_call_with_alloc_lock: one at a time, beside the lock taken by hand and collections; signal handlers that come while its
 * callback runs; callbacks, and handlers in them, that leave by a jump: then functions that are refused to who has the lock
 * find, when they are the next that the thread calls, that it was left, and do what they are for.  Not with API_PEER: bdwgc
 * hangs in most of it.
 */
#include "alloc_lock.h"
#include "../lib/sanitized.h"

#include <gc/javaxfc.h>

static sigjmp_buf way_out_of_handler;

static void on_signal(void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };

    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
}

/* Allocates up to so many megabytes, until there has been a collection. */
TEST_NOINLINE static bool collected_within(int megabytes)
{
    GC_word before = GC_get_gc_no();

    for (int i = 0; i < megabytes * 1000 && GC_get_gc_no() == before; i++)
        API_CHILD(GC_malloc(1000) != NULL);
    return GC_get_gc_no() != before;
}

enum { LITTLE = 20, ENOUGH = 500 };

/* ---- handlers -------------------------------------------------------------------------------- */

static atomic_int handled, collected;

static void use_the_collector(int signal)
{
    collected += collected_within(LITTLE);
    handled += GC_call_with_alloc_lock(api_give_back, &signal) == &signal;
}

static void *be_interrupted(void *arg)
{
    raise(SIGUSR1);
    return handled == 1 ? arg : NULL;
}

static void handler_allocates(void)
{
    int here;

    on_signal(use_the_collector);
    API_CHILD(GC_call_with_alloc_lock(be_interrupted, &here) == &here);
    API_CHILD(collected == 0 && collected_within(ENOUGH));
}

/* ---- jumps ----------------------------------------------------------------------------------- */

static atomic_int jumped;

static void *enter_late(void *arg)
{
    while (!jumped)
        usleep(100);
    return GC_call_with_alloc_lock(api_give_back, arg);
}

static void leave_from_handler(int signal)
{
    siglongjmp(way_out_of_handler, signal);
}

static void *wait_for_signal(void *unused)
{
    raise(SIGUSR1);
    return unused;
}

static void jump_out_of_handler(void)
{
    on_signal(leave_from_handler);
    if (sigsetjmp(way_out_of_handler, 1) == 0)
        GC_call_with_alloc_lock(wait_for_signal, NULL);
}

/* The handler itself returns. */
static void leave_callback_in_handler(TEST_UNUSED int signal)
{
    jump_out_of_callback();
}

static void jump_inside_handler(void)
{
    on_signal(leave_callback_in_handler);
    raise(SIGUSR1);
}

/* Others wait, from before, since creating a thread may be what opens the lock; what the thread itself does next releases it
 * for all. */
static void others_go_on(void (*jump)(void), void (*next)(void))
{
    pthread_t thread;
    void *result = NULL;
    int mark;

    GC_INIT();
    GC_pthread_create(&thread, NULL, enter_late, &mark);
    jump();
    jumped = 1;
    usleep(2000);
    next();
    API_CHILD(pthread_join(thread, &result) == 0 && result == &mark);
    API_CHILD(collected_within(ENOUGH));
}

static void call_again(void)
{
    API_CHILD(GC_call_with_alloc_lock(api_give_back, &way_out) == &way_out);
}

static void lock_by_hand(void)
{
    GC_alloc_lock();
    GC_alloc_unlock();
}

/* Deeper in the stack than the callback was. */
static void allocate(void)
{
    volatile char room[4096];

    for (size_t i = 0; i < sizeof(room); i++)
        room[i] = 0;
    API_CHILD(collected_within(ENOUGH) && room[0] == 0);
}

static void callback_then_again(void) { others_go_on(jump_out_of_callback, call_again); }
static void callback_then_allocate(void) { others_go_on(jump_out_of_callback, allocate); }
static void inside_handler_then_again(void) { others_go_on(jump_inside_handler, call_again); }
static void handler_then_again(void) { others_go_on(jump_out_of_handler, call_again); }

/* The callback has not been left by what happens below it. */
static void *jump_inside(void *arg)
{
    jump_out_of_handler();
    GC_gcollect();
    return GC_call_with_alloc_lock(api_give_back, arg);
}

static void jump_inside_callback(void)
{
    int here;

    API_CHILD(GC_call_with_alloc_lock(jump_inside, &here) == &here);
    collect();
}

/* ---- wrong calls ----------------------------------------------------------------------------- */

static void *lock_and_leave(void *arg)
{
    GC_alloc_lock();
    return leave(arg);
}

static void jump_out_locked_twice(void)
{
    if (setjmp(way_out) == 0)
        GC_call_with_alloc_lock(lock_and_leave, NULL);
}

static void lock_again(void (*again)(void))
{
    pthread_t thread;
    void *result = NULL;

    GC_INIT();
    jump_out_locked_twice();
    jumped = 1;
    again();
    GC_pthread_create(&thread, NULL, enter_late, &thread);
    API_CHILD(pthread_join(thread, &result) == 0 && result == &thread);
}

/* In the callback there is nothing to unlock. */
static void *unlock_nothing(void *arg)
{
    GC_alloc_unlock();
    return arg;
}

static void unlock_in_call(void) { GC_call_with_alloc_lock(unlock_nothing, NULL); }
static void nested_then_lock(void) { lock_again(lock_by_hand); }

static void *unlock(void *arg)
{
    GC_alloc_unlock();
    API_CHILD(!collected_within(LITTLE));
    return arg;
}

static void unlock_inside(void)
{
    GC_call_with_alloc_lock(unlock, NULL);
    collect();
}

/* ---- many ------------------------------------------------------------------------------------ */

enum { THREADS = 4, SIGNALS = 300 };

static long plain, in_handlers;         /* under the lock */
static atomic_int interrupted;

static void *count(void *counter)
{
    ++*(long *)counter;
    return counter;
}

/* While the callback runs, on its thread, the lock is not taken again. */
static void count_in_handler(TEST_UNUSED int signal)
{
    GC_call_with_alloc_lock(count, &in_handlers);
    interrupted++;
}

/* TSan saves the mask of a thread whose handlers it runs late in one place: when another signal comes just then, all stay
 * blocked. */
static void unblock_all(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

static void *go_round(TEST_UNUSED void *unused)
{
    long own = 0;

    for (int i = 0; interrupted < SIGNALS; i++) {
        GC_call_with_alloc_lock(count, &plain);
        own++;
        if (i % 100 == 0) {
            GC_alloc_lock();
            plain++;
            GC_alloc_unlock();
            own++;
        }
        if (i % 1000 == 0) {
            unblock_all();
            GC_gcollect();
        }
    }
    return (void *)own;
}

/* One thread is sent all signals, each when it has answered the last one. */
static void check_many(void)
{
    pthread_t thread[THREADS];
    long sum;

    on_signal(count_in_handler);
    api_start_all(thread, THREADS, go_round);
    for (int sent = 0; sent < SIGNALS;) {
        if (interrupted == sent && ++sent)
            pthread_kill(thread[0], SIGUSR1);
        usleep(100);
    }
    sum = api_join_all(thread, THREADS);
    tap_ok(plain == sum, "one at a time runs under the lock (%ld of %ld)", plain, sum);
    tap_ok(in_handlers == SIGNALS, "handlers too (%ld of %d)", in_handlers, SIGNALS);
}

/* ---- handlers that fork, or stand on a stack inside the thread's own -------------------------------------------------- */

static volatile int child_was;

static void fork_there(TEST_UNUSED int signal)
{
    pid_t child = fork();

    if (child == 0) {
        GC_gcollect();
        _exit(GC_malloc(100) != NULL ? 7 : 8);
    }
    waitpid(child, (int *)&child_was, 0);
}

static void handler_forks(void)
{
    on_signal(fork_there);
    GC_call_with_alloc_lock(wait_for_signal, NULL);
    API_CHILD(WIFEXITED(child_was) && WEXITSTATUS(child_was) == 7);
    GC_gcollect();
}

static void lock_there(TEST_UNUSED int signal)
{
    GC_call_with_alloc_lock(api_give_back, NULL);
}

TEST_NOINLINE static void handler_inside(void)
{
    char memory[65536];
    stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) }, none = { .ss_flags = SS_DISABLE };
    struct sigaction action = { .sa_handler = lock_there, .sa_flags = SA_ONSTACK };

    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    GC_call_with_alloc_lock(wait_for_signal, NULL);
    sigaltstack(&none, NULL);
}

static void check_left(void)
{
    api_check_started(handler_allocates, NULL, "a handler that interrupts the callback may allocate, and call it again");
    api_check_child(callback_then_again, released, "after a jump out of the callback the next call opens the lock");
    api_check_child_of(others_go_on(jump_out_of_callback, lock_by_hand), released, "or the next GC_alloc_lock");
    api_check_child_of(others_go_on(jump_out_of_callback, collect), released, "or the next collection asked for");
    api_check_child(callback_then_allocate, released, "or the next one for allocation, wherever it is asked for");
    api_check_child(handler_then_again, released, "after a jump out of a handler the next call opens it");
    api_check_child_of(others_go_on(jump_out_of_handler, collect), released, "or the next collection");
    api_check_child(inside_handler_then_again, released, "so does it when the handler has left a callback of its own");
    api_check_started(jump_inside_callback, "it is not made", "a jump below the callback opens nothing");
    if (TEST_SANITIZED)
        tap_skip("a sanitizer's threads do not survive a fork");
    else
        api_check_started(handler_forks, NULL, "a handler may fork in the callback");
    api_check_started(handler_inside, NULL, "a handler's stack above the callback's frame does not look like a jump");
    api_check_child(nested_then_lock, released, "a GC_alloc_lock in a callback that was left does not count for the next one");
    api_check_child_of(lock_again(unlock_in_call), "GC_alloc_unlock: this thread does not", "nor for the next callback");
    api_check_started(unlock_inside, "does not have the allocation lock", "GC_alloc_unlock in the callback changes nothing");
}

/* ---- what is called next after a jump -------------------------------------------------------- */

static atomic_int over;

/* The child ends well, and says that the lock was left, and besides only `also`, if that is not NULL. */
static void check_next(void (*fn)(void), const char *also, const char *name)
{
    static char errors[4096];
    int status = api_child(fn, errors, sizeof(errors)), lines = 0;
    bool said = strstr(errors, released) != NULL && (also == NULL || strstr(errors, also) != NULL);

    for (const char *at = errors; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    if (!tap_ok(status == 0 && said && lines == 1 + (also != NULL), "%s", name))
        tap_diag("status %#x; stderr: %s", status, errors);
}

static void stop_world(void)
{
    GC_stop_world_external();
    GC_start_world_external();
}

static pthread_t idler;

static void *idle(void *arg)
{
    while (!over)
        usleep(1000);
    return arg;
}

static void start_idler(void)
{
    GC_INIT();
    GC_pthread_create(&idler, NULL, idle, NULL);
}

static void suspend(void)
{
    GC_suspend_thread(idler);
    API_CHILD(GC_is_thread_suspended(idler));
    GC_resume_thread(idler);
}

static void make_dead(void)
{
    GC_register_finalizer_no_order(GC_malloc(API_LARGE), api_count, NULL, NULL, NULL);
}

static void let_one_die(void)
{
    GC_INIT();
    GC_set_finalize_on_demand(1);
    api_run(make_dead);
    api_collect();
    API_CHILD(GC_should_invoke_finalizers());
}

static void invoke_finalizers(void) { API_CHILD(GC_invoke_finalizers() == 1 && api_finalized == 1); }

static void finalize_all(void)
{
    GC_finalize_all();
    API_CHILD(api_finalized == 1);
}

static void visit(TEST_UNUSED void *object, TEST_UNUSED size_t bytes, TEST_UNUSED void *data)
{
    API_CHILD(false);
}

static void enumerate(void) { GC_enumerate_reachable_objects_inner(visit, NULL); }
static void collect_a_little(void) { API_CHILD(GC_collect_a_little() == 0); }

static void next_stop_world(void) { others_go_on(jump_out_of_callback, stop_world); }
static void next_suspend(void) { start_idler(), others_go_on(jump_out_of_callback, suspend); }
static void next_invoke_finalizers(void) { let_one_die(), others_go_on(jump_out_of_callback, invoke_finalizers); }
static void next_finalize_all(void) { let_one_die(), others_go_on(jump_out_of_callback, finalize_all); }
static void next_unlock(void) { others_go_on(jump_out_of_callback, GC_alloc_unlock); }
static void next_enumerate(void) { others_go_on(jump_out_of_callback, enumerate); }
static void next_markers(void) { others_go_on(jump_out_of_callback, GC_start_mark_threads); }
static void next_collect_a_little(void) { others_go_on(jump_out_of_callback, collect_a_little); }

static void check_all_next(void)
{
    check_next(next_stop_world, NULL, "GC_stop_world_external stops the world");
    check_next(next_suspend, NULL, "GC_suspend_thread suspends");
    check_next(next_invoke_finalizers, NULL, "GC_invoke_finalizers runs what waits");
    check_next(next_finalize_all, NULL, "GC_finalize_all, too");
    check_next(next_unlock, "GC_alloc_unlock: this thread does not have", "GC_alloc_unlock says that nothing is locked");
    check_next(next_enumerate, "_inner: this thread does not have", "GC_enumerate_reachable_objects_inner, that it must be");
    check_next(next_markers, NULL, "GC_start_mark_threads opens the lock");
    check_next(next_collect_a_little, NULL, "so does GC_collect_a_little");
}

int main(void)
{
    check_left();
    check_all_next();
    GC_INIT();
    check_many();
    return tap_done();
}
