/* SPDX-License-Identifier: MIT */
/*
 * A program as sgc-run meets them: built for libgc.so.1, its threads made by pthread_create itself.  tests/check_preload
 * runs it with libsgcpreload, which must make them mutators all the same.
 */
#include "api.h"

#include <time.h>

enum { THREADS = 8 };

static pthread_barrier_t ready, proceed;
static GC_hidden_pointer hidden[THREADS];
static int unregistered;

static void *hold(void *index)
{
    char *volatile object = GC_malloc(API_LARGE);

    __atomic_fetch_add(&unregistered, !GC_thread_is_registered(), __ATOMIC_RELAXED);
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
static void *plain(void *arg)
{
    return arg;
}

static void check_before(void)
{
    pthread_t thread;
    void *result = NULL;

    tap_ok(pthread_create(&thread, NULL, plain, &ready) == 0 && pthread_join(thread, &result) == 0 &&
           result == &ready, "a thread before the collector starts");
    tap_ok(pthread_create(&thread, NULL, plain, &ready) == 0 && pthread_detach(thread) == 0, "a detached one");
    tap_ok(!GC_is_init_called(), "none of them starts it");
}

static void check_after(void)
{
    pthread_t thread[THREADS];
    void *result;
    int kept = 0;

    pthread_barrier_init(&ready, NULL, THREADS + 1);
    pthread_barrier_init(&proceed, NULL, THREADS + 1);
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, hold, (void *)i) != 0)
            tap_bail("no thread");
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
    api_collect();
    tap_ok(api_alive(hidden, THREADS) <= 2, "and go after it");
    tap_ok(pthread_join(pthread_self(), NULL) == EDEADLK, "errors are pthread_join's");
}

int main(void)
{
    tap_plan(0);
    check_before();
    GC_INIT();
    check_after();
    return tap_done();
}
