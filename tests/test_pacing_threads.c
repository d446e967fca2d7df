/* SPDX-License-Identifier: MIT */
/* gc/pacing/pacing.c where several threads allocate or free. */
#include "tests/child.h"
#include "tests/pacing.h"

/* ---- explicit frees ---- */

/* One thread allocates, another frees, through a ring; the one that frees never comes by the slow path. */
enum { RING = 64 };

static struct {
    sgc_aw_t slot[RING];
    sgc_a32_t over, ready;
} ring;

static void *free_all(void *unused)
{
    struct sgc_mutator *self = sgc_mutator_register(0);

    (void)unused;
    sgc_a32_store_rel(&ring.ready, 1);
    while (sgc_a32_load_acq(&ring.over) == 0)
        for (int i = 0; i < RING; i++) {
            void *object = (void *)sgc_aw_load_acq(&ring.slot[i]);

            if (object != NULL) {
                sgc_object_free(sgc_self, object);
                sgc_aw_store_rel(&ring.slot[i], 0);
            }
        }
    sgc_mutator_unregister(self);
    return NULL;
}

static void test_freed_elsewhere(void)
{
    pthread_t thread;
    uint64_t before;

    white_collect();
    thread = white_start(free_all, NULL);
    tap_ok(white_reached(&ring.ready, 1), "a thread that frees is there");
    before = sgc_cycles_finished();
    for (size_t i = 0; i < (64 << 10) && sgc_cycles_finished() == before; i++) {
        while (sgc_aw_load_acq(&ring.slot[i % RING]) != 0)
            sgc_yield();
        sgc_aw_store_rel(&ring.slot[i % RING], (uintptr_t)sgc_allocate(1000, WHITE_KIND));
    }
    tap_ok(sgc_cycles_finished() == before, "what another thread frees is not collected for either");
    sgc_a32_store_rel(&ring.over, 1);
    white_join(thread);
    white_collect();
    tap_ok(sgc_pacing_freed_since() < (size_t)1 << 20, "nor does it count for the time after the next collection");
}

/* ---- caches: each thread that allocates has those of a processor ---- */

static void allocate_megabyte(void)
{
    for (int i = 0; i < 1000; i++)
        sgc_allocate(1000, WHITE_KIND);
}

static void *allocate_some(void *unused)
{
    struct sgc_mutator *self = sgc_mutator_register(0);

    (void)unused;
    allocate_megabyte();
    tap_ok(sgc_a32_load(&self->allocates) == 1, "a thread that allocates is known as one");
    white_collect();
    tap_ok(sgc_a32_load(&self->allocates) == 0, "until the next collection");
    sgc_allocate(1000, WHITE_KIND);
    tap_ok(sgc_a32_load(&self->allocates) == 0, "and a single object does not make it one");
    sgc_mutator_unregister(self);
    return NULL;
}

static void test_threads(void)
{
    white_collect();
    white_join(white_start(allocate_some, NULL));
}

static sgc_a32_t allocated, enough;

static void *allocate_and_stay(void *unused)
{
    struct sgc_mutator *self = sgc_mutator_register(0);

    (void)unused;
    allocate_megabyte();
    sgc_a32_store_rel(&allocated, 1);
    while (sgc_a32_load_acq(&enough) == 0)
        sgc_yield();
    sgc_mutator_unregister(self);
    return NULL;
}

/* After a cycle that found as many threads as have allocated since the last one, and others that cost next to nothing. */
static size_t budget_when_cheap(void)
{
    allocate_megabyte();
    white_collect();
    pretend_cycles(1, 0, 0);
    return until_collection(1000, false);
}

static size_t budget_beside_another(void)
{
    pthread_t other = white_start(allocate_and_stay, NULL);
    size_t budget = white_reached(&allocated, 1) ? budget_when_cheap() : 0;

    sgc_a32_store_rel(&enough, 1);
    white_join(other);
    return budget;
}

static int double_below_named_limit(void)
{
    size_t alone;

    setenv("GC_MAXIMUM_HEAP_SIZE", "200m", 1);
    white_init();
    alone = budget_when_cheap();
    return budget_beside_another() >= alone / 4 * 7 ? 0 : 1;
}

static int no_more_without(void)
{
    white_init();
    budget_when_cheap();
    return budget_beside_another() <= (size_t)9 << 20 ? 0 : 1;
}

static void test_caches(void)
{
    if (sgc_limit_cpus() < 2)
        tap_skip("one processor");
    else
        tap_ok(run_in_child(double_below_named_limit) == 0, "in the heap the user has named two threads have twice the caches");
    tap_ok(run_in_child(no_more_without) == 0, "else no more than a few megabytes in all");
}

int main(void)
{
    test_caches();
    white_init();
    test_freed_elsewhere();
    test_threads();
    return tap_done();
}
