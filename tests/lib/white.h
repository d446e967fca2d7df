/* SPDX-License-Identifier: MIT */
/*
 * What the white-box tests of gc/ share: registered threads, waiting with a limit, objects whose
 * life is looked at from outside.
 */
#ifndef TESTS_LIB_WHITE_H
#define TESTS_LIB_WHITE_H

#include <string.h>

#include "alloc/object.h"
#include "alloc/pages/pool.h"
#include "alloc/whole_heap.h"
#include "gc/collect/allocate.h"
#include "gc/collect/collect.h"
#include "gc/collect/start.h"
#include "gc/collect/start_state.h"
#include "gc/config/options.h"
#include "gc/threads/world.h"
#include "platform/platform.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/scrub.h"
#include "tests/lib/threads.h"


enum { WHITE_KIND = 1, WHITE_MS = 1000000, WHITE_PATIENCE = 20000 };

/* ---- waiting ---------------------------------------------------------------------------------- */

/* Waits, at most 20 s, until *word is at least `value`.  A test that waits in vain fails. */
TEST_UNUSED static bool white_reached(const sgc_a32_t *word, uint32_t value)
{
    for (int i = 0; i < WHITE_PATIENCE && sgc_a32_load_acq(word) < value; i++)
        sgc_sleep_ns(WHITE_MS);
    return sgc_a32_load_acq(word) >= value;
}

struct white_region {
    void (*fn)(void *arg);
    void *arg;
};

static void white_blocked_from(void *region, uintptr_t sp)
{
    const struct white_region *r = region;

    sgc_world_enter_blocked(sgc_mutator_self(), sp);
    r->fn(r->arg);
    sgc_world_leave_blocked(sgc_mutator_self());
}

/* Runs fn(arg) as a blocked region, as GC_do_blocking does. */
TEST_UNUSED static void white_blocked(void (*fn)(void *arg), void *arg)
{
    struct white_region region = { fn, arg };

    sgc_with_registers(white_blocked_from, &region);
}

static void white_join_thread(void *thread)
{
    pthread_join(*(pthread_t *)thread, NULL);
}

/* Joins as a blocked region, so that the thread may collect. */
TEST_UNUSED static void white_join(pthread_t thread)
{
    if (sgc_self != NULL)
        white_blocked(white_join_thread, &thread);
    else
        pthread_join(thread, NULL);
}

TEST_UNUSED static void white_join_all(const pthread_t *thread, int n)
{
    for (int i = 0; i < n; i++)
        white_join(thread[i]);
}

static void *white_registered(void *given)
{
    struct white_region region = *(struct white_region *)given;

    free(given);
    sgc_mutator_register(0);
    region.fn(region.arg);
    sgc_mutator_unregister(sgc_mutator_self());
    return NULL;
}

/* A thread that is registered while it runs fn(arg). */
TEST_UNUSED static pthread_t white_start(void (*fn)(void *arg), void *arg)
{
    struct white_region *region = malloc(sizeof *region);

    *region = (struct white_region){ fn, arg };
    return thread_start(white_registered, region);
}

/* Such threads for fn(0) to fn(n - 1). */
TEST_UNUSED static void white_start_all(pthread_t *thread, int n, void (*fn)(void *arg))
{
    for (intptr_t i = 0; i < n; i++)
        thread[i] = white_start(fn, (void *)i);
}

/* ---- pages ------------------------------------------------------------------------------------- */

/* That nobody uses and the pool does not have.  While no other thread has any in its hands. */
TEST_UNUSED static int white_lost_pages(void)
{
    int lost = 0;

    for (uint32_t page = 1; page < sgc_pool.committed * SGC_ARENA_PAGES; page++)
        lost += sgc_page_state(&sgc_heap.pages[page]) < SGC_PAGE_SMALL &&
                (sgc_arena_of_page(page)->free & sgc_arena_bit(page)) == 0;
    return lost;
}

/* ---- the life of objects ------------------------------------------------------------------------ */

/* Of a page each, so that a dead one is seen as soon as it is dead; addresses are kept inverted. */
enum { WHITE_BYTES = 100000 };

TEST_UNUSED static uintptr_t white_hidden(const void *object)
{
    return ~(uintptr_t)object;
}

TEST_UNUSED static bool white_alive(uintptr_t hidden)
{
    struct sgc_object object;

    return sgc_object_find(~hidden, &object) && object.start == ~hidden;
}

static void white_store_object(void *arg)
{
    uintptr_t *order = arg;
    void **place = (void **)order[0];

    *place = sgc_allocate(WHITE_BYTES, WHITE_KIND);
    order[1] = white_hidden(*place);
}

/* By a thread of its own, as is the question below, so that the address itself never stands in our registers or frames. */
TEST_UNUSED static uintptr_t white_store(void **place)
{
    uintptr_t order[2] = { (uintptr_t)place, 0 };

    white_join(white_start(white_store_object, order));
    return order[1];
}

static void *white_answer(void *hidden)
{
    return white_alive(*(uintptr_t *)hidden) ? hidden : NULL;
}

TEST_UNUSED static bool white_lives(uintptr_t hidden)
{
    void *lives = NULL;

    pthread_join(thread_start(white_answer, &hidden), &lives);
    return lives != NULL;
}

TEST_UNUSED static enum sgc_collect_result white_collect(void)
{
    scrub_stack();
    return sgc_collect(sgc_mutator_self(), SGC_REASON_EXPLICIT, NULL);
}

TEST_UNUSED static void white_init(void)
{
    if (!sgc_init_now())
        tap_bail("the collector does not start");
}

/* For what depends on stale words on the stack: sanitizers keep more of them, for longer. */
#define white_exact_ok(condition, ...)                                                              \
    do {                                                                                            \
        if (TEST_SANITIZED)                                                                         \
            tap_skip(__VA_ARGS__);                                                                  \
        else                                                                                        \
            tap_ok(condition, __VA_ARGS__);                                                         \
    } while (0)

#endif
