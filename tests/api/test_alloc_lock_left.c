/* SPDX-License-Identifier: MIT */
/*
 * After a jump out of the callback of GC_call_with_alloc_lock: functions that are refused to who has the lock find, when
 * they are the next that the thread calls, that it was left, and do what they are for.  Not with API_PEER: bdwgc hangs.
 */
#include "api.h"

#include <gc/javaxfc.h>

#include <setjmp.h>
#include <stdatomic.h>

static jmp_buf way_out;
static atomic_int jumped, finalized, over;

static void *nothing(void *arg)
{
    return arg;
}

static void *leave(void *unused)
{
    longjmp(way_out, 1);
    return unused;
}

API_NOINLINE static void jump_out(void)
{
    if (setjmp(way_out) == 0)
        GC_call_with_alloc_lock(leave, NULL);
    jumped = 1;
}

/* Another thread, which waits for the lock; it begins before, since creating it may be what opens the lock. */
static void *enter_late(void *arg)
{
    while (!jumped)
        usleep(100);
    return GC_call_with_alloc_lock(nothing, arg);
}

static void others_go_on(void (*prepare)(void), void (*next)(void))
{
    pthread_t thread;
    void *result = NULL;

    GC_INIT();
    if (prepare != NULL)
        prepare();
    GC_pthread_create(&thread, NULL, enter_late, &jumped);
    jump_out();
    usleep(2000);
    next();
    API_CHILD(pthread_join(thread, &result) == 0 && result == &jumped);
}

/* The child ends well, and says that the lock was left, and besides only `also`, if that is not NULL. */
static void check(void (*fn)(void), const char *also, const char *name)
{
    static char errors[4096];
    int status = api_child(fn, errors, sizeof(errors)), lines = 0;
    bool said = strstr(errors, "the allocation lock is released") != NULL && (also == NULL || strstr(errors, also) != NULL);

    for (const char *at = errors; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    if (!tap_ok(status == 0 && said && lines == 1 + (also != NULL), "%s", name))
        tap_diag("status %#x; stderr: %s", status, errors);
}

/* ---- what is called next --------------------------------------------------------------------- */

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
    GC_pthread_create(&idler, NULL, idle, NULL);
}

static void suspend(void)
{
    GC_suspend_thread(idler);
    API_CHILD(GC_is_thread_suspended(idler));
    GC_resume_thread(idler);
}

static void count_finalized(void *object, void *data)
{
    (void)object, (void)data;
    finalized++;
}

static void *make_dead(void *unused)
{
    GC_register_finalizer_no_order(GC_malloc(API_LARGE), count_finalized, NULL, NULL, NULL);
    return unused;
}

static void let_one_die(void)
{
    GC_set_finalize_on_demand(1);
    api_in_thread(make_dead, NULL);
    api_collect();
    API_CHILD(GC_should_invoke_finalizers());
}

static void invoke_finalizers(void) { API_CHILD(GC_invoke_finalizers() == 1 && finalized == 1); }

static void finalize_all(void)
{
    GC_finalize_all();
    API_CHILD(finalized == 1);
}

static void visit(void *object, size_t bytes, void *data)
{
    (void)object, (void)bytes, (void)data;
    API_CHILD(false);
}

static void enumerate(void) { GC_enumerate_reachable_objects_inner(visit, NULL); }
static void collect_a_little(void) { API_CHILD(GC_collect_a_little() == 0); }

static void next_stop_world(void) { others_go_on(NULL, stop_world); }
static void next_suspend(void) { others_go_on(start_idler, suspend); }
static void next_invoke_finalizers(void) { others_go_on(let_one_die, invoke_finalizers); }
static void next_finalize_all(void) { others_go_on(let_one_die, finalize_all); }
static void next_unlock(void) { others_go_on(NULL, GC_alloc_unlock); }
static void next_enumerate(void) { others_go_on(NULL, enumerate); }
static void next_markers(void) { others_go_on(NULL, GC_start_mark_threads); }
static void next_collect_a_little(void) { others_go_on(NULL, collect_a_little); }

int main(void)
{
    check(next_stop_world, NULL, "GC_stop_world_external stops the world");
    check(next_suspend, NULL, "GC_suspend_thread suspends");
    check(next_invoke_finalizers, NULL, "GC_invoke_finalizers runs what waits");
    check(next_finalize_all, NULL, "GC_finalize_all, too");
    check(next_unlock, "GC_alloc_unlock: this thread does not have", "GC_alloc_unlock says that there is nothing to unlock");
    check(next_enumerate, "_inner: this thread does not have", "GC_enumerate_reachable_objects_inner, that it needs the lock");
    check(next_markers, NULL, "GC_start_mark_threads opens the lock");
    check(next_collect_a_little, NULL, "so does GC_collect_a_little");
    return tap_done();
}
