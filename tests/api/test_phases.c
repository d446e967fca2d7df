/* SPDX-License-Identifier: MIT */
/*
 * Programs in phases that free everything themselves: each phase has objects of other sizes, and with no collection at all the
 * heap stays about as large as the largest phase needs it.
 */
#define GC_THREADS
#include "gc.h"

#include <pthread.h>
#include <stdint.h>

#include "tests/lib/child.h"

enum { PHASE = 12 << 20, OBJECTS_MAX = PHASE / 48 + 1, THREADS_MAX = 3 };

struct sizes {
    size_t least, most;
};

static const struct sizes two[] = { { 64, 64 }, { 500, 500 } };
static const struct sizes four[] = { { 48, 60 }, { 900, 1500 }, { 100, 300 }, { 5000, 20000 } };
static const struct sizes large[] = { { 64, 64 }, { 200000, 200000 } };

static const struct sizes *sizes;
static int phases, threads;
static pthread_barrier_t barrier;       /* so that all have their objects at the same time */
static void *object[THREADS_MAX][OBJECTS_MAX];

static int one_phase(void **objects, const struct sizes *s)
{
    size_t n = 0, size = s->least, wrong = 0;

    for (size_t got = 0; got < PHASE; got += size) {
        size = s->least + n * 112 % (s->most - s->least + 1);
        objects[n] = n % 2 == 0 ? GC_malloc(size) : GC_malloc_atomic(size);
        memcpy(objects[n], &objects[n], sizeof objects[n]);
        n++;
    }
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < n; i++) {
        wrong += memcmp(objects[i], &objects[i], sizeof objects[i]) != 0;
        GC_free(objects[i]);
    }
    return wrong == 0 ? 0 : 1;
}

static void *run(void *arg)
{
    void **objects = object[(intptr_t)arg];
    intptr_t wrong = 0;

    for (int i = 0; i < phases; i++)
        wrong |= one_phase(objects, &sizes[i]);
    return (void *)wrong;
}

/* The heap of a child, by threads, in units of 128 KB; 1 to 3 are faults. */
static int heap_after(void)
{
    pthread_t thread[THREADS_MAX];
    void *wrong = NULL;

    GC_INIT();
    GC_disable();
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (intptr_t i = 1; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run, (void *)i) != 0)
            return 1;
    if (run(NULL) != NULL)
        return 2;
    for (int i = 1; i < threads; i++)
        if (pthread_join(thread[i], &wrong) != 0 || wrong != NULL)
            return 2;
    return GC_get_gc_no() != 0 ? 3 : (int)(GC_get_heap_size() / ((size_t)threads * 65536 * 2));
}

static void check_phases(const char *name, const struct sizes *s, int count, int with)
{
    int alone = 0, pages;

    threads = with;
    phases = 1;
    for (int i = 0; i < count; i++) {
        sizes = &s[i];
        pages = run_in_child(heap_after);
        alone = pages > alone ? pages : alone;
    }
    sizes = s;
    phases = count;
    pages = run_in_child(heap_after);
    tap_ok(alone >= PHASE / 65536 / 2 && alone < 256 && pages > 3 && pages * 10 <= alone * 12,
           "%s, %d threads: %d KB each, %d for the largest phase alone", name, with, pages * 128, alone * 128);
}

int main(void)
{
    for (int with = 1; with <= THREADS_MAX; with += 2) {
        check_phases("two sizes", two, 2, with);
        check_phases("four phases of many sizes", four, 4, with);
    }
    check_phases("large objects after small ones", large, 2, 1);        /* pages of several threads are no neighbours */
    return tap_done();
}
