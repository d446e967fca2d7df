/* SPDX-License-Identifier: MIT */
/*
 * Pages on their way to the pool, in the hands of a thread that sweeps or gives memory back.  Who may call what:
 * alloc/pages/pool.h.
 */
#include <limits.h>

#include "alloc/pages/pool.h"

enum { AWAITED = 1, ONE_PAGE = 2 };

void sgc_pool_transit_begin(uint32_t count)
{
    sgc_assert(count != 0);
    sgc_a32_add(&sgc_pool.coming, count * ONE_PAGE);
}

/* The thread that finds that others have come in between leaves the bit to them. */
void sgc_pool_transit_end(uint32_t count)
{
    uint32_t before = sgc_a32_add(&sgc_pool.coming, -count * ONE_PAGE);

    sgc_assert(before >= count * ONE_PAGE);
    if (before - count * ONE_PAGE == AWAITED && sgc_a32_cas(&sgc_pool.coming, AWAITED, 0))
        sgc_wake(&sgc_pool.coming, INT_MAX);
}

/* Counting as stopped, since who has them may be stopped before the pool has them. */
static void sleep_once(uint32_t seen, struct sgc_section *self)
{
    if (self != NULL && sgc_section_hooks.sleep != NULL)
        sgc_section_hooks.sleep(self, &sgc_pool.coming, seen);
    else
        sgc_wait(&sgc_pool.coming, seen, -1);
}

void sgc_pool_transit_wait(struct sgc_section *self)
{
    sgc_assert(self == NULL || !sgc_section_inside(self));
    for (;;) {
        uint32_t seen = sgc_a32_load_acq(&sgc_pool.coming);

        if (seen < ONE_PAGE)
            return;
        if ((seen & AWAITED) || sgc_a32_cas(&sgc_pool.coming, seen, seen | AWAITED))
            sleep_once(seen | AWAITED, self);
    }
}
