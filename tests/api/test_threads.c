/* SPDX-License-Identifier: MIT */
/*
 * Threads of gc.h: created by it, registered by themselves, blocked, cancelled; and the allocation lock.
 * Stacks that change under a thread are in test_stacks.c.
 */
#include "api.h"
#include "../lib/capture.h"

#include <stdatomic.h>

#define OBJECTS 100

/* ---- create, join, exit, detach -------------------------------------------------------------- */

static void *return_object(void *arg)
{
    char *object = GC_malloc(API_LARGE);

    strcpy(object, arg);
    return object;
}

static void *exit_with_object(void *arg)
{
    GC_pthread_exit(return_object(arg));
}

static void check_create(void)
{
    pthread_t thread;
    void *result = NULL;
    char *name = GC_strdup("argument");

    tap_ok(GC_pthread_create(&thread, NULL, return_object, name) == 0, "GC_pthread_create");
    tap_ok(GC_pthread_join(thread, &result) == 0 && strcmp(result, "argument") == 0, "GC_pthread_join gets the result");
    GC_pthread_create(&thread, NULL, exit_with_object, name);
    tap_ok(GC_pthread_join(thread, &result) == 0 && strcmp(result, "argument") == 0, "from GC_pthread_exit too");
    GC_pthread_create(&thread, NULL, return_object, name);
    tap_ok(GC_pthread_join(thread, NULL) == 0, "which nobody need want");
    tap_ok(GC_pthread_join(pthread_self(), NULL) == EDEADLK, "errors are those of pthread_join");
}

static void check_result_kept(void)
{
    pthread_t thread[10];
    void *result;
    int good = 0;

    for (int i = 0; i < 10; i++)
        GC_pthread_create(&thread[i], NULL, return_object, (void *)(uintptr_t)"kept");
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    for (int i = 0; i < 3; i++) {
        api_collect();
        memset(GC_malloc(API_LARGE), 0xff, API_LARGE);
    }
    for (int i = 0; i < 10; i++) {
        GC_pthread_join(thread[i], &result);
        good += GC_base(result) == result && strcmp(result, "kept") == 0;
    }
    tap_ok(good == 10, "results wait for their join (%d of 10)", good);
}

static void *detached_body(void *unused)
{
    memset(GC_malloc(API_LARGE), 0xff, API_LARGE);
    sem_post(&api_there);
    return unused;
}

static void check_detach(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    int good = 0;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 20; i++)
        good += GC_pthread_create(&thread, &attr, detached_body, NULL) == 0;
    for (int i = 0; i < 20; i++)
        good += GC_pthread_create(&thread, NULL, detached_body, NULL) == 0 && GC_pthread_detach(thread) == 0;
    for (int i = 0; i < 40; i++)
        api_wait(&api_there);
    api_collect();
    tap_ok(good == 40, "detached threads, from the start and later (%d of 40)", good);
    pthread_attr_destroy(&attr);
}

/* ---- the stack of a thread is a root --------------------------------------------------------- */

static GC_hidden_pointer hidden[OBJECTS];

static void *hold_on_stack(void *unused)
{
    void *volatile object[OBJECTS];

    api_fill(object, hidden, OBJECTS);
    api_stay();
    return object[0] == NULL ? object[1] : unused;
}

static void check_stack_roots(void)
{
    pthread_t thread = api_start(hold_on_stack, NULL);

    api_wait(&api_there);
    tap_ok(api_survive(hidden, OBJECTS) == OBJECTS, "objects on a thread's stack are alive");
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
    api_collect();
    tap_ok(api_alive(hidden, OBJECTS) <= 3, "until it ends (%d)", api_alive(hidden, OBJECTS));
}

/* ---- threads that SGC did not create --------------------------------------------------------- */

static int registration_errors;

#define EXPECT(condition) (registration_errors += (condition) ? 0 : 1)

static void *register_myself(void *unused)
{
    struct GC_stack_base base = { NULL };
    int here;

    EXPECT(!GC_thread_is_registered());
    EXPECT(GC_get_stack_base(&base) == GC_SUCCESS && (char *)base.mem_base > (char *)&here);
    EXPECT(GC_register_my_thread(&base) == GC_SUCCESS);
    EXPECT(GC_thread_is_registered());
    EXPECT(GC_register_my_thread(&base) == GC_DUPLICATE);
    hold_on_stack(NULL);
    EXPECT(GC_unregister_my_thread() == GC_SUCCESS);
    EXPECT(!GC_thread_is_registered());
    return unused;
}

static void *register_with_base(struct GC_stack_base *base, void *arg)
{
    EXPECT(GC_register_my_thread(base) == GC_SUCCESS);
    EXPECT(GC_malloc(100) != NULL);
    EXPECT(GC_unregister_my_thread() == GC_SUCCESS);
    return arg;
}

static void *register_twice(void *unused)
{
    for (int i = 0; i < 5; i++)
        EXPECT(GC_call_with_stack_base(register_with_base, &hidden) == &hidden);
    return unused;
}

static void check_register(void)
{
    pthread_t thread;

    tap_ok(GC_thread_is_registered(), "the main thread is registered");
    GC_allow_register_threads();
    pthread_create(&thread, NULL, register_myself, NULL);
    api_wait(&api_there);
    tap_ok(api_survive(hidden, OBJECTS) == OBJECTS, "a thread that registered itself has its stack scanned");
    sem_post(&api_may_go);
    pthread_join(thread, NULL);
    tap_ok(api_survive(hidden, OBJECTS) <= 3, "until it unregisters");
    api_in_plain_thread(register_twice, NULL);
    tap_ok(registration_errors == 0, "register and unregister answer as they should (%d errors)", registration_errors);
}

/* As std::thread does with libgccpp: what the thread was started with is deleted when its function has returned, and has
 * unregistered the thread. */
static void *free_unregistered(void *object)
{
    EXPECT(GC_call_with_stack_base(register_with_base, object) == object);
    GC_free(object);
    return NULL;
}

static void check_free_unregistered(void)
{
    size_t before = GC_get_non_gc_bytes();
    const char *text;

    capture_begin();
    for (int i = 0; i < 10; i++)
        api_in_plain_thread(free_unregistered, GC_malloc_uncollectable(i % 2 ? 100 : API_LARGE));
    text = capture_end();
    tap_ok(registration_errors == 0 && GC_get_non_gc_bytes() == before, "a thread that is not registered frees");
    tap_ok(text[0] == '\0', "and nothing is said about that (%s)", text);
}

/* ---- blocked threads ------------------------------------------------------------------------- */

static int depth_reached, nest_errors;

static void *nest(void *arg);

static void *nest_blocking(void *arg)
{
    return GC_call_with_gc_active(nest, arg);
}

/* Alternates between blocked and active; at the bottom it collects while an object is held by each frame. */
static void *nest(void *arg)
{
    int depth = (int)(intptr_t)arg;
    char *volatile object = GC_malloc(API_LARGE);

    object[0] = (char)depth;
    depth_reached = depth > depth_reached ? depth : depth_reached;
    if (depth == 20)
        api_collect();
    else if (GC_do_blocking(nest_blocking, (void *)(intptr_t)(depth + 1)) != arg)
        nest_errors++;
    memset(GC_malloc(API_LARGE), 0xff, API_LARGE);
    if (object[0] != (char)depth || GC_base(object) != object)
        nest_errors++;
    return (void *)(intptr_t)(depth - 1);
}

static void check_nesting(void)
{
    tap_ok(nest((void *)1) == (void *)0 && depth_reached == 20 && nest_errors == 0,
           "GC_do_blocking and GC_call_with_gc_active nest, each frame's object lives (%d errors)", nest_errors);
    depth_reached = 0;
    tap_ok(GC_call_with_gc_active(nest, (void *)19) == (void *)18 && depth_reached == 20,
           "GC_call_with_gc_active needs no GC_do_blocking");
}

static atomic_int collecting;

/* Blocks the stop signal too: if a collection tried to stop this thread, it would wait for long. */
static void *block(void *arg)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    api_stay();
    return arg;
}

static void *blocked_thread(void *arg)
{
    char *volatile object = GC_malloc(API_LARGE);

    hidden[0] = GC_HIDE_POINTER(object);
    strcpy(object, "before");
    GC_do_blocking(block, arg);
    return strcmp(object, "before") == 0 ? object : NULL;
}

static void check_blocking(void)
{
    void *result;
    pthread_t thread = api_start(blocked_thread, NULL);

    api_wait(&api_there);
    for (int i = 0; i < 5; i++)
        api_collect();
    tap_ok(api_alive(hidden, 1) == 1, "what a blocked thread's older frames hold is alive");
    sem_post(&api_may_go);
    GC_pthread_join(thread, &result);
    tap_ok(result != NULL && strcmp(result, "before") == 0, "and it goes on where it was");
}

/* ---- cancellation and the signal mask -------------------------------------------------------- */

static void *to_be_cancelled(void *unused)
{
    sem_post(&api_there);
    for (;;) {
        for (int i = 0; i < 100; i++)
            GC_malloc(i);
        pthread_testcancel();
    }
    return unused;
}

static void check_cancel(void)
{
    pthread_t thread;
    void *result;
    int good = 0;

    for (int i = 0; i < 20; i++) {
        GC_pthread_create(&thread, NULL, to_be_cancelled, NULL);
        api_wait(&api_there);
        good += GC_pthread_cancel(thread) == 0 && GC_pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED;
        GC_gcollect();
    }
    tap_ok(good == 20, "threads can be cancelled while they allocate (%d of 20)", good);
}

static void check_mask(void)
{
    sigset_t all, old, now;

    sigfillset(&all);
    GC_pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    tap_ok(!sigismember(&now, GC_get_suspend_signal()), "GC_pthread_sigmask leaves the suspend signal alone");
    tap_ok(sigismember(&now, SIGUSR1) && sigismember(&now, SIGTERM), "and blocks others");
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- the lock, and the world stopped by hand ------------------------------------------------- */

static atomic_ulong turns;

static void *turn(void *unused)
{
    sem_post(&api_there);
    while (!collecting)
        turns++;
    return unused;
}

static void *under_lock(void *arg)
{
    GC_word before = GC_get_gc_no();

    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    return GC_get_gc_no() == before && GC_is_heap_ptr(arg) ? arg : NULL;
}

static void *keep_collecting(void *unused)
{
    sem_post(&api_there);
    while (!collecting)
        GC_gcollect();
    return unused;
}

static void check_lock(void)
{
    void *object = GC_malloc(10);
    pthread_t thread;
    int good = 0;

    collecting = 0;
    GC_pthread_create(&thread, NULL, keep_collecting, NULL);
    api_wait(&api_there);
    for (int i = 0; i < 5; i++)
        good += GC_call_with_alloc_lock(under_lock, object) == object;
    for (int i = 0; i < 5; i++) {
        GC_alloc_lock();
        good += under_lock(object) == object;
        GC_alloc_unlock();
    }
    collecting = 1;
    GC_pthread_join(thread, NULL);
    tap_ok(good == 10, "no collection while the allocation lock is held (%d of 10)", good);
}

static void check_stop_world(void)
{
    unsigned long before, after;
    pthread_t thread;

    collecting = 0;
    GC_pthread_create(&thread, NULL, turn, NULL);
    api_wait(&api_there);
    GC_stop_world_external();
    before = turns;
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    after = turns;
    GC_start_world_external();
    tap_ok(before == after, "GC_stop_world_external stops others");
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    tap_ok(turns > after, "GC_start_world_external lets them go");
    collecting = 1;
    GC_pthread_join(thread, NULL);
}

/* ---- threads made and ended in a blocked region, beside collections -------------------------- */

static atomic_int made_enough;
static _Atomic(GC_hidden_pointer) joined_object;      /* the joined thread's object, which that does not keep */

static void *collect_always(void *arg)
{
    while (!made_enough)
        GC_gcollect();
    return arg;
}

static void *thread_of_blocked(void *arg)
{
    char *object = GC_malloc(API_LARGE);

    strcpy(object, "result");
    GC_malloc(API_LARGE);
    if (arg != NULL)
        return NULL;
    joined_object = GC_HIDE_POINTER(object);
    return object;
}

struct made {
    int good;
    bool active;
};

/* In a blocked region nothing keeps the result once it is joined: it may be another thread's object by now. */
static bool is_result(const char *result, bool active)
{
    return GC_HIDE_POINTER(result) == joined_object && (!active || strcmp(result, "result") == 0);
}

static void *make_and_join(void *raw)
{
    struct made *made = raw;

    for (int i = 0; i < 50; i++) {
        pthread_t joined, detached;
        void *result = NULL;

        if (GC_pthread_create(&joined, NULL, thread_of_blocked, NULL) == 0 &&
            GC_pthread_create(&detached, NULL, thread_of_blocked, made) == 0 && GC_pthread_detach(detached) == 0 &&
            GC_pthread_join(joined, &result) == 0 && is_result(result, made->active))
            made->good++;
    }
    return made;
}

static void *make_active(void *raw)
{
    struct made *made = raw;

    made->active = true;
    return GC_call_with_gc_active(make_and_join, made);
}

static void check_made_blocked(void)
{
    struct made made = { 0, false };
    pthread_t collector = api_start(collect_always, NULL);

    GC_do_blocking(make_and_join, &made);
    tap_ok(made.good == 50, "threads are made, detached and joined in GC_do_blocking (%d of 50)", made.good);
    GC_do_blocking(make_active, &made);
    tap_ok(made.good == 100, "and in GC_call_with_gc_active there (%d of 100)", made.good);
    made_enough = 1;
    GC_pthread_join(collector, NULL);
}

int main(void)
{
    GC_INIT();
    return tap_all(check_create, check_result_kept, check_detach, check_stack_roots, check_register,
                   check_free_unregistered, check_nesting, check_blocking, check_cancel, check_mask, check_lock,
                   check_stop_world, check_made_blocked);
}
