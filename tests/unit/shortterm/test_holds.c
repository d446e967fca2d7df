/* SPDX-License-Identifier: MIT */
/*
 * Holds: they keep objects alive, by number, whoever makes them and takes them back.
 */
#define GC_THREADS

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/scrub.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum { OBJECTS = 2000, STRAY = 10 };    /* so many may be seen by old words on the stack */

/* Addresses that the collector does not see, and links that say what is alive. */
static uintptr_t hidden[OBJECTS];
static void *links[OBJECTS];

static void *object_at(int i)
{
    return (void *)~hidden[i];
}

TEST_NOINLINE static void make(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        void *object = GC_MALLOC_ATOMIC(48);

        hidden[i] = ~(uintptr_t)object;
        links[i] = object;
        if (SGC_hold(object) != 0 || GC_general_register_disappearing_link(&links[i], object) != 0)
            abort();
    }
}

static void collect(void)
{
    scrub_stack();
    GC_gcollect();
}

static int dead(int from, int to)
{
    int n = 0;

    for (int i = from; i < to; i++)
        n += links[i] == NULL;
    return n;
}

static int unhold(int from, int to)
{
    int wrong = 0;

    for (int i = from; i < to; i++)
        wrong += SGC_unhold(object_at(i)) != 0;
    return wrong;
}

static int keeps(void)
{
    int wrong = 0;

    GC_INIT();
    GC_exclude_static_roots(links, links + OBJECTS);
    make();
    for (int i = 0; i < OBJECTS / 2; i++)
        wrong += SGC_hold(object_at(i)) != 0;
    collect();
    wrong += dead(0, OBJECTS) != 0 || unhold(0, OBJECTS);
    collect();
    wrong += dead(0, OBJECTS / 2) != 0 || dead(OBJECTS / 2, OBJECTS) < OBJECTS / 2 - STRAY;
    wrong += unhold(0, OBJECTS / 2);
    collect();
    return wrong != 0 || dead(0, OBJECTS) < OBJECTS - STRAY || SGC_check() != 0;
}

/* ---- handing over ---- */

static uintptr_t handed_over;
static void *handed_link;

/* Hands over what the collector does not see. */
static void *takes(TEST_UNUSED void *unused)
{
    void *object;

    object = (void *)~handed_over;
    if (GC_base(object) != object || SGC_refresh(object, 3) != 0 || SGC_unhold(object) != 0)
        return object;
    collect();
    return GC_base(object) == object ? NULL : object;
}

TEST_NOINLINE static void gives(void)
{
    void *object = GC_MALLOC_ATOMIC(48);

    handed_over = ~(uintptr_t)object;
    if (SGC_hold(object) != 0 || SGC_refresh(object, 0) != 0)
        abort();
    handed_link = object;
    GC_general_register_disappearing_link(&handed_link, object);
}

/* The maker's date is over long before the other thread exists. */
static int handed(void)
{
    GC_INIT();
    GC_exclude_static_roots(&handed_link, &handed_link + 1);
    gives();
    for (int i = 0; i < 20; i++)
        SGC_tick();
    collect();
    return handed_link == NULL || thread_result(takes, NULL) != NULL;
}

/* ---- threads at once ---- */

static void *holds_all(TEST_UNUSED void *raw)
{
    intptr_t wrong = 0;

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < OBJECTS; i++)
            wrong += SGC_hold(object_at(i)) != 0;
        for (int i = 0; i < OBJECTS; i++)
            wrong += SGC_unhold(object_at(i)) != 0;
    }
    return (void *)wrong;
}

static int at_once(void)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    int wrong;

    GC_INIT();
    GC_exclude_static_roots(links, links + OBJECTS);
    make();
    threads_start(thread, THREADS, holds_all);
    for (int i = 0; i < 5; i++)
        collect();
    wrong = threads_sum(thread, THREADS) != 0;
    collect();
    wrong += dead(0, OBJECTS) != 0 || unhold(0, OBJECTS);
    return wrong + (SGC_unhold(object_at(0)) != EINVAL);
}

/* ---- where expired objects are freed ---- */

static int is_object(void *object)
{
    return GC_base(object) == object;
}

static int freed_after(void)
{
    void *first = GC_MALLOC(40), *second = GC_malloc_uncollectable(100000), *only_held = GC_MALLOC(40);
    int wrong = SGC_hold(first) != 0 || SGC_hold(first) != 0 || SGC_refresh(first, 0) != 0 || SGC_dates(first) != 2;

    wrong += SGC_refresh(second, 2) != 0 || SGC_hold(second) != 0 || SGC_hold(only_held) != 0;
    wrong += SGC_tick() != 0 || !is_object(first) || SGC_unhold(first) != 0 || !is_object(first);
    wrong += SGC_unhold(second) != 0 || !is_object(second) || SGC_unhold(only_held) != 0 || is_object(only_held);
    wrong += SGC_unhold(first) != 0 || is_object(first) || SGC_unhold(first) != EINVAL;
    wrong += SGC_tick() != 0 || !is_object(second) || SGC_tick() != 0 || is_object(second);
    return wrong;
}

/* With verify it is an ordinary object, of which nothing is done. */
static int called;

static int count_call(TEST_UNUSED void *object)
{
    called++;
    return 0;
}

static int kept_after(void)
{
    void *object = GC_MALLOC(40), *dated = GC_MALLOC(40);
    int wrong = SGC_set_expiry_proc(object, count_call) != 0 || SGC_hold(object) != 0 || SGC_unhold(object) != 0;

    wrong += SGC_refresh(dated, 0) != 0 || SGC_hold(dated) != 0 || SGC_tick() != 0;
    wrong += SGC_unhold(dated) != 0;
    GC_gcollect();
    wrong += !is_object(object) || !is_object(dated) || SGC_dates(object) != 1 || SGC_dates(dated) != 0 || called != 0;
    wrong += SGC_tick() != 0 || called != 1;
    GC_gcollect();
    wrong += !is_object(object) || SGC_dates(object) != 0 || called != 1;
    GC_reachable_here(object);
    GC_reachable_here(dated);
    return wrong;
}

static int not_freed(void)
{
    void *object = GC_MALLOC(40);
    int wrong = SGC_hold(object) != 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_free(object);
    wrong += !is_object(object) || SGC_unhold((char *)object + 16) != EINVAL || SGC_unhold(object) != 0;
    GC_free(object);
    return wrong + is_object(object);
}

static int not_freed_either(void)
{
    void *object = GC_MALLOC(40);
    int wrong = SGC_refresh(object, 0) != 0 || SGC_hold(object) != 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_free(object);
    return wrong + (!is_object(object) || SGC_tick() != 0 || SGC_unhold(object) != 0 || is_object(object));
}

static void *takes_and_uses(void *raw)
{
    char *object = raw;
    int wrong = SGC_refresh(object, 0) != 0 || SGC_unhold(object) != 0 || *object != 'x';

    return (void *)(intptr_t)(wrong + (SGC_tick() != 0 || is_object(object)));
}

static int handed_freed(void)
{
    char *object = GC_MALLOC(40);
    int wrong = SGC_hold(object) != 0 || SGC_refresh(object, 0) != 0;

    *object = 'x';
    for (int i = 0; i < 20; i++)
        wrong += SGC_tick() != 0;
    return thread_result(takes_and_uses, object) != NULL || wrong != 0;
}

static int with(int mode, int collect, int (*body)(void))
{
    choose(mode, -1, collect, -1, -1);
    return body();
}

int main(void)
{
    unsetenv("SGC_SHORTTERM");
    tap_plan(8);
    child_ok_of(with(SGC_SHORTTERM_VERIFY, -1, kept_after), "verify: an object stays when the last hold is taken back");
    child_ok_of(with(SGC_SHORTTERM_FREE, SGC_SHORTTERM_EAGER, freed_after),
                "with SGC_SHORTTERM=free an object goes after its last hold and its last date");
    child_ok_of(with(SGC_SHORTTERM_FREE, SGC_SHORTTERM_EAGER, handed_freed),
                "with SGC_SHORTTERM=free an object waits for the thread that it is for");
    child_ok(not_freed, "GC_free leaves an object that is held");
    child_ok_of(with(SGC_SHORTTERM_FREE, SGC_SHORTTERM_EAGER, not_freed_either),
                "GC_free leaves an object that is held with SGC_SHORTTERM=free");
    child_ok(keeps, "an object is alive as long as somebody holds it");
    child_ok(handed, "an object waits for the thread that it is for");
    child_ok(at_once, "holds of several threads are counted");
    return tap_done();
}
