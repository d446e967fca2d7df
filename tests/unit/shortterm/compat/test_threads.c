/* SPDX-License-Identifier: MIT */
/*
 * Threads of programs written for libscm: who takes part in global time, what dates of one thread mean for another, what is
 * left when a thread ends.
 *
 * Also: shortterm/compat/dates.c.
 */
#include <stdlib.h>

#include "tests/unit/shortterm/compat/scm.h"
#include "tests/unit/shortterm/shortterm.h"

enum { THREADS = 4, LARGEST = SCM_MAX_EXPIRATION_EXTENSION };

/* How many global ticks of the calling thread an object needs to expire by a global date of extension 0; 100: it does not. */
static int ticks_needed(void)
{
    void *object = new_object();
    int ticks = 0;

    scm_global_refresh(object, 0);
    while (is_object(object) && ticks < 100) {
        collect_after(scm_global_tick);
        ticks++;
    }
    return ticks;
}

/* ---- who takes part ---- */

static pthread_barrier_t together;

static void meet(void)
{
    pthread_barrier_wait(&together);
}

static void *works_locally(TEST_UNUSED void *unused)
{
    scm_refresh(new_object(), 0);
    scm_tick();
    scm_block_thread();
    scm_resume_thread();
    meet();
    meet();
    return NULL;
}

static void *is_registered(TEST_UNUSED void *unused)
{
    scm_register_thread();
    meet();
    meet();
    scm_unregister_thread();
    meet();
    meet();
    return NULL;
}

static void *waits_blocked(TEST_UNUSED void *unused)
{
    scm_global_tick();
    meet();
    meet();
    scm_block_thread();
    meet();
    meet();
    scm_resume_thread();
    meet();
    meet();
    return NULL;
}

static pthread_t start(void *(*body)(void *))
{
    if (pthread_barrier_init(&together, NULL, 2) != 0)
        abort();
    return thread_start(body, NULL);
}

static int local_only(void)
{
    pthread_t thread = start(works_locally);
    int ticks;

    meet();
    ticks = ticks_needed();
    meet();
    return pthread_join(thread, NULL) != 0 || ticks != 3;
}

static int registered(void)
{
    pthread_t thread = start(is_registered);
    int first, then;

    meet();
    first = ticks_needed();
    meet();
    meet();
    then = ticks_needed();
    meet();
    return pthread_join(thread, NULL) != 0 || first != 100 || then > 5;
}

static int blocked(void)
{
    pthread_t thread = start(waits_blocked);
    int ticks[3];

    for (int i = 0; i < 3; i++) {
        meet();
        ticks[i] = ticks_needed();
        meet();
    }
    return pthread_join(thread, NULL) != 0 || ticks[0] != 100 || ticks[1] > 5 || ticks[2] != 100;
}

/* ---- dates of several threads ---- */

enum { SLOTS = 64, PERIODS = 300, WORDS = 8 };

struct slot {
    uintptr_t word[WORDS];
};

static struct slot *slots[THREADS][SLOTS];
static unsigned extension;

static struct slot *fill(struct slot *s)
{
    for (int i = 0; i < WORDS; i++)
        s->word[i] = (uintptr_t)s + (uintptr_t)i;
    return s;
}

static int bad_words(const struct slot *s)
{
    int bad = 0;

    for (int i = 0; i < WORDS; i++)
        bad += s->word[i] != (uintptr_t)s + (uintptr_t)i;
    return bad;
}

/* In each period a thread makes one object anew, looks at everybody's and refreshes them all.  What is replaced is looked at by
 * others in this period still, and expires.  Between two periods all threads meet, and do not tick meanwhile. */
static void *uses_slots(void *number)
{
    intptr_t own = (intptr_t)number, bad = 0;

    for (int i = 0; i < SLOTS; i++) {
        slots[own][i] = fill(scm_malloc(sizeof(struct slot)));
        scm_global_refresh(slots[own][i], extension);
    }
    for (int period = 0; period < PERIODS; period++) {
        meet();
        for (int t = 0; t < THREADS; t++)
            for (int i = 0; i < SLOTS; i++) {
                bad += bad_words(slots[t][i]);
                scm_global_refresh(slots[t][i], extension);
            }
        meet();
        slots[own][period % SLOTS] = fill(scm_malloc(sizeof(struct slot)));
        scm_global_refresh(slots[own][period % SLOTS], extension);
        scm_global_tick();
    }
    meet();
    return (void *)bad;
}

static int shared_by(unsigned e)
{
    pthread_t thread[THREADS];

    extension = e;
    if (pthread_barrier_init(&together, NULL, THREADS) != 0)
        return 1;
    threads_start(thread, THREADS, uses_slots);
    return threads_sum(thread, THREADS) != 0;
}

/* ---- threads that end ---- */

enum { LEFT = 10000 };
static void *left[LEFT];

static void *leaves_dates(TEST_UNUSED void *unused)
{
    for (int i = 0; i < LEFT; i++)
        scm_refresh(left[i] = scm_malloc(32), (unsigned)(i % (LARGEST + 1)));
    for (int i = 0; i < 4; i++)
        scm_tick();
    return NULL;
}

static void *leaves_global_dates(TEST_UNUSED void *unused)
{
    for (int i = 0; i < LEFT; i++)
        scm_global_refresh(left[i] = scm_malloc(32), (unsigned)(i % (LARGEST + 1)));
    scm_global_tick();
    scm_global_refresh(left[0], 0);
    return NULL;
}

static int count_left(void)
{
    int there = 0;

    for (int i = 0; i < LEFT; i++)
        there += is_object(left[i]);
    return there;
}

static int dates_end(void)
{
    return thread_result(leaves_dates, NULL) != NULL || count_left() != 0;
}

/* They are there as long as any of them was to be, and go when others tick, without a collection; whoever makes more dates of
 * these objects meanwhile. */
static int global_dates_end(void)
{
    enum { TURN = LARGEST + 5 };
    struct SGC_stats before, after;
    int wrong;

    SGC_get_stats(&before, sizeof before);
    scm_register_thread();
    wrong = thread_result(leaves_global_dates, NULL) != NULL;
    scm_global_refresh(left[1], LARGEST);
    scm_refresh(left[2], LARGEST);
    for (int i = 0; i < LARGEST + 3; i++) {
        wrong += count_left() != LEFT;
        collect_after(scm_global_tick);
    }
    for (int i = 0; i < TURN; i++)
        collect_after(scm_global_tick);
    wrong += count_left() != 1 || !is_object(left[2]);
    for (int i = 0; i <= LARGEST; i++)
        collect_after(scm_tick);
    SGC_get_stats(&after, sizeof after);
    return wrong + (count_left() != 0 || after.collections != before.collections);
}

/* Thread after thread, with collections, in which all dates are counted again. */
static int generations(void)
{
    int wrong = 0;

    scm_register_thread();
    for (int i = 0; i < 60; i++) {
        wrong += thread_result(leaves_global_dates, NULL) != NULL;
        for (int j = 0; j < 3; j++)
            scm_global_tick();
        if (i % 7 == 0)
            GC_gcollect();
        scm_collect();
    }
    wrong += GC_get_heap_size() > (size_t)64 << 20;
    for (int i = 0; i < 3 * (LARGEST + 5); i++)
        collect_after(scm_global_tick);
    return wrong + (count_left() != 0 || dates() != 0 || figures().freed < 59 * LEFT);
}

static void *ticks_once(TEST_UNUSED void *unused)
{
    scm_global_tick();
    scm_global_refresh(new_object(), 3);
    return NULL;
}

static int gone(void)
{
    int wrong = 0;

    for (int i = 0; i < 50; i++)
        wrong += thread_result(ticks_once, NULL) != NULL || ticks_needed() > 5;
    return wrong;
}

int main(void)
{
    tap_plan(10);
    child_ok(local_only, "a thread that works by its own clock takes no part in global time");
    child_ok(registered, "a thread that is registered does, until it is no more");
    child_ok(blocked, "a thread that is blocked does not");
    child_ok_of(shared_by(0), "objects that threads share live as long as all refresh them, extension 0");
    child_ok_of(shared_by(3), "objects that threads share live as long as all refresh them, extension 3");
    child_ok_of(shared_by(LARGEST), "objects that threads share live as long as all refresh them, the largest extension");
    child_ok(dates_end, "dates of a thread's own clock end with it, and with them the objects");
    child_ok(global_dates_end, "dates of global time of a thread that has ended are over in their time");
    child_ok(generations, "threads come and go, and so do their objects");
    child_ok(gone, "threads that have ended are not waited for");
    return tap_done();
}
