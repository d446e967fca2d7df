/* SPDX-License-Identifier: MIT */
/*
 * alloc/free.c with the collector above it: threads drop and free what they and their neighbours have allocated while others
 * collect, in one stop or beside the program, and under torture.  No object is lost, damaged, or handed out twice.
 */
#define GC_THREADS
#include "gc.h"

#include "alloc/free.h"
#include "tests/lib/child.h"
#include "tests/lib/heap.h"
#include "tests/lib/sanitized.h"

enum { THREADS = 4, SLOTS = 3000, STEPS = TEST_SANITIZED ? 200 : 1500, LARGE = 40 };

struct slot {
    uint64_t *object;
    size_t words;
};

/* What a thread has, and what its neighbour has handed over to it.  Static, so both are roots. */
static struct table {
    struct slot slot[SLOTS], given[SLOTS];
    int count;                  /* of those given, under the lock */
    pthread_mutex_t lock;
    uint64_t random;
    int steps, wrong;
} table[THREADS];

/* No word of an object looks like an address. */
static uint64_t content(const struct slot *s, size_t i)
{
    return ~(uint64_t)(uintptr_t)s->object ^ (uint64_t)i << 50;
}

static void fill(struct table *t, struct slot *s)
{
    size_t bytes = heap_random(&t->random, LARGE) == 0 ? 30000 : 16 + heap_random(&t->random, 16 << heap_random(&t->random, 8));
    int kind = (int)heap_random(&t->random, 8);

    s->words = bytes / 8;
    s->object = kind == 0 ? GC_malloc_uncollectable(bytes) : kind < 4 ? GC_malloc(bytes) : GC_malloc_atomic(bytes);
    for (size_t i = 0; i < s->words; i++)
        s->object[i] = content(s, i);
}

static void check(struct table *t, const struct slot *s)
{
    for (size_t i = 0; i < s->words; i++)
        if (s->object[i] != content(s, i))
            t->wrong++;
}

/* Takes objects out of slots, in whatever order they are. */
static size_t take(struct table *t, struct slot *slots, size_t from, size_t to, uintptr_t *objects)
{
    size_t n = 0;

    for (size_t i = from; i < to; i++) {
        if (slots[i].object == NULL)
            continue;
        check(t, &slots[i]);
        objects[n++] = (uintptr_t)slots[i].object;
        slots[i] = (struct slot){ NULL, 0 };
    }
    return n;
}

static void drop(struct table *t, const uintptr_t *objects, size_t n)
{
    t->wrong += sgc_drop(sgc_self, objects, n).objects != n;
}

static void drop_some(struct table *t)
{
    uintptr_t objects[SLOTS];
    size_t from = heap_random(&t->random, SLOTS), to = from + heap_random(&t->random, 400);

    drop(t, objects, take(t, t->slot, from, to < SLOTS ? to : SLOTS, objects));
}

static void free_some(struct table *t)
{
    uintptr_t objects[SLOTS];
    size_t from = heap_random(&t->random, SLOTS), to = from + heap_random(&t->random, 200);
    size_t n = take(t, t->slot, from, to < SLOTS ? to : SLOTS, objects);

    for (size_t i = 0; i < n; i++)
        GC_free((void *)objects[i]);
}

static void hand_over(struct table *t)
{
    struct table *to = &table[(t - table + 1) % THREADS];
    size_t from = heap_random(&t->random, SLOTS - 100);

    pthread_mutex_lock(&to->lock);
    for (size_t i = from; i < from + 100 && to->count < SLOTS; i++)
        if (t->slot[i].object != NULL) {
            to->given[to->count++] = t->slot[i];
            t->slot[i] = (struct slot){ NULL, 0 };
        }
    pthread_mutex_unlock(&to->lock);
}

static void drop_given(struct table *t)
{
    uintptr_t objects[SLOTS];
    size_t n;

    pthread_mutex_lock(&t->lock);
    n = take(t, t->given, 0, (size_t)t->count, objects);
    t->count = 0;
    pthread_mutex_unlock(&t->lock);
    drop(t, objects, n);
}

static void fill_some(struct table *t)
{
    size_t from = heap_random(&t->random, SLOTS), to = from + heap_random(&t->random, 600);

    for (size_t i = from; i < to && i < SLOTS; i++)
        if (t->slot[i].object == NULL)
            fill(t, &t->slot[i]);
}

static void step(struct table *t)
{
    switch (heap_random(&t->random, 8)) {
    case 0: drop_some(t); break;
    case 1: free_some(t); break;
    case 2: hand_over(t); break;
    case 3: drop_given(t); break;
    case 4: if (heap_random(&t->random, 20) == 0) GC_gcollect(); break;
    default: fill_some(t); break;
    }
}

static void *run(void *arg)
{
    struct table *t = &table[(intptr_t)arg];

    t->random = (uint64_t)(intptr_t)arg + 1;
    for (int i = 0; i < t->steps; i++)
        step(t);
    for (size_t i = 0; i < SLOTS; i++)
        check(t, &t->slot[i]);
    return NULL;
}

static int steps;

static int storm(void)
{
    pthread_t thread[THREADS];
    int wrong = 0;

    GC_INIT();
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&table[i].lock, NULL);
        table[i].steps = steps;
    }
    threads_start(thread, THREADS, run);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        wrong += table[i].wrong;
    }
    GC_gcollect();
    if (GC_get_gc_no() < 5)
        return 3;
    return wrong == 0 ? 0 : 2;
}

static void storm_with(const char *option, const char *value, int count)
{
    steps = count;
    setenv(option, value, 1);
    child_ok(storm, "nothing is lost with %s=%s", option, value);
    unsetenv(option);
}

int main(void)
{
    storm_with("SGC_MODE", "stop", STEPS);
    storm_with("SGC_TORTURE", "997", STEPS / 5);
    storm_with("SGC_VERIFY", "marks", STEPS / 2);
    setenv("GC_PAUSE_TIME_TARGET", "0", 1);
    storm_with("SGC_MODE", "concurrent", STEPS);
    storm_with("SGC_PAGE_POLICY", "ps", STEPS);
    return tap_done();
}
