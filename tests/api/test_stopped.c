/* SPDX-License-Identifier: MIT */
/*
 * Questions with the world stopped: by this thread's own hand, and in a collection's callback.  Each is answered as in a world
 * that runs, and lets nobody go.
 *
 * Also: gc/collect/external_stop.c.
 */
#include "api.h"

#include <gc/gc_backptr.h>
#include <gc/gc_hooks.h>
#include <gc/javaxfc.h>
#include <sgc.h>

#include <stdatomic.h>

#include "../lib/sanitized.h"

/* ---- somebody who must stand still ----------------------------------------------------------- */

static atomic_ulong turns;
static pthread_t turning;

static void *turn(void *arg)
{
    for (;;) {
        atomic_fetch_add(&turns, 1);
        nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
    }
    return arg;
}

static void start_turning(void)
{
    GC_INIT();
    API_CHILD(GC_pthread_create(&turning, NULL, turn, NULL) == 0);
    while (atomic_load(&turns) == 0)
        continue;
}

static bool stands(void)
{
    unsigned long before = atomic_load(&turns);

    nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    return atomic_load(&turns) == before;
}

static bool goes_on(void)
{
    unsigned long before = atomic_load(&turns);

    for (int i = 0; i < 5000 && atomic_load(&turns) == before; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    return atomic_load(&turns) != before;
}

/* ---- the questions --------------------------------------------------------------------------- */

static void *held;                      /* static data, and a root */
static _Thread_local void *own;
static int invisible;

static void count_invisible(TEST_UNUSED void *p)
{
    invisible++;
}

static void ask_visible(void)
{
    void *on_stack = NULL;
    void *outside = api_outside(4096);

    GC_is_visible_print_proc = count_invisible;
    GC_is_visible(&held);
    GC_is_visible(&on_stack);
    GC_is_visible(&own);
    GC_is_visible(held);
    API_CHILD(invisible == 0);
    GC_is_visible(outside);
    API_CHILD(invisible == 1);
    invisible = 0;
}

static void ask_check(void)
{
    API_CHILD(SGC_check() == 0);
}

static void count_object(TEST_UNUSED void *object, TEST_UNUSED size_t bytes, void *data)
{
    ++*(int *)data;
}

static void *ask_for_all(void *count)
{
    GC_enumerate_reachable_objects_inner(count_object, count);
    return NULL;
}

static void ask_objects(void)
{
    int count = 0;

    GC_call_with_alloc_lock(ask_for_all, &count);
    API_CHILD(count > 0 && GC_generate_random_valid_address() != NULL);
}

static void ask_way(void)
{
    void *base;
    size_t offset;

    API_CHILD(SGC_find_way(held, NULL, NULL) == SGC_HELD_BY_STATIC);
    API_CHILD(GC_get_back_ptr_info(held, &base, &offset) == GC_REFD_FROM_ROOT);
}

static void ask_threads(void)
{
    struct SGC_stats stats;
    struct GC_stack_base base;
    void *self = GC_get_my_stackbottom(&base);

    API_CHILD(!GC_is_thread_suspended(pthread_self()));
    API_CHILD(SGC_get_stats(&stats, sizeof(stats)) == sizeof(stats) && stats.threads == 2);
    GC_set_stackbottom(self, &base);
}

static void (*const questions[])(void) = { ask_visible, ask_check, ask_objects, ask_way, ask_threads };

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

/* ---- by hand --------------------------------------------------------------------------------- */

static void (*question)(void);

static void by_hand(void)
{
    start_turning();
    held = GC_malloc(API_LARGE);
    for (int i = 0; i < 3; i++) {
        GC_stop_world_external();
        question();
        API_CHILD(stands());
        question();
        GC_start_world_external();
        API_CHILD(goes_on());
        question();
        API_CHILD(goes_on());
    }
    GC_gcollect();
}

/* ---- what cannot be done: it is said, and nobody waits for ever ------------------------------- */

static void with_stopped(void (*act)(void))
{
    start_turning();
    held = GC_malloc(API_LARGE);
    GC_stop_world_external();
    act();
    GC_start_world_external();
    API_CHILD(goes_on());
    GC_gcollect();
}

static void create(void)
{
    pthread_t thread;

    API_CHILD(GC_pthread_create(&thread, NULL, api_give_back, NULL) == EAGAIN);
}

static void unregister(void) { API_CHILD(GC_unregister_my_thread() != GC_SUCCESS && GC_thread_is_registered()); }

static void join(void) { API_CHILD(GC_pthread_join(turning, NULL) == EDEADLK); }
static void detach(void) { API_CHILD(GC_pthread_detach(turning) == EAGAIN); }

static void dump(void)
{
    GC_dump();
    GC_dump_finalization();
    API_CHILD(stands());
}

static void end(void)
{
    GC_deinit();
    API_CHILD(stands());
}

static void ended(void) { with_stopped(end); }

static void allocate_stopped(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        start_turning();
        GC_malloc(10);
        GC_stop_world_external();
        GC_malloc(10);
        GC_start_world_external();
        _exit(0);
    }
    API_CHILD(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void refused(void)
{
    api_check_child_of(with_stopped(create), "GC_pthread_create: called by", "a thread is not created");
    api_check_child_of(with_stopped(join), "GC_pthread_join: called by", "nor waited for");
    api_check_child_of(with_stopped(detach), "GC_pthread_detach: called by", "nor detached");
    api_check_child_of(with_stopped(unregister), "GC_unregister_my_thread: called by", "nor is one's own registration ended");
    api_check_child(allocate_stopped, "by a thread that holds the world stopped", "allocation is not taken for a handler's");
}

/* ---- in a collection ------------------------------------------------------------------------- */

static int asked;

static void on_event(GC_EventType event)
{
    if (event != GC_EVENT_POST_STOP_WORLD && event != GC_EVENT_PRE_START_WORLD)
        return;
    asked++;
    question();
}

static void in_collection(void)
{
    start_turning();
    held = GC_malloc(API_LARGE);
    GC_set_on_collection_event(on_event);
    GC_gcollect();
    GC_gcollect();
    API_CHILD(asked == 4 && goes_on());
    API_CHILD(GC_base(held) == held);
}

int main(void)
{
    static const char *const name[QUESTIONS] = { "what is a root", "the checks", "all objects", "who points there", "threads" };

    if (TEST_SANITIZED)
        tap_skip_all("ThreadSanitizer allows no new threads in the child of a fork");
    for (int i = 0; i < QUESTIONS; i++) {
        char text[100];

        question = questions[i];
        snprintf(text, sizeof(text), "with the world stopped by hand: %s", name[i]);
        api_check_child(by_hand, NULL, text);
        snprintf(text, sizeof(text), "in a collection: %s", name[i]);
        api_check_child(in_collection, NULL, text);
    }
    api_check_child_of(with_stopped(dump), "static data", "with the world stopped by hand: dumps");
    api_check_child(ended, NULL, "and the end");
    refused();
    return tap_done();
}
