/* SPDX-License-Identifier: MIT */
/*
 * GC_pthread_tryjoin_np, GC_pthread_timedjoin_np and GC_pthread_clockjoin_np, as a program sees them: who comes too early
 * gets an error and no result, who comes later gets what the thread has returned.  What they leave behind:
 * tests/api/test_created_threads.c.
 */
#include "joins.h"

static sem_t may_end;

/* An object that only the thread's record leads to, until it is joined. */
static void *late(void *arg)
{
    void **object = GC_MALLOC(sizeof *object);

    sem_wait(&may_end);
    *object = arg;
    return object;
}

static void check(const char *name, int (*join)(pthread_t thread, void **result))
{
    void *result = NULL, *arg = &result;
    pthread_t thread = api_start(late, arg);

    join_early = true;
    tap_ok(join(thread, &result) == ETIMEDOUT && result == NULL, "%s: there is no result yet", name);
    join_early = false;
    sem_post(&may_end);
    tap_ok(join(thread, &result) == 0 && result != NULL && *(void **)result == arg, "%s: the thread's result", name);
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
