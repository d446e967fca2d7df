/* SPDX-License-Identifier: MIT */
/*
 * gc/pacing.c: when a collection is due.
 */
#include "gc/pacing.h"
#include "alloc/free.h"
#include "tests/white.h"

static void **live;                 /* static data */

/* Bytes that can be allocated until a collection happens by itself. */
static size_t until_collection(size_t bytes, bool freeing)
{
    uint64_t before = sgc_cycles_finished();
    size_t sum = 0;

    while (sgc_cycles_finished() == before && sum < (size_t)256 << 20) {
        void *object = sgc_allocate(bytes, WHITE_KIND);
        sum += bytes;
        if (freeing)
            sgc_object_free(sgc_self, object);
    }
    return sum;
}

static void make_live(size_t mb)
{
    live = sgc_allocate((mb << 10) * sizeof *live, WHITE_KIND);
    for (size_t i = 0; i < mb << 10; i++)
        live[i] = sgc_allocate(1000, WHITE_KIND);
    white_collect();
}

static size_t mb(size_t bytes)
{
    return bytes >> 20;
}

static void test_budget(void)
{
    size_t small, large;

    white_collect();
    small = until_collection(1000, false);
    tap_ok(mb(small) >= 2 && mb(small) <= 8, "an almost empty heap collects after some megabytes (%zu)", mb(small));
    make_live(40);
    large = until_collection(1000, false);
    tap_ok(mb(large) >= 25 && mb(large) <= 60, "40 MB of live data: after about as much (%zu)", mb(large));
    tap_ok(sgc_pacing_live() >= (size_t)40 << 20, "the last cycle's live bytes are known (%zu)", mb(sgc_pacing_live()));
    tap_ok(until_collection(100000, false) > (size_t)20 << 20, "large objects count as well");
    live = NULL;
    white_collect();
}

static void test_freed(void)
{
    size_t sum = until_collection(1000, true);

    tap_ok(sum >= (size_t)256 << 20, "a program that frees what it allocates is not collected");
    sum = until_collection(100000, true);
    tap_ok(sum >= (size_t)256 << 20, "large objects likewise");
}

static void test_settings(void)
{
    size_t sum;

    white_collect();
    sgc_pacing_allow((size_t)50 << 20);
    sum = until_collection(1000, false);
    white_exact_ok(mb(sum) >= 50 && mb(sum) <= 60, "an expanded heap is used first (%zu)", mb(sum));
    white_collect();
    sgc_pacing_set_minimum((size_t)20 << 20);
    sum = until_collection(1000, false);
    white_exact_ok(mb(sum) >= 19 && mb(sum) <= 24, "the least between two collections (%zu)", mb(sum));
    sgc_pacing_set_minimum(SIZE_MAX);
    sum = until_collection(1000, false);
    tap_ok(sum >= (size_t)256 << 20, "as much as there is: never");
    sgc_pacing_set_minimum(0);
    sgc_pacing_allow(SIZE_MAX);
    tap_ok(until_collection(1000, false) >= (size_t)256 << 20, "an expansion without bound does not wrap around");
    white_collect();
    tap_ok(until_collection(1000, false) < (size_t)16 << 20, "and ends with the next cycle");
}

static void test_counts(void)
{
    size_t before, allocated;

    white_collect();
    before = sgc_pacing_allocated_before();
    allocated = sgc_pacing_allocated_since();
    for (int i = 0; i < 1000; i++)
        sgc_allocate(1000, WHITE_KIND);
    tap_ok(sgc_pacing_allocated_since() >= allocated + 1000000, "allocated bytes are counted");
    white_collect();
    tap_ok(sgc_pacing_allocated_before() >= before + 1000000 && sgc_pacing_allocated_since() < 1000000,
           "and taken over by the next cycle");
}

int main(void)
{
    white_init();
    test_budget();
    test_freed();
    test_settings();
    test_counts();
    return tap_done();
}
