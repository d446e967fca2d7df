/* SPDX-License-Identifier: MIT */
/*
 * Looks at the heap while programs allocate.  For a look exactly the allocated objects look allocated; afterwards each thread
 * has what it had claimed before: no slot is lost or handed out twice, and nothing counts as allocated twice.
 *
 * Also: gc/collect/external_stop.c, alloc/small/cache.c.
 */
#include "api.h"

#include <gc/gc_backptr.h>
#include <sgc.h>
#include <stdatomic.h>

enum {
    OBJECTS = 6000,
    EACH = 20,                  /* objects between two looks */
    SIZE = 64,                  /* less than that by the end byte */
    PAGE = 65536,
    THREADS = 3,
    KEPT = 500,                 /* objects that a thread has at a time */
    LOOKS = 2000,
};

static char **kept;             /* in an object */

static void look(void)
{
    if (GC_generate_random_valid_address() == NULL)
        tap_bail("there is no object");
}

/* ---- one thread ---- */

static int compare(const void *a, const void *b)
{
    uintptr_t left = *(const uintptr_t *)a, right = *(const uintptr_t *)b;

    return (left > right) - (left < right);
}

static size_t lost_slots(void)
{
    static uintptr_t place[OBJECTS];
    size_t lost = 0;

    memcpy(place, kept, sizeof place);
    qsort(place, OBJECTS, sizeof *place, compare);
    for (int i = 1; i < OBJECTS; i++)
        if (place[i] / PAGE == place[i - 1] / PAGE)
            lost += place[i] - place[i - 1] == 0 ? OBJECTS : (place[i] - place[i - 1]) / SIZE - 1;
    return lost;
}

/* No collection comes: that would give up claimed slots, too. */
static void check_one_thread(void)
{
    size_t before;

    GC_gcollect();
    GC_disable();
    kept = GC_malloc(OBJECTS * sizeof *kept);
    kept[0] = GC_malloc(SIZE - 1);
    before = GC_get_bytes_since_gc();
    for (int i = 1; i < OBJECTS; i++) {
        kept[i] = GC_malloc(SIZE - 1);
        if (i % EACH == 0)
            look();
    }
    tap_ok(GC_get_bytes_since_gc() - before < OBJECTS * SIZE + PAGE,
           "nothing is counted twice: %zu bytes, where objects have %d", GC_get_bytes_since_gc() - before,
           (OBJECTS - 1) * SIZE);
    tap_ok(lost_slots() == 0, "no slot is lost, or handed out twice (%zu)", lost_slots());
}

static void count_object(TEST_UNUSED void *object, size_t bytes, void *count)
{
    *(size_t *)count += bytes == SIZE;
}

static void *count_objects(void *count)
{
    GC_enumerate_reachable_objects_inner(count_object, count);
    return NULL;
}

static void check_exactly(void)
{
    size_t before = 0, after = 0;
    char *next, *freed;

    GC_call_with_alloc_lock(count_objects, &before);
    for (int i = 0; i < EACH; i++)
        kept[i] = GC_malloc(SIZE - 1);
    GC_call_with_alloc_lock(count_objects, &after);
    tap_ok(after == before + EACH, "each new object is seen once, and nothing that is claimed only (%zu, then %zu)", before,
           after);
    next = kept[0] + SIZE;
    while ((kept[0] = GC_malloc(SIZE - 1)) != next)
        next = kept[0] + SIZE;
    next = kept[0] + SIZE;
    tap_ok(SGC_find_way(next, NULL, NULL) == SGC_HELD_NO_OBJECT, "the slot that comes next is no object");
    tap_ok(GC_malloc(SIZE - 1) == next, "and comes next all the same");
    freed = kept[1];
    GC_free(freed);
    look();
    tap_ok(GC_malloc(SIZE - 1) == freed, "what was freed before the look is used again after it");
    GC_enable();
    tap_ok(SGC_check() == 0, "the heap is right");
}

/* ---- others meanwhile ---- */

static atomic_int over, ready;

static uint64_t *new_object(uint64_t number)
{
    size_t words = 2 + number % 40;
    uint64_t *object = GC_malloc(words * sizeof *object);

    object[0] = number;
    object[words - 1] ^= number;
    return object;
}

static bool object_ok(const uint64_t *object)
{
    return object == NULL || object[1 + object[0] % 40] == object[0];
}

/* Replaces objects of its own, some of which it frees; returns how many were not as it had left them, as an address. */
static void *allocate(void *arg)
{
    uint64_t **object = GC_malloc(KEPT * sizeof *object), number = ((uint64_t)(uintptr_t)arg + 1) << 32;
    uintptr_t wrong = 0;

    atomic_fetch_add(&ready, 1);
    for (size_t place = 0; !atomic_load(&over); number++) {
        place = (place * 5 + 1 + number % 7) % KEPT;
        wrong += !object_ok(object[place]);
        if (number % 3 == 0)
            GC_free(object[place]);
        object[place] = new_object(number);
    }
    for (size_t place = 0; place < KEPT; place++)
        wrong += !object_ok(object[place]);
    return (void *)wrong;
}

static void check_threads(void)
{
    pthread_t thread[THREADS];
    intptr_t wrong;

    api_start_all(thread, THREADS, allocate);
    while (atomic_load(&ready) < THREADS)
        usleep(1000);
    for (int i = 0; i < LOOKS; i++)
        look();
    atomic_store(&over, 1);
    wrong = api_join_all(thread, THREADS);
    tap_ok(wrong == 0, "objects of threads that allocate meanwhile stay as they are (%zu do not)", (size_t)wrong);
    tap_ok(SGC_check() == 0, "the heap is right");
}

/* ---- in a world that stands still already ---- */

static void check_stopped(void)
{
    GC_stop_world_external();
    look();
    look();
    tap_ok(SGC_find_way(kept[2], NULL, NULL) != SGC_HELD_NO_OBJECT, "in a world that stands still already, too");
    GC_start_world_external();
    tap_ok(SGC_check() == 0, "the heap is right");
}

int main(void)
{
    tap_plan(11);
    GC_INIT();
    return tap_all(check_one_thread, check_exactly, check_threads, check_stopped);
}
