/* SPDX-License-Identifier: MIT */
/*
 * malloc/give_back.c: what goes back to the system, and when, in the build that does not mark.  The test's own malloc is this
 * one, too: figures are taken between calls that print.
 */
#include <string.h>
#include <sys/mman.h>

#include "alloc/pages/pool.h"
#include "alloc/small/orphan.h"
#include "alloc/whole_heap.h"
#include "malloc/family.h"
#include "malloc/options.h"
#include "platform/platform.h"
#include "tests/lib/child.h"
#include "tests/lib/tap.h"
#include "tests/lib/threads.h"

enum { BLOCKS = 6000, SIZES = 40, STRIDE = 7 };

static void *block[BLOCKS];

static size_t size_of(int i)
{
    return 24 + (size_t)(i % SIZES) * 100;
}

static void *fill(void *arg)
{
    for (int i = 0; i < BLOCKS; i++)
        block[i] = memset(sgc_malloc(size_of(i)), 1, size_of(i));
    return arg;
}

/* Every STRIDE-th of them, in an order that is not that of their addresses. */
static void *drop(void *arg)
{
    for (int i = (int)(intptr_t)arg; i < BLOCKS; i += STRIDE)
        sgc_free(block[i]);
    return NULL;
}

static void drop_all(void)
{
    for (intptr_t from = 0; from < STRIDE; from++)
        drop((void *)from);
}

/* ---- threads that end, when no thread frees anything any more ---- */

enum { ENDING = 6, EACH = 24000, FREED_EACH = 5000, BYTES_EACH = 1008 };
static pthread_barrier_t all_ready;
static sgc_a32_t may_end;                     /* so many */
static void *each[ENDING][EACH];

/* The first frees make the bin look for empty pages, and a fourth of what lives may wait in its list
 * then.  So a thread has many empty pages at hand as it ends. */
static void *end_with_lists(void *arg)
{
    void **mine = each[(intptr_t)arg];

    for (int i = 0; i < EACH; i++)
        mine[i] = memset(sgc_malloc(BYTES_EACH), 1, BYTES_EACH);
    pthread_barrier_wait(&all_ready);
    for (int i = 0; i < FREED_EACH; i++)
        sgc_free(mine[i]);
    pthread_barrier_wait(&all_ready);
    while (sgc_a32_load_acq(&may_end) <= (uint32_t)(intptr_t)arg)
        sgc_sleep_ns(1000000);
    return arg;
}

/* Before the others, since nothing has been taken again yet; they end one after the other, since what one
 * takes out of its lists while another discards looks like memory that was taken again. */
static void test_ends(void)
{
    pthread_t thread[ENDING];
    size_t with, left;

    pthread_barrier_init(&all_ready, NULL, ENDING + 1);
    threads_start(thread, ENDING, end_with_lists);
    pthread_barrier_wait(&all_ready);
    pthread_barrier_wait(&all_ready);
    with = sgc_pool_in_use_bytes();
    for (uint32_t t = 0; t < ENDING; t++) {
        sgc_a32_store_rel(&may_end, t + 1);
        pthread_join(thread[t], NULL);
    }
    left = sgc_pool_in_use_bytes();
    tap_ok(left + (20 << 20) < with && sgc_pool_used_bytes() <= left / 8 + (1 << 20),
           "what %d threads have at hand as they end goes, and the pool keeps what it may (%zu KB, then %zu, and %zu KB free)",
           ENDING, with >> 10, left >> 10, sgc_pool_used_bytes() >> 10);
    for (int t = 0; t < ENDING; t++)
        for (int i = FREED_EACH; i < EACH; i++)
            sgc_free(each[t][i]);
}

/* ---- what ended threads have left behind ---- */

static void test_left_behind(void)
{
    size_t before = sgc_pool_in_use_bytes(), with, after;

    pthread_join(thread_start(fill, NULL), NULL);
    with = sgc_pool_in_use_bytes();
    drop_all();
    after = sgc_pool_in_use_bytes();
    sgc_heap_check();
    tap_ok(with > before + 8 * SGC_PAGE && after <= before + SGC_PAGE,
           "pages of a thread that has ended go back with the last block freed there (%zu KB, then %zu KB more)",
           (with - before) >> 10, (after - before) >> 10);
}

/* Two threads that free the last blocks of a page at once may leave it to the next that takes a slow
 * path for pages; few do. */
static void test_two_free(void)
{
    size_t before = sgc_pool_in_use_bytes(), after;
    pthread_t thread[STRIDE];

    pthread_join(thread_start(fill, NULL), NULL);
    threads_start(thread, STRIDE, drop);
    threads_join(thread, STRIDE);
    after = sgc_pool_in_use_bytes();
    sgc_heap_check();
    tap_ok(after <= before + 8 * SGC_PAGE, "so they do when several threads free there at once (%zd KB more)",
           (ssize_t)(after - before) / 1024);
}

/* ---- what a thread that has ended had at hand ---- */

/* Keeps the heap's lists short: what it frees last is what its bins keep. */
static void *burst(void *arg)
{
    fill(NULL);
    drop_all();
    return arg;
}

static void test_end(void)
{
    size_t before = sgc_pool_in_use_bytes();

    pthread_join(thread_start(burst, NULL), NULL);
    tap_ok(sgc_pool_in_use_bytes() <= before + SGC_PAGE, "a thread that ends leaves no page in use");
}

/* ---- age ---- */

enum { LARGE = 100000, WAIT_NS = 600000000, STEP_NS = 15000000, STEPS = 30 };

/* Nothing else happens than frees of a large block now and then. */
static void test_age(void)
{
    void *all[40];
    size_t kept;

    for (int i = 0; i < 40; i++)
        all[i] = memset(sgc_malloc(LARGE), 1, LARGE);
    for (int i = 0; i < 40; i++)
        sgc_free(all[i]);
    kept = sgc_pool_used_bytes();
    sgc_sleep_ns(WAIT_NS);
    for (int i = 0; i < STEPS; i++) {
        sgc_sleep_ns(STEP_NS);
        sgc_free(sgc_malloc(LARGE));
    }
    tap_ok(kept > 16 * SGC_PAGE && sgc_pool_used_bytes() <= kept / 4,
           "pages that nobody takes go back, below the bound, too (%zu KB, then %zu KB)", kept >> 10,
           sgc_pool_used_bytes() >> 10);
}

/* ---- large blocks ---- */

static void test_shrunk(void)
{
    enum { BYTES = 64 << 20 };
    char *large = memset(sgc_malloc(BYTES), 1, BYTES);

    large = sgc_realloc(large, LARGE);
    tap_ok(sgc_pool_used_bytes() <= 10 << 20, "what realloc gives up goes back (%zu KB are left)",
           sgc_pool_used_bytes() >> 10);
    sgc_free(large);
}

enum { IDLE = 4, LARGES = 20 };
static sgc_a32_t waiting, over;

static void *wait_idle(void *arg)
{
    void *all[LARGES];

    for (int i = 0; i < LARGES; i++)
        all[i] = sgc_malloc(3 * LARGE);
    for (int i = 0; i < LARGES; i++)
        sgc_free(all[i]);
    sgc_a32_add(&waiting, 1);
    while (sgc_a32_load(&over) == 0)
        sgc_sleep_ns(1000000);
    return arg;
}

static void test_idle(void)
{
    size_t before = sgc_pool_in_use_bytes();
    pthread_t thread[IDLE];

    threads_start(thread, IDLE, wait_idle);
    while (sgc_a32_load(&waiting) < IDLE)
        sgc_sleep_ns(1000000);
    tap_ok(sgc_pool_in_use_bytes() <= before + IDLE * ((1 << 20) + 4 * SGC_PAGE),
           "an idle thread keeps 1 MB in large blocks at most (%d keep %zu KB)", IDLE,
           (sgc_pool_in_use_bytes() - before) >> 10);
    sgc_a32_store(&over, 1);
    threads_join(thread, IDLE);
}

/* ---- pages that their owner gives up while they wait in its inbox ---- */

enum { MANY = 20000, BYTES = 240, PER_PAGE = SGC_PAGE / BYTES };

static void *many[MANY];
static pthread_barrier_t next_step, last_step;

static void fill_many(void)
{
    for (int i = 0; i < MANY; i++)
        many[i] = sgc_malloc(BYTES);
}

/* Another thread frees some blocks of each page, this one the others; then it is idle. */
static void *first_owner(void *arg)
{
    fill_many();
    pthread_barrier_wait(&next_step);
    pthread_barrier_wait(&next_step);
    for (int i = 0; i < MANY; i++)
        if (i % (PER_PAGE / 2) != 0)
            sgc_free(many[i]);
    sgc_malloc_trim(0);
    pthread_barrier_wait(&next_step);
    pthread_barrier_wait(&last_step);
    return arg;
}

static size_t in_use[2];

/* Another thread frees all; then this one needs as much again. */
static void *second_owner(void *arg)
{
    for (int i = 0; i < 2; i++) {
        fill_many();
        in_use[i] = sgc_pool_in_use_bytes();
        pthread_barrier_wait(&next_step);
        pthread_barrier_wait(&next_step);
    }
    return arg;
}

static void test_inboxes(void)
{
    pthread_t first, second;

    pthread_barrier_init(&next_step, NULL, 2);
    pthread_barrier_init(&last_step, NULL, 2);
    first = thread_start(first_owner, NULL);
    pthread_barrier_wait(&next_step);
    for (int i = 0; i < MANY; i += PER_PAGE / 2)
        sgc_free(many[i]);
    pthread_barrier_wait(&next_step);
    pthread_barrier_wait(&next_step);
    second = thread_start(second_owner, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_barrier_wait(&next_step);
        for (int k = 0; k < MANY; k++)
            sgc_free(many[k]);
        pthread_barrier_wait(&next_step);
    }
    pthread_join(second, NULL);
    pthread_barrier_wait(&last_step);
    pthread_join(first, NULL);
    tap_ok(in_use[1] <= in_use[0] + in_use[0] / 2,
           "the next owner of a page hears of what others free there (%zu KB, then %zu KB)", in_use[0] >> 10, in_use[1] >> 10);
}

/* ---- malloc_trim ---- */

/* Freed slots at hand, a page that another thread has freed in, large blocks and free pages. */
static void test_trim(void)
{
    size_t before, with, after;
    int went;

    sgc_malloc_trim(0);
    before = sgc_pool_in_use_bytes();
    pthread_join(thread_start(fill, NULL), NULL);
    drop_all();
    fill(NULL);
    drop_all();
    sgc_free(memset(sgc_malloc(LARGE), 1, LARGE));
    with = sgc_pool_heap_bytes();
    went = sgc_malloc_trim(0);
    after = sgc_pool_heap_bytes();
    tap_ok(with > before + 16 * SGC_PAGE && went == 1 && after <= before + 2 * SGC_PAGE,
           "malloc_trim gives all back that the calling thread and ended ones have (%zu KB, %zu KB, %zu KB)", before >> 10,
           with >> 10, after >> 10);
    sgc_malloc_trim(0);
    tap_ok(sgc_malloc_trim(0) == 0, "and says so when there is nothing");
    sgc_heap_check();
}

/* ---- what the system does not take ---- */

enum { LOCKED_ARENAS = 8, LOCKED_BYTES = LOCKED_ARENAS << 22, HANG_SECONDS = 20 };

static uint64_t freed_at[LOCKED_ARENAS];

/* How many of the arenas have been tried since the last call. */
static int count_tried(const char *first)
{
    int tried = 0;

    for (uint32_t i = 0; i < LOCKED_ARENAS; i++) {
        uint64_t at = sgc_heap.arenas[sgc_page_number((uintptr_t)first + i * SGC_ARENA) / SGC_ARENA_PAGES].freed_at;

        tried += at != freed_at[i];
        freed_at[i] = at;
    }
    return tried;
}

/* A freed block, of which each arena has a locked page; NULL: it cannot be. */
static char *new_locked(void)
{
    char *p = sgc_malloc(LOCKED_BYTES), *q = sgc_malloc(LOCKED_BYTES);

    memset(p, 1, LOCKED_BYTES);
    memset(q, 1, LOCKED_BYTES);
    for (size_t at = 0; at < LOCKED_BYTES; at += SGC_ARENA)
        if (mlock(p + at, 1) != 0)
            return NULL;
    alarm(HANG_SECONDS);
    sgc_free(q);
    sgc_free(p);
    count_tried(p);
    return p;
}

/* However slow the machine is, it is too early to try again before the memory is unlocked. */
static int free_locked(void)
{
    int usual = sgc_malloc_options.decay_ms, tried = 0;
    char *p;

    sgc_malloc_options.decay_ms = 3600000;
    p = new_locked();
    if (p == NULL)
        return CHILD_SKIPS;
    for (int i = 0; i < 10; i++) {
        sgc_free(sgc_malloc(LARGE));
        tried += count_tried(p);
    }
    if (tried > 4)
        return 1;
    sgc_malloc_options.decay_ms = usual;
    munlockall();
    sgc_sleep_ns(WAIT_NS);
    for (int i = 0; i < 4; i++) {
        sgc_sleep_ns(STEP_NS);
        sgc_free(sgc_malloc(LARGE));
    }
    return sgc_pool_used_bytes() <= 10 << 20 ? 0 : 2;
}

/* A tick may try one arena.  All are tried each half second at most. */
static int free_locked_at_0(void)
{
    uint64_t begin = sgc_clock_ns(), passes = 0;
    char *p;

    sgc_malloc_options.decay_ms = 0;
    p = new_locked();
    if (p == NULL)
        return CHILD_SKIPS;
    for (int i = 0; i < 10; i++) {
        sgc_sleep_ns(STEP_NS);
        sgc_free(sgc_malloc(LARGE));
        passes += count_tried(p) > 2;
    }
    return passes <= (sgc_clock_ns() - begin) / (WAIT_NS / 2) ? 0 : 1;
}

/* The child of a fork, since locks are the process's; before memory is taken again. */
static void test_locked(void)
{
    child_ok(free_locked_at_0, "locked memory is not tried more often where free memory goes at once");
    child_ok(free_locked, "locked memory is kept, not tried again by each free, and goes when it is unlocked");
}

/* ---- another thread frees meanwhile ---- */

enum { MEANWHILE = 64 << 20 };

static sgc_a32_t may_free, has_freed;
static _Thread_local bool gives_back;

static void *free_meanwhile(void *arg)
{
    while (sgc_a32_load_acq(&may_free) == 0)
        sgc_sleep_ns(100000);
    sgc_free(arg);
    sgc_a32_store_rel(&has_freed, 1);
    return arg;
}

/* The first pages that this thread gives back are on their way. */
static void wait_for_free(void)
{
    if (!gives_back || sgc_pool.discarding == 0)
        return;
    sgc_a32_store_rel(&may_free, 1);
    while (sgc_a32_load_acq(&has_freed) == 0)
        sgc_sleep_ns(100000);
}

static int free_beside(void)
{
    void *mine = memset(sgc_malloc(MEANWHILE), 1, MEANWHILE);
    void *anothers = memset(sgc_malloc(MEANWHILE), 1, MEANWHILE);
    pthread_t thread = thread_start(free_meanwhile, anothers);

    alarm(HANG_SECONDS);
    gives_back = true;
    sgc_section_hooks.seam = wait_for_free;
    sgc_free(mine);
    sgc_section_hooks.seam = NULL;
    pthread_join(thread, NULL);
    return sgc_pool_used_bytes() <= 10 << 20 ? 0 : 1;
}

static void test_beside(void)
{
    child_ok(free_beside, "what another thread frees during a pass does not look like locked memory");
}

int main(void)
{
    return tap_all(test_locked, test_beside, test_ends, test_left_behind, test_two_free, test_end, test_age, test_shrunk,
                   test_idle, test_inboxes, test_trim);
}
