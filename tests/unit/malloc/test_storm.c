/* SPDX-License-Identifier: MIT */
/*
 * Storms on the malloc of malloc/: threads put blocks into places that all of them have and free
 * what was there, whoever allocated it.  Contents are checked; and by addresses, whose blocks lie in
 * a page.
 */
#include <string.h>
#include <unistd.h>

#include "alloc/whole_heap.h"
#include "malloc/family.h"
#include "tests/lib/child.h"
#include "tests/lib/random.h"
#include "tests/lib/sanitized.h"
#include "tests/lib/tap.h"
#include "tests/lib/threads.h"

enum { THREADS = 4, SLOTS = 512, SMALL = 900, MIDDLE = 20000, LARGE = 300000, PAGES = 1 << 14, HANG_SECONDS = 120 };
enum { STEPS = SGC_TSAN ? 20000 : 200000, ENDS = SGC_TSAN ? 8 : 40, STEPS_TO_END = SGC_TSAN ? 2000 : 10000 };
enum { ONE_MIDDLE_IN = 20, ONE_LARGE_IN = 500, ONE_FORK_IN = 4000 };

/* ---- blocks ---- */

/* Its size is at the beginning of a block, and decides what lies in the rest. */
struct block {
    size_t bytes;
    unsigned char rest[];
};

static sgc_aw_t shared[SLOTS];
static sgc_a32_t wrong;

static void expect(bool right)
{
    if (!right)
        sgc_a32_add(&wrong, 1);
}

static uint32_t most_bytes(uint64_t *state, bool large)
{
    if (large && random_below(state, ONE_LARGE_IN) == 0)
        return LARGE;
    return random_below(state, ONE_MIDDLE_IN) == 0 ? MIDDLE : SMALL;
}

static struct block *make(uint64_t *state, bool large)
{
    size_t bytes = sizeof(struct block) + random_below(state, most_bytes(state, large));
    struct block *block = sgc_malloc(bytes);

    block->bytes = bytes;
    memset(block->rest, (int)(bytes % 251), bytes - sizeof *block);
    return block;
}

/* The first and the last bytes, and some in between. */
static bool is_whole(const struct block *block)
{
    size_t n = block->bytes - sizeof *block, stride = n / 64 + 1;
    bool whole = n == 0 || block->rest[n - 1] == block->bytes % 251;

    for (size_t i = 0; i < n; i += stride)
        whole = whole && block->rest[i] == block->bytes % 251;
    return whole;
}

static void destroy(struct block *block)
{
    if (block == NULL)
        return;
    expect(is_whole(block));
    block->bytes = 0;
    sgc_free(block);
}

static struct block *put(uint64_t *state, struct block *block)
{
    return (struct block *)sgc_aw_swap(&shared[random_below(state, SLOTS)], (uintptr_t)block);
}

static void destroy_all(void)
{
    for (int i = 0; i < SLOTS; i++)
        destroy((struct block *)sgc_aw_swap(&shared[i], 0));
}

static uint64_t state_of(const void *arg)
{
    return (uint64_t)(uintptr_t)arg * 7919 + 1;
}

/* ---- whose blocks lie in a page ----
 *
 * The first block that a thread gets in a page stays, so that the page is never empty, and never
 * another thread's.  So all blocks there are that thread's: no cache line has blocks of two, and
 * what others free there is not handed out by them. */

static sgc_a32_t owner[PAGES];     /* the thread, from 1; the heap stays smaller */
static sgc_a32_t owned;
static pthread_barrier_t all_done;      /* the pages of a thread that ends are anybody's */

/* Does the block stay, being the first? */
static bool claims(uint32_t thread, const struct block *block)
{
    uint32_t number = sgc_page_number((uintptr_t)block);
    sgc_a32_t *page = &owner[number];

    sgc_verify(number < PAGES);
    if (sgc_a32_cas(page, 0, thread)) {
        sgc_a32_add(&owned, 1);
        return true;
    }
    expect(sgc_a32_load(page) == thread);
    return false;
}

static void *storm(void *arg)
{
    uint64_t state = state_of(arg);

    for (int step = 0; step < STEPS; step++) {
        struct block *block = make(&state, false);

        if (!claims((uint32_t)(uintptr_t)arg + 1, block))
            destroy(put(&state, block));
    }
    pthread_barrier_wait(&all_done);
    return NULL;
}

static void test_pages(void)
{
    pthread_t thread[THREADS];

    pthread_barrier_init(&all_done, NULL, THREADS);
    threads_start(thread, THREADS, storm);
    threads_join(thread, THREADS);
    tap_ok(sgc_a32_load(&wrong) == 0 && sgc_a32_load(&owned) >= 2 * THREADS,
           "in a storm each of %u pages has blocks of one thread alone, and all are whole", sgc_a32_load(&owned));
    destroy_all();
    sgc_heap_check();
}

/* ---- threads that end, are cancelled, and fork ---- */

/* AddressSanitizer takes the frames that a cancelled thread leaves for living ones. */
enum { CANCELS = !TEST_SANITIZED || SGC_TSAN };

/* All blocks that were published are there and whole. */
static int in_child(void)
{
    uint64_t state = 3;

    alarm(HANG_SECONDS);
    destroy_all();
    for (int i = 0; i < 200; i++)
        destroy(put(&state, make(&state, true)));
    destroy_all();
    sgc_heap_check();
    return sgc_a32_load(&wrong) != 0;
}

static void fork_once(void)
{
    int old;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    expect(run_in_child(in_child) == 0);
    pthread_setcancelstate(old, &old);
}

/* With nothing in its hands where it may be cancelled. */
static void *storm_to_end(void *arg)
{
    uint64_t state = state_of(arg);

    for (int step = 0; step < STEPS_TO_END; step++) {
        pthread_testcancel();
        destroy(put(&state, make(&state, true)));
        if (random_below(&state, ONE_FORK_IN) == 0)
            fork_once();
    }
    pthread_exit(NULL);
}

static void test_ends(void)
{
    pthread_t thread[THREADS];
    int cancelled = 0;

    sgc_a32_store(&wrong, 0);
    for (intptr_t round = 0; round < ENDS; round++) {
        for (intptr_t i = 0; i < THREADS; i++)
            thread[i] = thread_start(storm_to_end, (void *)(round * THREADS + i));
        sgc_sleep_ns((uint64_t)(round % 8) * 1000000);
        if (CANCELS)
            pthread_cancel(thread[round % THREADS]);
        for (int i = 0; i < THREADS; i++) {
            void *result = NULL;

            pthread_join(thread[i], &result);
            cancelled += result == PTHREAD_CANCELED;
        }
    }
    destroy_all();
    sgc_heap_check();
    tap_ok(sgc_a32_load(&wrong) == 0, "blocks stay whole among threads that end, are cancelled (%d of %d) and fork", cancelled,
           ENDS * THREADS);
}

int main(void)
{
    return tap_all(test_pages, test_ends);
}
