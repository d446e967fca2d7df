/* SPDX-License-Identifier: MIT */
/*
 * Counting live pages.  alloc/pages/live_pages.h says which thread may call each function.
 */
#include "alloc/pages/live_pages.h"

#include "alloc/pages/homes.h"
#include "alloc/pages/page.h"

/* Counts are kept with the epoch they are of, maxima with the generation, in one word: number << 32
 * | count. */
struct live {
    sgc_aw_t now, max;
};

struct live_pages {
    struct live all;
    struct live *of;            /* by owner */
    sgc_a32_t generation;       /* how often memory was given back */
};

SGC_STATE static struct live_pages live_pages;

static uintptr_t stamped(uint32_t stamp, uint32_t count)
{
    return (uintptr_t)stamp << 32 | count;
}

/* The word's count if it is of this epoch or generation; else nothing has been counted yet. */
static uint32_t of_stamp(uintptr_t word, uint32_t stamp)
{
    return word >> 32 == stamp ? (uint32_t)word : 0;
}

void sgc_live_pages_init(void)
{
    live_pages.of = sgc_owner_table_make(sizeof *live_pages.of);
}

/* Several threads may sweep at once, each its own lists. */
static uint32_t one_more(sgc_aw_t *count, uint32_t epoch)
{
    for (;;) {
        uintptr_t before = sgc_aw_load(count);
        uint32_t now = of_stamp(before, epoch) + 1;

        if (sgc_aw_cas(count, before, stamped(epoch, now)))
            return now;
    }
}

static bool newer(uintptr_t word, uint32_t stamp)
{
    return (int32_t)((uint32_t)(word >> 32) - stamp) > 0;
}

/* A thread that read the generation before it changed must not put an old maximum in the place of a
 * new one. */
static void raise_max(sgc_aw_t *max, uint32_t generation, uint32_t count)
{
    uintptr_t before = sgc_aw_load(max);

    while (!newer(before, generation) && of_stamp(before, generation) < count &&
           !sgc_aw_cas(max, before, stamped(generation, count)))
        before = sgc_aw_load(max);
}

static void count_one(struct live *live, uint32_t epoch, uint32_t generation)
{
    raise_max(&live->max, generation, one_more(&live->now, epoch));
}

void sgc_live_pages_count(uint32_t owner)
{
    uint32_t generation = sgc_a32_load(&live_pages.generation);

    sgc_assert(owner < SGC_OWNERS_MAX);
    count_one(&live_pages.all, sgc_heap.epoch, generation);
    if (live_pages.of != NULL)
        count_one(&live_pages.of[owner], sgc_heap.epoch, generation);
}

/* The owners' maxima are of an older generation from now on, and start with the next page
 * counted. */
void sgc_live_pages_renew(void)
{
    uint32_t generation = sgc_a32_add(&live_pages.generation, 1) + 1;
    uint32_t now = of_stamp(sgc_aw_load(&live_pages.all.now), sgc_heap.epoch);

    raise_max(&live_pages.all.max, generation, now);
}

size_t sgc_live_pages_max(void)
{
    return of_stamp(sgc_aw_load(&live_pages.all.max), sgc_a32_load(&live_pages.generation));
}

/* An owner without a page counted since the maxima began again has what it has in this epoch. */
static size_t max_of(const struct live *live, uint32_t epoch, uint32_t generation)
{
    uint32_t max = of_stamp(sgc_aw_load(&live->max), generation);
    uint32_t now = of_stamp(sgc_aw_load(&live->now), epoch);

    return max > now ? max : now;
}

size_t sgc_live_pages_max_of_owners(uint32_t owners)
{
    uint32_t generation = sgc_a32_load(&live_pages.generation);
    size_t sum = 0;

    sgc_assert(owners <= SGC_OWNERS_MAX);
    for (uint32_t owner = 0; live_pages.of != NULL && owner < owners; owner++)
        sum += max_of(&live_pages.of[owner], sgc_heap.epoch, generation);
    return sum;
}
