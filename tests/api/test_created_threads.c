/* SPDX-License-Identifier: MIT */
/*
 * What GC_pthread_create keeps for a thread goes when it is joined, or over and detached: thousands of threads,
 * each with an argument and a result, whichever way they end, leave nothing behind.
 */
#include "joins.h"
#include "../lib/sanitized.h"

#include <sys/syscall.h>

#include "alloc/pages/page.h"
#include "gc/api/created_threads.h"

enum { THREADS = 300, BYTES = 20000 };

/* Uncollectable objects now, of any size: records are the only ones. */
static size_t records(void)
{
    size_t count = 0;

    for (uint32_t page = 1; page < sgc_page_number(sgc_heap.base + sgc_aw_load(&sgc_heap.limit)); page++) {
        const struct sgc_page *d = &sgc_heap.pages[page];

        if (sgc_page_state(d) == SGC_PAGE_SMALL && d->kind == SGC_KIND_UNCOLLECTABLE)
            count += sgc_page_live(page);
    }
    return count;
}

/* Claimed slots do not count: a collection takes them back. */
static size_t settled_records(void)
{
    GC_gcollect();
    return records();
}

static void *return_object(void *arg)
{
    char *object = GC_malloc(BYTES);

    strcpy(object, arg);
    return object;
}

static void *exit_with_object(void *arg)
{
    GC_pthread_exit(return_object(arg));
}

static void *unregister(void *arg)
{
    GC_unregister_my_thread();
    return arg;
}

static void *wait_for_cancel(void *arg)
{
    sem_post(&api_there);
    for (;;)
        pause();
    return arg;
}

static void *post(void *arg)
{
    sem_post(&api_there);
    return arg;
}

static pthread_t begin(void *(*body)(void *), const pthread_attr_t *attr)
{
    pthread_t thread;
    char *arg = GC_malloc_atomic(BYTES);

    strcpy(arg, "text");
    if (GC_pthread_create(&thread, attr, body, arg) != 0)
        tap_bail("no thread: %s", strerror(errno));
    return thread;
}

/* ---- ways to end ---------------------------------------------------------------------------------------- */

static bool cancel_all(void)
{
    bool good = true;
    void *result;

    for (int i = 0; i < THREADS; i++) {
        pthread_t thread = begin(wait_for_cancel, NULL);

        api_wait(&api_there);
        good = GC_pthread_cancel(thread) == 0 && GC_pthread_join(thread, &result) == 0 &&
               result == PTHREAD_CANCELED && good;
    }
    return good;
}

static void detach_all(bool from_the_start)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    if (from_the_start)
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread = begin(post, &attr);

        if (!from_the_start)
            GC_pthread_detach(thread);
    }
    for (int i = 0; i < THREADS; i++)
        api_wait(&api_there);
    pthread_attr_destroy(&attr);
}

/* Detached threads may need a moment. */
static bool none_left(void)
{
    for (int i = 0; i < 500; i++) {
        if (settled_records() == 0)
            return true;
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    tap_diag("%zu records are left", settled_records());
    return false;
}

/* ---- ways to join ---------------------------------------------------------------------------------- */

static int join_unseen(pthread_t thread, void **result)
{
    struct timespec time = join_until(CLOCK_REALTIME);

    return pthread_timedjoin_np(thread, result, &time);
}

static bool join_all(void *(*body)(void *), int (*join)(pthread_t thread, void **result))
{
    bool good = true;
    void *result;

    for (int i = 0; i < THREADS; i++)
        good = join(begin(body, NULL), &result) == 0 && strcmp(result, "text") == 0 && good;
    return good;
}

static void *return_late(void *arg)
{
    api_wait(&api_may_go);
    return return_object(arg);
}

/* Whoever does not get the thread leaves its result to who does. */
static void check_failed_joins(void)
{
    pthread_t thread = begin(return_late, NULL);
    struct timespec now = { 0, 0 };
    void *result = NULL;

    tap_ok(GC_pthread_tryjoin_np(thread, &result) == EBUSY &&
           GC_pthread_timedjoin_np(thread, &result, &now) == ETIMEDOUT &&
           GC_pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &now) == ETIMEDOUT && settled_records() == 1,
           "joins that fail leave the record");
    sem_post(&api_may_go);
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    for (int i = 0; i < 3; i++) {
        GC_gcollect();
        memset(GC_malloc(BYTES), 0xff, BYTES);
    }
    tap_ok(GC_pthread_join(thread, &result) == 0 && strcmp(result, "text") == 0 && none_left(), "and the result");
}

/* Joined by a function that we do not see, a record stays until its pthread_t is used again. */
static void check_unseen_joins(void)
{
    bool good = join_all(return_object, join_unseen);
    size_t left = settled_records();

    tap_ok(good && left < 5, "joined by others, they go with the next thread (%zu are left)", left);
    join_all(return_object, GC_pthread_join);
    tap_ok(none_left(), "with the last, too, when its pthread_t is used again");
}

/* Who has joined a thread comes to settle its record when the next one has its pthread_t already. */
static void check_late_joiner(void)
{
    pthread_t first = begin(return_object, NULL), second;
    uint64_t serial = sgc_start_serial(first);
    void *result;

    pthread_join(first, NULL);
    second = begin(return_late, NULL);
    if (!pthread_equal(first, second))
        tap_skip("the C library did not use a pthread_t again");
    sgc_start_joined(first, serial);
    sgc_start_detached(first, serial);
    tap_ok(settled_records() >= 1, "a joiner that comes late leaves the next thread's record");
    sem_post(&api_may_go);
    tap_ok(GC_pthread_join(second, &result) == 0 && strcmp(result, "text") == 0 && none_left(), "which goes as usual");
}

/* ---- threads that vanish ----------------------------------------------------------------------------------- */

static void *vanish(void *arg)
{
    sem_post(&api_there);
    syscall(SYS_exit, 0);
    return arg;
}

/* What was settled by a collection is freed by the next thread that begins or ends. */
static void check_vanished(void)
{
    if (TEST_SANITIZED) {
        tap_skip("a sanitizer must see how threads end");
        return;
    }
    for (int i = 0; i < THREADS; i++)
        GC_pthread_join(begin(vanish, NULL), NULL);
    tap_ok(none_left(), "threads that the system ends, joined");
    for (int i = 0; i < THREADS; i++) {
        GC_pthread_detach(begin(vanish, NULL));
        api_wait(&api_there);
    }
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    GC_gcollect();
    join_all(return_object, GC_pthread_join);
    tap_ok(none_left(), "and detached");
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    size_t before;

    GC_INIT();
    tap_ok(settled_records() == 0, "no thread, no record");
    thread = begin(wait_for_cancel, NULL);
    tap_ok(settled_records() == 1, "one thread, one record");
    GC_pthread_cancel(thread);
    GC_pthread_join(thread, NULL);
    api_wait(&api_there);
    tap_ok(settled_records() == 0, "which goes when it is joined");
    tap_ok(join_all(return_object, GC_pthread_join) && none_left(), "%d threads that return", THREADS);
    tap_ok(join_all(exit_with_object, GC_pthread_join) && none_left(), "that call GC_pthread_exit");
    tap_ok(join_all(unregister, GC_pthread_join) && none_left(), "that unregister themselves");
    tap_ok(cancel_all() && none_left(), "that are cancelled");
    detach_all(true);
    tap_ok(none_left(), "that are created detached");
    detach_all(false);
    tap_ok(none_left(), "that are detached later");
    before = settled_records();
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)1 << 46);
    tap_ok(GC_pthread_create(&thread, &attr, api_give_back, NULL) != 0, "a thread that cannot be had is refused");
    tap_ok(settled_records() == before, "and leaves nothing behind");
    tap_ok(join_all(return_object, join_at_once) && none_left(), "threads that are joined by GC_pthread_tryjoin_np");
    tap_ok(join_all(return_object, join_by_time) && none_left(), "by GC_pthread_timedjoin_np");
    if (TEST_SANITIZED)
        tap_skip("GC_pthread_clockjoin_np: ThreadSanitizer does not see that the thread is joined");
    else
        tap_ok(join_all(return_object, join_by_clock) && none_left(), "by GC_pthread_clockjoin_np");
    return tap_all(check_failed_joins, check_unseen_joins, check_late_joiner, check_vanished);
}
