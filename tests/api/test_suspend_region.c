/* SPDX-License-Identifier: MIT */
/*
 * Suspending threads, and asking about them, from within GC_do_blocking and on threads that are not registered: the region
 * stays what it is, while others collect and take the same lock.
 */
#include "api.h"

#include <gc/javaxfc.h>

#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>

#include "../lib/sanitized.h"

enum { COLLECTORS = 2, ASKERS = 2, ROUNDS = 300, PATIENCE_MS = 10000 };

static atomic_int over, handled;
static pthread_t victim;

static void rest(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
}

/* ---- the others ------------------------------------------------------------------------------ */

static void *idle(void *arg)
{
    while (!atomic_load(&over))
        rest();
    return arg;
}

static void *collect(void *arg)
{
    while (!atomic_load(&over))
        GC_gcollect();
    return arg;
}

/* Holds the lock for most of the time. */
static void *ask(void *arg)
{
    while (!atomic_load(&over))
        if (GC_is_thread_suspended(pthread_self()))
            return NULL;
    return arg;
}

static int others_count;
static pthread_t others[COLLECTORS + ASKERS];

static void start_others(void)
{
    atomic_store(&over, 0);
    victim = api_start(idle, &over);
    for (others_count = 0; others_count < COLLECTORS + ASKERS; others_count++)
        others[others_count] = api_start(others_count < COLLECTORS ? collect : ask, &over);
}

static int finish_others(void)
{
    int good = 0;
    void *result;

    atomic_store(&over, 1);
    for (int i = 0; i < others_count; i++)
        good += GC_pthread_join(others[i], &result) == 0 && result == &over;
    GC_pthread_join(victim, &result);
    return good;
}

/* ---- in a region ----------------------------------------------------------------------------- */

static GC_hidden_pointer held;

/* A thread in a region is not asked to stop: so it may block all signals, and collections go on. */
static void stay_inside(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    api_stay();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *suspend_many(void *good)
{
    for (int i = 0; i < ROUNDS; i++) {
        GC_suspend_thread(victim);
        *(int *)good += GC_is_thread_suspended(victim) != 0;
        GC_resume_thread(victim);
        *(int *)good += GC_is_thread_suspended(victim) == 0;
    }
    stay_inside();
    return good;
}

static void *ask_many(void *good)
{
    for (int i = 0; i < 100 * ROUNDS; i++) {
        GC_resume_thread(victim);
        *(int *)good += GC_is_thread_suspended(victim) == 0;
    }
    stay_inside();
    return good;
}

/* What the frames above the region hold lives on. */
static void *hold(void *(*fn)(void *))
{
    static int good;
    char *volatile object = GC_malloc(API_LARGE);

    good = 0;
    held = GC_HIDE_POINTER(object);
    strcpy(object, "held");
    GC_do_blocking(fn, &good);
    return strcmp(object, "held") == 0 ? &good : NULL;
}

static void *hold_suspending(void *unused) { (void)unused; return hold(suspend_many); }
static void *hold_asking(void *unused) { (void)unused; return hold(ask_many); }

static void check_region(void *(*fn)(void *), int expected, const char *what)
{
    pthread_t thread;
    void *result = NULL;
    GC_word before;

    start_others();
    thread = api_start(fn, &over);
    api_wait(&api_there);
    tap_ok(finish_others() == COLLECTORS + ASKERS, "in a region, %s: the others come to an end", what);
    before = GC_get_gc_no();
    api_collect();
    tap_ok(GC_get_gc_no() == before + 2 && api_alive(&held, 1) == 1, "the region is one still, and what is above it lives");
    sem_post(&api_may_go);
    tap_ok(GC_pthread_join(thread, &result) == 0 && result != NULL && *(int *)result == expected, "and is left as ever");
}

/* ---- itself ---------------------------------------------------------------------------------- */

static void *suspend_self(void *arg)
{
    GC_suspend_thread(pthread_self());
    atomic_store((atomic_int *)arg, 1);
    stay_inside();
    return arg;
}

static void *suspend_self_in_region(void *arg)
{
    return GC_do_blocking(suspend_self, arg);
}

static void check_self(void)
{
    static atomic_int returned;
    long began = api_milliseconds();
    GC_word before;
    pthread_t thread = api_start(suspend_self_in_region, &returned);

    while (!GC_is_thread_suspended(thread) && api_milliseconds() - began < PATIENCE_MS)
        rest();
    api_collect();
    nanosleep(&(struct timespec){ .tv_nsec = 20 * 1000000 }, NULL);
    tap_ok(GC_is_thread_suspended(thread) && !atomic_load(&returned), "a thread in a region suspends itself: it stands");
    GC_resume_thread(thread);
    api_wait(&api_there);
    before = GC_get_gc_no();
    GC_gcollect();
    tap_ok(GC_get_gc_no() == before + 1 && !GC_is_thread_suspended(thread), "and returns into the region when it is resumed");
    sem_post(&api_may_go);
    GC_pthread_join(thread, NULL);
}

/* ---- the allocation lock --------------------------------------------------------------------- */

static void *take_lock(void *taken)
{
    api_stay();
    GC_call_with_alloc_lock(api_give_back, NULL);
    atomic_store((atomic_int *)taken, 1);
    return taken;
}

static void *take_lock_in_region(void *taken)
{
    return GC_do_blocking(take_lock, taken);
}

static void check_lock(void)
{
    static atomic_int taken;
    long began = api_milliseconds();
    pthread_t thread = api_start(take_lock_in_region, &taken);

    api_wait(&api_there);
    GC_suspend_thread(thread);
    sem_post(&api_may_go);
    while (!atomic_load(&taken) && api_milliseconds() - began < PATIENCE_MS)
        rest();
    tap_ok(atomic_load(&taken) && GC_is_thread_suspended(thread), "one that is suspended in a region takes the lock there");
    GC_resume_thread(thread);
    GC_pthread_join(thread, NULL);
}

/* ---- a handler in the middle ----------------------------------------------------------------- */

static void on_signal(TEST_UNUSED int number)
{
    atomic_fetch_add(&handled, 1);
    GC_is_thread_suspended(victim);
}

static void *ask_for_long(void *arg)
{
    while (!atomic_load(&over))
        GC_is_thread_suspended(victim);
    return arg;
}

static void *block_and_ask(void *arg)
{
    return GC_do_blocking(ask_for_long, arg);
}

static void interrupt(pthread_t thread)
{
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_kill(thread, SIGUSR1);
        while (atomic_load(&handled) < i)
            sched_yield();
    }
    atomic_store(&over, 1);
}

static void interrupt_thread(bool in_region)
{
    pthread_t thread;

    signal(SIGUSR1, on_signal);
    GC_INIT();
    victim = pthread_self();
    if (in_region)
        thread = api_start(block_and_ask, &over);
    else
        API_CHILD(pthread_create(&thread, NULL, ask_for_long, NULL) == 0);
    interrupt(thread);
    GC_pthread_join(thread, NULL);
}

/* ---- threads of the collector's own ---------------------------------------------------------- */

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    API_CHILD(tasks != NULL);
    while (readdir(tasks) != NULL)
        count++;
    closedir(tasks);
    return count;
}

/* The suspended thread may be in the middle of making one itself, with the C library's locks: so none is started any more.
 * Under torture small heaps have all markers. */
static void started_before(void)
{
    int before, suspended;
    pthread_t thread;

    setenv("GC_MARKERS", "3", 1);
    setenv("SGC_TORTURE", "1000000", 1);
    GC_INIT();
    thread = api_start(idle, &over);
    before = count_threads();
    GC_suspend_thread(thread);
    suspended = count_threads();
    API_CHILD(suspended == before + 3);
    api_collect();
    API_CHILD(count_threads() == suspended);
    GC_resume_thread(thread);
}

int main(void)
{
    if (!TEST_SANITIZED) {
        api_check_child(started_before, NULL, "threads of the collector's own are started before one is suspended");
        api_check_child_of(interrupt_thread(true), NULL, "a handler that asks, too, in a region");
        api_check_child_of(interrupt_thread(false), NULL, "and on a thread that is not registered");
    }
    GC_INIT();
    check_region(hold_asking, 100 * ROUNDS, "resuming and asking");
    check_region(hold_suspending, 2 * ROUNDS, "suspending");
    return tap_all(check_self, check_lock);
}
