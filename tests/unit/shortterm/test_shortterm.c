/* SPDX-License-Identifier: MIT */
/*
 * Short-term memory as a program sees it, with dates as roots: when dates are over, what wrong calls are answered, what a
 * collection keeps.
 *
 * Also: shortterm/refresh.c, shortterm/tick.c, shortterm/dates.c, shortterm/objects.c, shortterm/settings.c, shortterm/layer.c,
 * shortterm/start.c.
 */
#define GC_THREADS

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/scrub.h"
#include "tests/unit/shortterm/figures.h"

static struct SGC_shortterm wanted = { -1, -1, -1, -1, -1 };

/* ---- ticks ---- */

/* A date of extension e is over at the (e + more)-th tick and not before; 0 if it is. */
static int over_exactly(unsigned e, unsigned more, int refresh(void *, unsigned), int tick(void))
{
    void *object = GC_MALLOC(40);
    int wrong = refresh(object, e) != 0 || dates() != 1;

    for (unsigned i = 1; i < e + more; i++)
        wrong += tick() != 0 || dates() != 1;
    wrong += tick() != 0 || dates() != 0;
    return wrong;
}

static int exact(int n, int page)
{
    struct SGC_shortterm w = wanted;
    int wrong;

    w.extension = n;
    w.page_bytes = page;
    wrong = SGC_shortterm_init(&w, sizeof w) != 0;
    for (int round = 0; round < 3; round++)
        for (int e = 0; e <= n; e += e == 1 && n > 3 ? n - 2 : 1) {
            wrong += over_exactly((unsigned)e, 1, SGC_refresh, SGC_tick);
            wrong += over_exactly((unsigned)e, 3, SGC_refresh_global, SGC_tick_global);
        }
    wrong += SGC_refresh(GC_MALLOC(1), (unsigned)n + 1) != ERANGE || SGC_refresh(GC_MALLOC(1), UINT_MAX) != ERANGE;
    wrong += SGC_refresh_global(GC_MALLOC(1), (unsigned)n + 1) != ERANGE;
    wrong += SGC_refresh_global(GC_MALLOC(1), UINT_MAX) != ERANGE || dates() != 0;
    return wrong != 0;
}

/* ---- wrong calls ---- */

static char static_data[64];

static int bad_addresses(void)
{
    char stack[64], *object = GC_MALLOC(100), *large = GC_MALLOC(1 << 20), *libcs = malloc(64);
    int wrong = 0;

    wrong += SGC_refresh(NULL, 0) != EINVAL || SGC_refresh(object + 16, 0) != EINVAL || SGC_refresh(object + 1, 0) != EINVAL;
    wrong += SGC_refresh(stack, 0) != EINVAL || SGC_refresh(static_data, 0) != EINVAL || SGC_refresh(libcs, 0) != EINVAL;
    wrong += SGC_refresh((void *)(uintptr_t)0x1000, 0) != EINVAL || SGC_refresh(large + 4096, 0) != EINVAL;
    wrong += SGC_refresh(large, 0) != 0 || SGC_refresh(object, 0) != 0 || dates() != 2;
    free(libcs);
    return wrong != 0;
}

static int freed_object(void)
{
    char *small = GC_MALLOC(100), *large = GC_MALLOC(1 << 20);
    int wrong = SGC_refresh(small, 0) != 0 || SGC_refresh(large, 0) != 0;

    GC_free(small);
    GC_free(large);
    wrong += SGC_refresh(small, 0) == 0 || SGC_refresh(large, 0) == 0 || dates() != 2;
    GC_gcollect();
    return wrong != 0;
}

static int many_dates(void)
{
    void *object = GC_MALLOC(32);
    int wrong = 0;

    for (unsigned i = 0; i < 200; i++)
        wrong += SGC_refresh(object, i % 11) != 0;
    wrong += dates() != 200;
    for (int i = 0; i < 11; i++)
        SGC_tick();
    return wrong != 0 || dates() != 0;
}

static int with_guards(void)
{
    void *object = GC_debug_malloc(40, __FILE__, __LINE__);

    return SGC_refresh(object, 0) != 0 || dates() != 1 || (GC_debug_free(object), SGC_refresh(object, 0)) != ESTALE;
}

static void *calls_inside(void *object)
{
    return (void *)(intptr_t)(SGC_refresh(object, 0) != EBUSY || SGC_tick() != EBUSY || SGC_tick_global() != EBUSY ||
                              SGC_join_time() != EBUSY || SGC_refresh_global(object, 0) != EBUSY);
}

static int blocked(void)
{
    void *object = GC_MALLOC(40);
    int wrong = SGC_refresh(object, 5) != 0;

    wrong += GC_do_blocking(calls_inside, object) != NULL;
    return wrong != 0 || SGC_refresh(object, 5) != 0 || dates() != 2;
}

static int too_late(void)
{
    struct SGC_shortterm w = wanted;
    int wrong;

    w.mode = 17;
    wrong = SGC_shortterm_init(&w, sizeof w) != EINVAL;
    w.mode = SGC_SHORTTERM_PIN;
    w.extension = 3;
    wrong += SGC_shortterm_init(&w, sizeof w) != 0 || SGC_refresh(GC_MALLOC(1), 4) != ERANGE;
    return wrong != 0 || SGC_shortterm_init(&w, sizeof w) != EALREADY;
}

/* ---- what a collection keeps ---- */

enum { OBJECTS = 2000 };

static void *hidden_links[OBJECTS];

TEST_NOINLINE static void make(int from, int to, unsigned e)
{
    for (int i = from; i < to; i++) {
        void **object = GC_MALLOC(48), *inner = GC_MALLOC_ATOMIC(16);

        *object = inner;
        if (SGC_refresh(object, e) != 0)
            abort();
        hidden_links[i] = inner;
        GC_general_register_disappearing_link(&hidden_links[i], inner);
    }
}

static int cleared(int from, int to)
{
    int n = 0;

    for (int i = from; i < to; i++)
        n += hidden_links[i] == NULL;
    return n;
}

static int collect(void)
{
    scrub_stack();
    GC_gcollect();
    return 0;
}

/* What is reachable from objects that have a date lives as long as these, but for a few words on the stack. */
static int keeps(void)
{
    int wrong = 0;

    GC_INIT();
    GC_exclude_static_roots(hidden_links, hidden_links + OBJECTS);
    make(0, OBJECTS / 2, 0);
    make(OBJECTS / 2, OBJECTS, 3);
    collect();
    wrong += cleared(0, OBJECTS) != 0;
    SGC_tick();
    collect();
    wrong += cleared(0, OBJECTS / 2) < OBJECTS / 2 - 10 || cleared(OBJECTS / 2, OBJECTS) != 0;
    for (int i = 0; i < 3; i++)
        SGC_tick();
    collect();
    return wrong != 0 || cleared(0, OBJECTS) < OBJECTS - 10;
}

static void *refreshes(void *object)
{
    int wrong = SGC_refresh(object, 5) != 0 || SGC_refresh_global(object, 5) != 0;

    return (void *)(intptr_t)(wrong + (dates() != 2));
}

enum { TURN = 10 + 4 };                 /* of the only thread's ticks: then a date of one that has ended is over */

/* A thread's dates of its own clock end with it, those of global time when that has gone on; it is no longer waited for. */
static int thread_ends(void)
{
    struct SGC_shortterm_stats s;
    void *object = GC_MALLOC(40), *wrong;
    pthread_t thread;

    if (pthread_create(&thread, NULL, refreshes, object) != 0 || pthread_join(thread, &wrong) != 0)
        return 1;
    SGC_get_shortterm_stats(&s, sizeof s);
    if (wrong != NULL || s.dates != 1 || s.active != 0)
        return 2;
    for (int i = 0; i < TURN; i++)
        SGC_tick_global();
    return dates() != 0;
}

int main(void)
{
    tap_plan(12);
    child_ok_of(exact(0, -1), "dates are over exactly in time, largest extension 0");
    child_ok_of(exact(10, -1), "dates are over exactly in time, largest extension 10");
    child_ok_of(exact(10, 24), "dates are over exactly in time, pages of one date");
    child_ok_of(exact(300, 256), "dates are over exactly in time, largest extension 300");
    child_ok(bad_addresses, "addresses that are no object's are refused");
    child_ok(freed_object, "an object that was freed gets no date");
    child_ok(many_dates, "an object with 200 dates");
    child_ok(with_guards, "an object with guards");
    child_ok(blocked, "a thread that blocks is refused, and goes on");
    child_ok(too_late, "a choice that comes too late is refused");
    child_ok(keeps, "a collection keeps what a date keeps, and not longer");
    child_ok(thread_ends, "a thread's dates end with it");
    return tap_done();
}
