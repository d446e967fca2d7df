/* SPDX-License-Identifier: MIT */
/*
 * Short-term memory as a program sees it, with dates as roots: when dates are over, what a
 * collection keeps.  What wrong calls are answered: test_refused_calls.c.
 *
 * Also: shortterm/refresh.c, shortterm/tick.c, shortterm/dates.c, shortterm/objects.c, shortterm/layer.c,
 * shortterm/start.c.
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
    int wrong = 0;

    choose(-1, n, -1, -1, page);
    for (int round = 0; round < 3; round++)
        for (int e = 0; e <= n; e += e == 1 && n > 3 ? n - 2 : 1) {
            wrong += over_exactly((unsigned)e, 1, SGC_refresh, SGC_tick);
            wrong += over_exactly((unsigned)e, 3, SGC_refresh_global, SGC_tick_global);
        }
    return wrong != 0 || dates() != 0;
}

/* ---- calls ---- */

static int with_guards(void)
{
    void *object = GC_debug_malloc(40, __FILE__, __LINE__);

    return SGC_refresh(object, 0) != 0 || dates() != 1 || (GC_debug_free(object), SGC_refresh(object, 0)) != ESTALE;
}

static int too_late(void)
{
    struct SGC_shortterm w = { 17, -1, -1, -1, -1 };
    int wrong;

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

static int thread_ends(void)
{
    if (thread_result(refreshes, GC_MALLOC(40)) != NULL || dates() != 1 || figures().active != 0)
        return 1;
    for (int i = 0; i < TURN; i++)
        SGC_tick_global();
    return dates() != 0;
}

int main(void)
{
    tap_plan(8);
    child_ok_of(exact(0, -1), "dates are over exactly in time, largest extension 0");
    child_ok_of(exact(10, -1), "dates are over exactly in time, largest extension 10");
    child_ok_of(exact(10, 24), "dates are over exactly in time, pages of one date");
    child_ok_of(exact(300, 256), "dates are over exactly in time, largest extension 300");
    child_ok(with_guards, "an object with guards");
    child_ok(too_late, "a choice that comes too late is refused");
    child_ok(keeps, "a collection keeps what a date keeps, and not longer");
    child_ok(thread_ends, "a thread's dates end with it");
    return tap_done();
}
