/* SPDX-License-Identifier: MIT */
/*
 * malloc/threads.c: caches of threads that end, what they do afterwards, forks, in the build that does not mark.
 */
#include <string.h>

#include "alloc/small/small.h"
#include "alloc/whole_heap.h"
#include "malloc/family.h"
#include "malloc/start.h"
#include "malloc/threads.h"
#include "tests/lib/child.h"
#include "tests/lib/tap.h"
#include "tests/lib/threads.h"

enum { TURNS = 50, BUSY = 3, ROUNDS = 4, FORKS = 20 };

/* ---- the end of a thread ---- */

static void *work(void *arg)
{
    void *block[64];

    for (int i = 0; i < 64; i++)
        block[i] = sgc_malloc((size_t)i * 37);
    for (int i = 0; i < 64; i++)
        sgc_free(block[i]);
    return arg;
}

static void test_records(void)
{
    uint32_t before;

    pthread_join(thread_start(work, NULL), NULL);
    before = sgc_a32_load(&sgc_cache_count);
    for (int i = 0; i < TURNS; i++)
        pthread_join(thread_start(work, NULL), NULL);
    tap_ok(sgc_a32_load(&sgc_cache_count) == before, "%d threads in turn have one cache", TURNS);
}

static pthread_key_t key;
static sgc_a32_t rounds, without, common;
static void *of_main;                   /* a block of the first thread's, freed by one that is over */

/* With the lock that it must not take. */
static void free_of_main(void)
{
    sgc_lock(&sgc_threads.common_lock, NULL);
    sgc_free(of_main);
    sgc_unlock(&sgc_threads.common_lock, NULL);
    of_main = NULL;
}

/* Called in each round; the cache goes in the second. */
static void late(void *value)
{
    void *block = sgc_malloc(100);
    uint32_t page = sgc_page_number((uintptr_t)block);

    sgc_a32_add(&rounds, 1);
    if (sgc_self == NULL) {
        sgc_a32_add(&without, 1);
        sgc_a32_add(&common, sgc_page_owner(page) == sgc_threads.common->cache.id);
        if (of_main != NULL)
            free_of_main();
    }
    sgc_free(value);
    if (sgc_a32_load(&rounds) < ROUNDS)
        pthread_setspecific(key, block);
    else
        sgc_free(block);
}

static void *end_late(void *arg)
{
    pthread_setspecific(key, sgc_malloc(10));
    return arg;
}

static void test_late(void)
{
    size_t granule;
    uint32_t over;

    of_main = sgc_malloc(48);
    granule = sgc_exact_granule(of_main);
    pthread_key_create(&key, late);
    pthread_join(thread_start(end_late, NULL), NULL);
    over = sgc_a32_load(&without);
    tap_ok(sgc_a32_load(&rounds) == ROUNDS && over >= 1 && sgc_a32_load(&common) == over,
           "a thread that is over allocates from the common cache (%u of %u rounds)", over, sgc_a32_load(&rounds));
    tap_ok(!sgc_lock_taken(&sgc_threads.common_lock), "whose lock is free again");
    tap_ok(of_main == NULL && sgc_remote_bit(granule), "and frees another's block without that lock");
    sgc_lock(&sgc_threads.common_lock, NULL);       /* a sanitizer takes the last destructors for
                                                     * unordered with the join */
    sgc_heap_check();
    sgc_unlock(&sgc_threads.common_lock, NULL);
}

/* ---- fork ---- */

static sgc_a32_t stop;

static void *busy(void *arg)
{
    while (sgc_a32_load(&stop) == 0)
        work(NULL);
    return arg;
}

static int count(const struct sgc_record *r)
{
    int n = 0;

    for (; r != NULL; r = r->next)
        n++;
    return n;
}

/* 0: right. */
static int settled(void)
{
    int wrong = count(sgc_threads.used) != 1 || count(sgc_threads.lost) != 0 || count(sgc_threads.unused) < BUSY;

    for (int i = 0; i < 2000; i++)
        work(NULL);
    sgc_heap_check();
    return wrong;
}

static int settle(void)
{
    int wrong = count(sgc_threads.used) != 1 || count(sgc_threads.lost) < BUSY;

    sgc_free(sgc_malloc(200000));
    return wrong + settled();
}

/* The fork in between does it. */
static int settle_later(void)
{
    return run_in_child(settled);
}

/* ThreadSanitizer ends a child that starts threads when its parent had several. */
static int in_child(void)
{
    int wrong = settle();

    if (!SGC_TSAN)
        pthread_join(thread_start(work, NULL), NULL);
    return wrong;
}

static int threads_with_caches(void)
{
    int n;

    sgc_lock(&sgc_threads.lock, NULL);
    n = count(sgc_threads.used);
    sgc_unlock(&sgc_threads.lock, NULL);
    return n;
}

static void test_forks(void)
{
    pthread_t thread[BUSY];
    int wrong = 0;

    threads_start(thread, BUSY, busy);
    while (threads_with_caches() < BUSY + 1)
        sgc_sleep_ns(1000000);
    for (int i = 0; i < FORKS; i++)
        wrong += run_in_child(in_child) != 0;
    tap_ok(wrong == 0, "a child closes the caches of busy threads, %d times", FORKS);
    child_ok(settle_later, "so does the child of a child that has not needed to");
    sgc_a32_store(&stop, 1);
    threads_join(thread, BUSY);
    sgc_heap_check();
}

int main(void)
{
    return tap_all(test_records, test_late, test_forks);
}
