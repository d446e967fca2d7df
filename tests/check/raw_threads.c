/* SPDX-License-Identifier: MIT */
/*
 * A program as sgc-run meets them: built for libgc.so.1, its threads made by pthread_create itself.  tests/check/check_preload
 * runs it with libsgcpreload, which must make them mutators all the same.
 */
#include "tests/api/api.h"
#include "tests/lib/threads.h"

#include <limits.h>
#include <threads.h>

enum { THREADS = 8 };

static pthread_barrier_t ready, proceed;
static GC_hidden_pointer hidden[2 * THREADS];
static int unregistered;

static void *hold(void *index)
{
    char *volatile object;

    __atomic_fetch_add(&unregistered, !GC_thread_is_registered(), __ATOMIC_RELAXED);
    object = GC_malloc(API_LARGE);
    hidden[(intptr_t)index] = GC_HIDE_POINTER(object);
    strcpy(object, "kept");
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&proceed);
    if ((intptr_t)index % 2 == 1)
        pthread_exit(object);
    return object;
}

static void collect_and_overwrite(void)
{
    for (int i = 0; i < 3; i++) {
        api_collect();
        for (int n = 0; n < 200; n++)
            memset(GC_malloc(API_LARGE), 0xff, API_LARGE);
    }
}

/* Before the collector has started, everything is the C library's. */
static void check_before(void)
{
    pthread_t thread;
    void *result = NULL;

    tap_ok(pthread_create(&thread, NULL, api_give_back, &ready) == 0 && pthread_join(thread, &result) == 0 &&
           result == &ready, "a thread before the collector starts");
    tap_ok(pthread_create(&thread, NULL, api_give_back, &ready) == 0 && pthread_detach(thread) == 0, "a detached one");
    tap_ok(!GC_is_init_called(), "none of them starts it");
}

static void check_after(void)
{
    pthread_t thread[THREADS];
    void *result;
    int kept = 0;

    pthread_barrier_init(&ready, NULL, THREADS + 1);
    pthread_barrier_init(&proceed, NULL, THREADS + 1);
    threads_start(thread, THREADS, hold);
    pthread_barrier_wait(&ready);
    tap_ok(unregistered == 0, "threads of pthread_create are registered");
    collect_and_overwrite();
    tap_ok(api_alive(hidden, THREADS) == THREADS, "their stacks are roots");
    pthread_barrier_wait(&proceed);
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    collect_and_overwrite();
    for (int i = 0; i < THREADS; i++)
        kept += pthread_join(thread[i], &result) == 0 && strcmp(result, "kept") == 0;
    tap_ok(kept == THREADS, "results wait for their join, from return and pthread_exit (%d of %d)", kept, THREADS);
    api_collect();
    tap_ok(api_survive(hidden, THREADS) <= 2, "and go after it");
    tap_ok(pthread_join(pthread_self(), NULL) == EDEADLK, "errors are pthread_join's");
}

/* ---- other ways to join --- */

/* In turn by each of them. */
static int join_by(int way, pthread_t thread, void **result)
{
    struct timespec until;
    int error;

    clock_gettime(way == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    if (way == 1)
        return pthread_timedjoin_np(thread, result, &until);
    if (way == 2)
        return pthread_clockjoin_np(thread, result, CLOCK_MONOTONIC, &until);
    while ((error = pthread_tryjoin_np(thread, result)) == EBUSY)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    return error;
}

static void check_joins(void)
{
    pthread_t thread[THREADS];
    void *result;
    int kept = 0;

    threads_start(thread, THREADS, hold);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&proceed);
    for (int i = 0; i < THREADS; i++)
        kept += join_by(i % 3, thread[i], &result) == 0 && strcmp(result, "kept") == 0;
    tap_ok(kept == THREADS, "pthread_tryjoin_np, pthread_timedjoin_np and pthread_clockjoin_np (%d of %d)", kept, THREADS);
    result = NULL;
    api_collect();
    kept = api_survive(hidden, THREADS);
    tap_ok(kept <= 2, "after which results go, too (%d)", kept);
}

/* ---- threads of C11 --- */

static int c11_plain(void *arg)
{
    if (arg != NULL)
        thrd_exit(-5);
    return INT_MIN;
}

static void check_c11_results(const char *when)
{
    thrd_t thread;
    int result = 0;

    tap_ok(thrd_create(&thread, c11_plain, NULL) == thrd_success && thrd_join(thread, &result) == thrd_success &&
           result == INT_MIN, "a thread of C11 %s: its result", when);
    tap_ok(thrd_create(&thread, c11_plain, &thread) == thrd_success && thrd_join(thread, &result) == thrd_success &&
           result == -5, "by thrd_exit, too");
    tap_ok(thrd_create(&thread, c11_plain, NULL) == thrd_success && thrd_detach(thread) == thrd_success, "a detached one");
    tap_ok(thrd_join(thrd_current(), NULL) == thrd_error, "an error");
}

static int c11_hold(void *index)
{
    hold(index);
    return 3;
}

static void check_c11(void)
{
    thrd_t thread[THREADS];
    int ended = 0, result;

    for (intptr_t i = 0; i < THREADS; i++)
        if (thrd_create(&thread[i], c11_hold, (void *)(2 * i)) != thrd_success)
            tap_bail("no thread");
    pthread_barrier_wait(&ready);
    tap_ok(unregistered == 0, "threads of thrd_create are registered");
    collect_and_overwrite();
    tap_ok(api_alive(hidden, 2 * THREADS) == THREADS, "their stacks are roots");
    pthread_barrier_wait(&proceed);
    for (int i = 0; i < THREADS; i++)
        ended += thrd_join(thread[i], &result) == thrd_success && result == 3;
    tap_ok(ended == THREADS, "they end, and are joined");
}

int main(void)
{
    check_before();
    check_c11_results("before the collector starts");
    tap_ok(!GC_is_init_called(), "none of them starts it");
    GC_INIT();
    check_after();
    memset(hidden, 0, sizeof hidden);
    check_joins();
    memset(hidden, 0, sizeof hidden);
    check_c11();
    check_c11_results("afterwards");
    return tap_done();
}
