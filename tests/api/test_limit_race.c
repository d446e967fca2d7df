/* SPDX-License-Identifier: MIT */
/*
 * Threads that allocate at the heap's limit while nearly everything is dead: nobody gets NULL because another thread was
 * faster to take what a collection freed.
 */
#include "api.h"
#include "../lib/sanitized.h"

enum { THREADS = 4, ROUNDS = TEST_SANITIZED ? 2000 : 20000 };

static void *allocate(void *size)
{
    long refused = 0;

    for (int i = 0; i < ROUNDS; i++) {
        char *object = GC_malloc_atomic((size_t)size);

        if (object == NULL)
            refused++;
        else
            *(volatile char *)object = 1;
    }
    return (void *)refused;
}

static long run(size_t size)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        thread[i] = api_start(allocate, (void *)size);
    return api_join_all(thread, THREADS);
}

int main(void)
{
    static const size_t sizes[] = { 2000, 20000, 32768, 65536, 200000 };

    setenv("GC_MAXIMUM_HEAP_SIZE", "32m", 1);
    setenv("SGC_PACING", "limit", 1);
    GC_INIT();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        long refused = run(sizes[i]);

        tap_ok(refused == 0, "%zu bytes: %ld of %d requests were refused", sizes[i], refused, THREADS * ROUNDS);
    }
    return tap_done();
}
