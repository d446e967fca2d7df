/* SPDX-License-Identifier: MIT */
/*
 * libscm's objects: what they are like, when they go, and what wrong calls do.
 *
 * Also: shortterm/compat/dates.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/shortterm/compat/scm.h"

enum { LARGEST = SCM_MAX_EXPIRATION_EXTENSION };

/* ---- persistent objects ---- */

static int aligned(void)
{
    int wrong = 0;

    for (size_t size = 0; size < 3000; size++)
        wrong += (uintptr_t)scm_malloc(size) % 16 != 0;
    return wrong + (scm_malloc(0) == scm_malloc(0)) + (scm_malloc(1 << 20) == NULL);
}

static int too_large(void)
{
    static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 3, SIZE_MAX - 7, SIZE_MAX - 8, SIZE_MAX - 16, PTRDIFF_MAX };
    int wrong = 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        errno = 0;
        wrong += scm_malloc(sizes[i]) != NULL || errno != ENOMEM;
    }
    return wrong;
}

/* Objects to which nothing points where the collector looks. */
static int persistent(void)
{
    enum { OBJECTS = 5000 };
    static uintptr_t hidden[OBJECTS];
    int wrong = 0;

    for (int i = 0; i < OBJECTS; i++) {
        char *object = scm_malloc(100);

        memset(object, i % 127, 100);
        hidden[i] = ~(uintptr_t)object;
    }
    GC_gcollect();
    for (int i = 0; i < OBJECTS; i++) {
        char *object = (char *)~hidden[i];

        wrong += !is_object(object) || object[0] != i % 127 || object[99] != i % 127;
        scm_free(object);
        wrong += is_object(object);
    }
    return wrong;
}

static int freed_memory(void)
{
    int wrong = 0;

    for (int i = 0; i < 1000000; i++) {
        void *object = scm_malloc(1000);

        wrong += object == NULL;
        scm_free(object);
    }
    return wrong != 0 || GC_get_heap_size() > (size_t)16 << 20;
}

/* ---- dates ---- */

/* Is the object there up to the (e + more)-th tick, and no longer? */
static int gone_exactly(unsigned e, unsigned more, void refresh(void *, unsigned), void tick(void), unsigned clamped)
{
    void *object = new_object();
    int wrong = 0;

    refresh(object, e);
    for (unsigned i = 1; i < clamped + more; i++) {
        collect_after(tick);
        wrong += !is_object(object) || *(char *)object != 0x55;
    }
    collect_after(tick);
    return wrong + is_object(object);
}

static int exact(void)
{
    int wrong = 0;

    for (int round = 0; round < 3; round++)
        for (unsigned e = 0; e <= LARGEST; e++) {
            wrong += gone_exactly(e, 1, scm_refresh, scm_tick, e);
            wrong += gone_exactly(e, 3, scm_global_refresh, scm_global_tick, e);
        }
    return wrong;
}

static int clamped(void)
{
    int wrong = gone_exactly(LARGEST + 1, 1, scm_refresh, scm_tick, LARGEST);

    wrong += gone_exactly(UINT32_MAX, 1, scm_refresh, scm_tick, LARGEST);
    wrong += gone_exactly(LARGEST + 1, 3, scm_global_refresh, scm_global_tick, LARGEST);
    return wrong + gone_exactly(UINT32_MAX, 3, scm_global_refresh, scm_global_tick, LARGEST);
}

static int latest_decides(void)
{
    void *object = new_object();
    int wrong = 0;

    scm_refresh(object, 3);
    scm_refresh(object, 0);
    scm_global_refresh(object, 0);
    for (int i = 0; i < 3; i++) {
        scm_tick();
        collect_after(scm_global_tick);
        wrong += !is_object(object);
    }
    collect_after(scm_tick);
    return wrong + is_object(object);
}

static int freed_with_dates(void)
{
    void *object = new_object();
    int wrong;

    scm_refresh(object, 1);
    scm_free(object);
    scm_free(object);
    wrong = !is_object(object);
    collect_after(scm_tick);
    wrong += !is_object(object);
    collect_after(scm_tick);
    return wrong + is_object(object);
}

static int lazily(void)
{
    enum { OBJECTS = 1000 };
    static void *object[OBJECTS];
    int left = 0, steps = 0;

    for (int i = 0; i < OBJECTS; i++)
        scm_refresh(object[i] = scm_malloc(32), 0);
    scm_tick();
    for (int i = 0; i < OBJECTS; i++)
        left += is_object(object[i]);
    if (left < OBJECTS - 1)
        return 1;
    while (is_object(object[OBJECTS - 1]) && steps < 2 * OBJECTS) {
        scm_tick();
        steps++;
    }
    return steps < OBJECTS - 2 || steps > OBJECTS;
}

static int steady(void)
{
    struct SGC_stats before, after;

    SGC_get_stats(&before, sizeof before);
    for (int i = 0; i < 2000000; i++) {
        scm_refresh(scm_malloc(64), 0);
        if (i % 100 == 99)
            scm_tick();
    }
    SGC_get_stats(&after, sizeof after);
    return after.collections != before.collections || after.heap_max_bytes > 32 << 20;
}

/* ---- wrong calls ---- */

static int bad_addresses(void)
{
    char stack[64], *object = scm_malloc(100);

    scm_refresh(NULL, 0);
    scm_refresh(stack, 0);
    scm_refresh(object + 16, 0);
    scm_global_refresh(NULL, 0);
    scm_global_refresh((void *)(uintptr_t)0x1000, 0);
    scm_free(NULL);
    scm_free(strdup("the C library's"));
    for (int i = 0; i < 4; i++) {
        scm_tick();
        scm_global_tick();
    }
    scm_collect();
    return !is_object(object);
}

/* What comes too late changes nothing: each of the objects made afterwards is another's memory. */
static int too_late(void)
{
    enum { OBJECTS = 1000 };
    static char *object[OBJECTS];
    void *expired = new_object(), *freed = new_object();
    int wrong = 0;

    GC_set_warn_proc(GC_ignore_warn_proc);
    scm_refresh(expired, 0);
    collect_after(scm_tick);
    scm_free(freed);
    wrong += is_object(expired) || is_object(freed);
    for (int i = 0; i < 3; i++) {
        scm_refresh(expired, 0);
        scm_global_refresh(freed, 0);
        scm_free(expired);
        scm_free(freed);
    }
    for (int i = 0; i < OBJECTS; i++)
        memset(object[i] = scm_malloc(40), i % 127, 40);
    for (int i = 0; i < 10; i++) {
        scm_tick();
        scm_global_tick();
    }
    scm_collect();
    for (int i = 0; i < OBJECTS; i++)
        wrong += !is_object(object[i]) || object[i][0] != i % 127 || object[i][39] != i % 127;
    return wrong;
}

static int many_dates(void)
{
    void *object = new_object();
    int wrong = 0;

    for (int i = 0; i < 1000; i++)
        scm_refresh(object, 5);
    for (int i = 0; i < 5; i++) {
        collect_after(scm_tick);
        wrong += !is_object(object);
    }
    return wrong;
}

int main(void)
{
    tap_plan(13);
    child_ok(aligned, "objects are aligned to 16");
    child_ok(too_large, "sizes that are too large are refused");
    child_ok(persistent, "objects stay until they are freed");
    child_ok(freed_memory, "memory that is freed is used again");
    child_ok(exact, "objects expire at exactly the right tick");
    child_ok(clamped, "extensions that are too large are made smaller");
    child_ok(latest_decides, "the latest date decides");
    child_ok(freed_with_dates, "an object with dates is not freed by hand");
    child_ok(lazily, "an operation takes off one date");
    child_ok(steady, "without collections memory stays as it is");
    child_ok(bad_addresses, "addresses of no object are left alone");
    child_ok(too_late, "what comes too late for an object changes nothing");
    child_ok(many_dates, "an object with a thousand dates");
    return tap_done();
}
