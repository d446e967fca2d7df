/* SPDX-License-Identifier: MIT */
/*
 * malloc and threads: blocks that others free, cancellation, fork among busy threads, and a storm on
 * one processor.
 */
#include <sched.h>
#include <stdatomic.h>

#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/threads.h"
#include "tests/malloc/conform.h"

enum { THREADS = 4, BUSY = 3, FORKS = 60, CANCELLED = 60, SLOTS = 256 };
enum { STORM_STEPS = 40000, FORK_SECONDS = 20 };

/* ---- blocks that others free ---- */

/* Its size is at the beginning of a block. */
struct block {
    size_t size;
    unsigned char rest[];
};

static struct block *_Atomic shared[SLOTS];

static struct block *make(uint64_t *state)
{
    uint32_t most = random_below(state, 50) == 0 ? 200000 : 600;
    size_t size = sizeof(struct block) + random_below(state, most);
    struct block *b = malloc(size);

    if (b == NULL) {
        atomic_fetch_add(&conform_wrong, 1);
        return NULL;
    }
    b->size = size;
    conform_fill(b->rest, size - sizeof *b, (unsigned)size);
    return b;
}

static void destroy(struct block *b)
{
    if (b != NULL && !conform_is_filled(b->rest, b->size - sizeof *b, (unsigned)b->size))
        atomic_fetch_add(&conform_wrong, 1);
    free(b);
}

/* Puts blocks into places that all threads have, and frees what was there. */
static void *storm(void *arg)
{
    uint64_t state = (uint64_t)(intptr_t)arg * 2 + 1;

    for (int step = 0; step < STORM_STEPS; step++)
        destroy(atomic_exchange(&shared[random_below(&state, SLOTS)], make(&state)));
    return NULL;
}

static bool storms_are_right(void)
{
    pthread_t thread[THREADS];

    atomic_store(&conform_wrong, 0);
    threads_start(thread, THREADS, storm);
    threads_join(thread, THREADS);
    for (int i = 0; i < SLOTS; i++)
        destroy(atomic_exchange(&shared[i], NULL));
    return atomic_load(&conform_wrong) == 0;
}

/* ---- cancellation ---- */

static atomic_int cleaned;

static void clean(void *block)
{
    conform_expect(conform_free(block, 1000, 3));
    atomic_fetch_add(&cleaned, 1);
}

static void *until_cancelled(void *arg)
{
    (void)arg;
    pthread_cleanup_push(clean, conform_new(1000, 3));
    for (;;) {
        free(conform_new(100, 4));
        pthread_testcancel();
    }
    pthread_cleanup_pop(1);
    return NULL;
}

static bool cancellation_is_right(void)
{
    atomic_store(&conform_wrong, 0);
    for (int i = 0; i < CANCELLED; i++) {
        pthread_t thread = thread_start(until_cancelled, NULL);
        void *result = NULL;

        if (i % 2 == 0)
            sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, &result);
        conform_expect(result == PTHREAD_CANCELED);
    }
    return atomic_load(&conform_wrong) == 0 && conform_work(5);
}

/* ---- fork ---- */

static atomic_bool stop;

static void *busy(void *arg)
{
    uint64_t state = (uint64_t)(intptr_t)arg * 2 + 101;

    while (!atomic_load(&stop))
        destroy(make(&state));
    return NULL;
}

/* A child that hangs is ended by its alarm. */
static bool child_works(int depth)
{
    pid_t child = child_begin();

    if (child == 0) {
        alarm(FORK_SECONDS);
        _exit(conform_work(6) && (depth == 0 || child_works(depth - 1)) ? 0 : 1);
    }
    return child_wait(child) == 0;
}

static bool forks_work(int forks, int depth)
{
    pthread_t thread[BUSY];
    bool right = true;

    atomic_store(&conform_wrong, 0);
    atomic_store(&stop, false);
    threads_start(thread, BUSY, busy);
    for (int i = 0; i < forks && right; i++)
        right = child_works(depth);
    atomic_store(&stop, true);
    threads_join(thread, BUSY);
    return right && atomic_load(&conform_wrong) == 0;
}

/* Handlers of the program's own that allocate, on both sides of a fork. */
static void *prepared;

static void before_fork(void)
{
    prepared = conform_new(500, 7);
}

static void after_fork(void)
{
    conform_expect(conform_free(prepared, 500, 7) && conform_work(8));
}

static void after_fork_in_child(void)
{
    if (!conform_free(prepared, 500, 7) || !conform_work(9))
        _exit(2);
}

/* ---- one processor ---- */

static bool one_processor_works(void)
{
    cpu_set_t all, one;
    bool right;

    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return false;
    right = storms_are_right();
    return sched_setaffinity(0, sizeof all, &all) == 0 && right;
}

int main(void)
{
    tap_plan(5);
    tap_ok(storms_are_right(), "threads free each other's blocks, and those of threads that are gone");
    tap_ok(cancellation_is_right(), "threads that are cancelled");
    tap_ok(forks_work(FORKS, 0), "in children of forks among busy threads");
    tap_ok(pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0 && forks_work(FORKS / 4, 2),
           "in handlers of pthread_atfork, and in children of children");
    tap_ok(one_processor_works(), "on one processor");
    return tap_done();
}
