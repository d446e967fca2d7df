/* SPDX-License-Identifier: MIT */
/*
 * Programs with dates whose second phase has objects of another size than the first: with mode free the memory of the first
 * comes back for the second without a collection, so that the heap is about what the larger phase needs, and not the sum.
 *
 * Each phase has periods, with some MB of objects each; they have a date from the beginning and go at the tick.  Lazily an
 * operation takes some dates off, so objects of the second phase take off the dates of those of the first soon enough if they
 * are about as many.  If they are large and few, the program says SGC_expire between its phases, or a collection has to help,
 * and the heap may be larger for a while, but not by the sum.
 */
#define GC_THREADS

#include "gc/gc.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/threads.h"
#include "tests/unit/shortterm/shortterm.h"

enum {
    MB = 1 << 20,
    PERIOD = (SGC_SANITIZED ? 2 : 4) * MB,
    PERIODS = 6,
    THREADS_MAX = 4,
    WRONG = 100,                /* what a child returns that has no heap to tell: this and more */
    PARTS = 16,                 /* a child tells its heap in parts of a period of all threads */
};

struct sizes {
    size_t first, second;
};

/* How dates are taken off; of each, by how many hundredths the heap of both phases may be larger than that of one. */
static const struct way {
    const char *name;
    int collect;
    bool by_hand, collections;
    int more;
} ways[] = {
    { "eagerly", SGC_SHORTTERM_EAGER, false, false, 25 },
    { "lazily", SGC_SHORTTERM_LAZY, false, false, 25 },
    { "lazily, and SGC_expire between the phases", SGC_SHORTTERM_LAZY, true, false, 25 },
    { "lazily, with collections", SGC_SHORTTERM_LAZY, false, true, 200 },
};

static const struct sizes *sizes;
static const struct way *way;
static int flags, threads;
static size_t heap_most;                /* by one thread in each period */
static pthread_barrier_t barrier;       /* so that all threads have the objects of a period at the same time */

/* The objects of a period are a list, so that memory handed out twice shows. */
struct object {
    struct object *next;
    uintptr_t number;
};

static int one_period(size_t bytes)
{
    size_t n = PERIOD / bytes;
    struct object *list = NULL;

    for (size_t i = 0; i < n; i++) {
        struct object *object = SGC_malloc_dated(bytes, 0, flags);

        if (object == NULL)
            return 1;
        *object = (struct object){ list, i };
        list = object;
    }
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        heap_most = GC_get_heap_size() > heap_most ? GC_get_heap_size() : heap_most;
    for (; list != NULL; list = list->next)
        if (list->number != --n)
            return 1;
    return n != 0 || SGC_tick() != 0;
}

static int one_phase(size_t bytes)
{
    int wrong = 0;

    for (int i = 0; i < PERIODS; i++)
        wrong += one_period(bytes);
    return wrong;
}

static void *run(TEST_UNUSED void *arg)
{
    int wrong;

    wrong = one_phase(sizes->first);
    if (way->by_hand)
        SGC_expire(SIZE_MAX);
    return (void *)(intptr_t)(wrong + one_phase(sizes->second));
}

/* The most that the heap was, of a child. */
static int heap_after(void)
{
    pthread_t thread[THREADS_MAX];

    GC_INIT();
    if (!way->collections)
        GC_disable();
    choose(SGC_SHORTTERM_FREE, -1, way->collect, -1, -1);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++)
        thread[i] = thread_start(run, NULL);
    if (run(NULL) != NULL)
        return WRONG + 2;
    if (threads_sum(thread + 1, threads - 1) != 0)
        return WRONG + 3;
    if (!way->collections && GC_get_gc_no() != 0)
        return WRONG + 4;
    return (int)(heap_most / ((size_t)threads * PERIOD / PARTS));
}

static int heap_of(size_t first, size_t second)
{
    struct sizes wanted = { first, second };

    sizes = &wanted;
    return run_in_child(heap_after);
}

static void check(const struct sizes *s, const struct way *w, int by)
{
    int first, second, both, most;

    way = w;
    threads = by;
    first = heap_of(s->first, s->first);
    second = heap_of(s->second, s->second);
    both = heap_of(s->first, s->second);
    most = first > second ? first : second;
    tap_ok(first < WRONG && second < WRONG && both <= most + most * w->more / 100,
           "%zu, then %zu bytes, %s, threads: %d: the heap has %d/%d of a period; one size alone %d/%d and %d/%d",
           s->first, s->second, w->name, by, both, PARTS, first, PARTS, second, PARTS);
}

int main(void)
{
    static const struct sizes tried[] = { { 48, 64 }, { 500, 48 }, { 48, 500 }, { 64, 3000 }, { 200, 100000 } };
    enum { TRIED = sizeof tried / sizeof tried[0], MANY = 2, WAYS = sizeof ways / sizeof ways[0], LAZILY = 1 };

    tap_plan((TRIED * WAYS - (TRIED - MANY)) * 2);
    for (int by = 1; by <= THREADS_MAX; by += THREADS_MAX - 1)
        for (int i = 0; i < TRIED; i++) {
            flags = i % 2 == 0 ? 0 : SGC_SHORTTERM_ATOMIC;
            for (int w = 0; w < WAYS; w++)
                if (w != LAZILY || i < MANY)
                    check(&tried[i], &ways[w], by);
        }
    return tap_done();
}
