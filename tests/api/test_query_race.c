/* SPDX-License-Identifier: MIT */
/*
 * Questions about a live object while other threads collect: the answers never change.
 *
 * A cycle ends by exchanging the bitmaps, and the old one is cleared while the program runs; a question that looked
 * at one bitmap across a stop would take a live object for dead.
 */
#include "api.h"

#include <stdatomic.h>

enum { ASKERS = 2, OBJECTS = 64, MILLISECONDS = 1000 };

static atomic_int done;
static atomic_ulong asked, wrong;

static void ask(char *object, size_t bytes)
{
    if (GC_base(object + 3) != object || GC_size(object) != bytes || !GC_is_heap_ptr(object))
        atomic_fetch_add(&wrong, 1);
    atomic_fetch_add(&asked, 1);
}

static void *asker(void *unused)
{
    char **object = GC_malloc(OBJECTS * sizeof *object);
    size_t bytes[OBJECTS];

    for (int i = 0; i < OBJECTS; i++) {
        object[i] = GC_malloc(i % 8 == 7 ? 200000 : 40);
        bytes[i] = GC_size(object[i]);
    }
    for (int i = 0; !atomic_load(&done); i = (i + 1) % OBJECTS)
        ask(object[i], bytes[i]);
    return unused;
}

int main(void)
{
    pthread_t thread[ASKERS];
    long end;

    tap_plan(2);
    GC_INIT();
    api_start_all(thread, ASKERS, asker);
    for (end = api_milliseconds() + MILLISECONDS; api_milliseconds() < end;)
        GC_gcollect();
    atomic_store(&done, 1);
    api_join_all(thread, ASKERS);
    tap_ok(atomic_load(&asked) > 100, "%lu questions", atomic_load(&asked));
    tap_ok(atomic_load(&wrong) == 0, "each answered as the first time (%lu not)", atomic_load(&wrong));
    return tap_done();
}
