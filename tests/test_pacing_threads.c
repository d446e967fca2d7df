/* SPDX-License-Identifier: MIT */
/* gc/pacing/pacing.c where several threads allocate or free. */
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

int main(void)
{
    white_init();
    test_freed_elsewhere();
    return tap_done();
}
