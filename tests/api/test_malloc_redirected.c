/* SPDX-License-Identifier: MIT */
/*
 * A program that defines malloc and its relatives by the collector's functions: what the collector's start, the registration
 * of a thread and the C library allocate comes back to the collector in the middle of that.
 *
 * Threads need uncollectable objects: the C library keeps addresses of what it allocates where a thread will be that is not
 * registered yet.
 */
#include "api.h"
#include "../lib/sanitized.h"

enum { ROUNDS = 100000, THREADS = 4, BATCHES = 5 };

#if !SGC_SANITIZED

void *malloc(size_t bytes)
{
    return GC_malloc_uncollectable(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return GC_malloc_uncollectable(count * bytes);
}

void *realloc(void *old, size_t bytes)
{
    return old != NULL ? GC_realloc(old, bytes) : GC_malloc_uncollectable(bytes);
}

void free(void *object)
{
    GC_free(object);
}

#endif

static char *early;

/* Before main, and before anybody has started the collector. */
__attribute__((constructor)) static void allocate_early(void)
{
    early = malloc(10);
    if (early != NULL)
        strcpy(early, "early");
}

static size_t work(void)
{
    size_t good = 0;

    for (int i = 0; i < ROUNDS; i++) {
        char *object = malloc(64);

        good += object != NULL && GC_base(object) == object;
        free(object);
    }
    return good;
}

static void *body(void *good)
{
    *(size_t *)good = work();
    return good;
}

static bool run_threads(void)
{
    pthread_t thread[THREADS];
    size_t good[THREADS] = { 0 };
    bool all = true;

    for (int i = 0; i < THREADS; i++)
        thread[i] = api_start(body, &good[i]);
    api_join_all(thread, THREADS);
    for (int i = 0; i < THREADS; i++)
        all = all && good[i] == ROUNDS;
    return all;
}

int main(void)
{
    bool all = true;
    char text[32];

    if (TEST_SANITIZED)
        tap_skip_all("a sanitizer has a malloc of its own");
    tap_ok(early != NULL && strcmp(early, "early") == 0 && GC_base(early) == early, "an object made before main");
    GC_INIT();
    snprintf(text, sizeof text, "%d", 4711);
    tap_ok(work() == ROUNDS && strcmp(text, "4711") == 0, "the first thread allocates and frees");
    for (int i = 0; i < BATCHES; i++)
        all = run_threads() && all;
    tap_ok(all, "so do threads that the collector creates");
    GC_gcollect();
    tap_ok(GC_get_gc_no() > 0, "and collections are made");
    return tap_done();
}
