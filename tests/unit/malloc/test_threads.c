/* SPDX-License-Identifier: MIT */
/*
 * malloc/threads.c: caches of threads that end, what they do afterwards, forks, in the build that does not mark.
 */
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc/small/small.h"
#include "alloc/whole_heap.h"
#include "malloc/family.h"
#include "malloc/start.h"
#include "malloc/threads.h"
#include "tests/lib/child.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/tap.h"
#include "tests/lib/threads.h"

enum { TURNS = 50, LOST_TURNS = 2000, DYING = 16, BUSY = 3, ROUNDS = 4, FORKS = 20, NESTED = 3, HANG_SECONDS = 60 };

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

/* ---- threads whose destructor does not come ---- */

static pthread_key_t late_key;

/* The first call of the thread comes when no round follows. */
static void count_rounds(void *value)
{
    uintptr_t round = (uintptr_t)value;

    if (round < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(late_key, (void *)(round + 1));
    else
        work(NULL);
}

static void *begin_late(void *arg)
{
    sgc_verify(sgc_self == NULL);
    pthread_setspecific(late_key, (void *)1);
    return arg;
}

/* With slots at hand, a span, and pages of its own. */
static void *end_raw(void *arg)
{
    work(arg);
    sgc_free(sgc_malloc(200000));
    syscall(SYS_exit, 0);
    return arg;
}

/* The system knows a thread for some moments after it has been joined. */
static void test_lost_threads(void *(*body)(void *), const char *name)
{
    uint32_t before = sgc_a32_load(&sgc_cache_count);

    for (int i = 0; i < LOST_TURNS; i++)
        pthread_join(thread_start(body, NULL), NULL);
    tap_ok(sgc_a32_load(&sgc_cache_count) <= before + DYING, "%s leave few caches: %u more after %d in turn", name,
           sgc_a32_load(&sgc_cache_count) - before, LOST_TURNS);
    sgc_heap_check();
}

static void test_lost(void)
{
    if (TEST_SANITIZED) {
        tap_skip("its threads end as a sanitizer expects them to");
        return;
    }
    pthread_key_create(&late_key, count_rounds);
    test_lost_threads(begin_late, "threads whose first call comes in the last round of destructors");
    test_lost_threads(end_raw, "threads that end by the system call");
}

/* ---- fork ---- */

static sgc_a32_t stop;

static void *busy(void *arg)
{
    while (sgc_a32_load(&stop) == 0)
        work(NULL);
    return arg;
}

/* Records that are some thread's. */
static int used(void)
{
    uint32_t caches = sgc_a32_load(&sgc_cache_count);
    int n = 0;

    for (uint32_t id = 1; id < caches; id++)
        n += sgc_record_of(id)->thread != 0;
    return n;
}

static int unused(void)
{
    int n = 0;

    for (const struct sgc_record *r = sgc_threads.unused; r != NULL; r = r->next)
        n++;
    return n;
}

/* 0: right. */
static int settled(void)
{
    int wrong = used() != 1 || unused() < BUSY;

    for (int i = 0; i < 2000; i++)
        work(NULL);
    sgc_heap_check();
    return wrong;
}

static int settle(void)
{
    int wrong = used() < BUSY + 1;

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
    n = used();
    sgc_unlock(&sgc_threads.lock, NULL);
    return n;
}

/* As by a handler that has interrupted a checked free, which goes on in the child. */
static int fork_in_block(void)
{
    pid_t child;

    sgc_inside_begin(SGC_INSIDE_BLOCK);
    child = fork();
    if (child == 0 && sgc_lock_taken(sgc_self->lock))     /* the block needs it next */
        _exit(9);
    sgc_inside_end(SGC_INSIDE_BLOCK);
    if (child == 0)
        _exit(settled());
    return child_wait(child);
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
    tap_ok(fork_in_block() == 0, "and one of a fork in the midst of a checked block");
    sgc_a32_store(&stop, 1);
    threads_join(thread, BUSY);
    sgc_heap_check();
}

/* ---- forks in forks ----
 *
 * Handlers of pthread_atfork that are registered before the malloc's own run while that has all
 * locks. */

static bool nests;
static int nested;

/* Its child goes on with the fork that it is in, unless it ends. */
static void fork_inside(void)
{
    pid_t inner;

    if (!nests)
        return;
    nests = false;
    inner = child_begin();
    if (inner == 0)
        _exit((alarm(HANG_SECONDS), settle()));
    nested += child_wait(inner) == 0;
    nests = true;
}

static void register_early(void)
{
    pthread_atfork(fork_inside, fork_inside, fork_inside);
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = register_early;

/* Each fork has one in each of its two handlers in the parent, and its child one more. */
static int fork_in_forks(void)
{
    pthread_t thread[BUSY];

    alarm(HANG_SECONDS);
    sgc_a32_store(&stop, 0);
    threads_start(thread, BUSY, busy);
    while (threads_with_caches() < BUSY + 1)
        sgc_sleep_ns(1000000);
    nests = true;
    for (int i = 0; i < NESTED; i++) {
        pid_t outer = fork();

        if (outer == 0)
            _exit((nested != 2 * i + 2) + settle());
        if (child_wait(outer) != 0)
            return 1;
    }
    nests = false;
    sgc_a32_store(&stop, 1);
    threads_join(thread, BUSY);
    return nested == 2 * NESTED ? 0 : 2;
}

static void test_nested(void)
{
    if (SGC_TSAN)
        tap_skip("its children start no threads");
    else
        child_ok(fork_in_forks, "forks in handlers of forks that are under way");
}

int main(void)
{
    return tap_all(test_records, test_late, test_lost, test_forks, test_nested);
}
