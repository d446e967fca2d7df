/* SPDX-License-Identifier: MIT */
/*
 * GC_pthread_tryjoin_np, GC_pthread_timedjoin_np and GC_pthread_clockjoin_np, as a program sees them: who comes too early
 * gets an error and no result, who comes later gets what the thread has returned.  What they leave behind:
 * tests/api/test_created_threads.c.
 */
#include "api.h"

enum { LONG = 100 };            /* seconds: a test that waits so long has failed */

static sem_t may_end;

/* An object that only the thread's record leads to, until it is joined. */
static void *late(void *arg)
{
    void **object = GC_MALLOC(sizeof *object);

    sem_wait(&may_end);
    *object = arg;
    return object;
}

static struct timespec in_a_while(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    time.tv_sec += LONG;
    return time;
}

static int join_at_once(pthread_t thread, void **result, bool early)
{
    int error;

    while ((error = GC_pthread_tryjoin_np(thread, result)) == EBUSY && !early)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    return error == EBUSY ? ETIMEDOUT : error;
}

static int join_by_time(pthread_t thread, void **result, bool early)
{
    struct timespec time = early ? (struct timespec){ 0, 0 } : in_a_while(CLOCK_REALTIME);

    return GC_pthread_timedjoin_np(thread, result, &time);
}

static int join_by_clock(pthread_t thread, void **result, bool early)
{
    struct timespec time = early ? (struct timespec){ 0, 0 } : in_a_while(CLOCK_MONOTONIC);

    return GC_pthread_clockjoin_np(thread, result, CLOCK_MONOTONIC, &time);
}

static void check(const char *name, int (*join)(pthread_t thread, void **result, bool early))
{
    pthread_t thread;
    void *result = NULL, *arg = &thread;

    if (GC_pthread_create(&thread, NULL, late, arg) != 0)
        tap_bail("no thread can be created");
    tap_ok(join(thread, &result, true) == ETIMEDOUT && result == NULL, "%s: there is no result yet", name);
    sem_post(&may_end);
    tap_ok(join(thread, &result, false) == 0 && result != NULL && *(void **)result == arg, "%s: the thread's result", name);
}

int main(void)
{
    GC_INIT();
    sem_init(&may_end, 0, 0);
    tap_plan(6);
    check("GC_pthread_tryjoin_np", join_at_once);
    check("GC_pthread_timedjoin_np", join_by_time);
    check("GC_pthread_clockjoin_np", join_by_clock);
    return tap_done();
}
