/* SPDX-License-Identifier: MIT */
/*
 * One pool for all threads.  On any mutator; locks are the pool's.
 *
 * While pages of the last cycle are still unswept, who asks for pages sweeps some first, so that the
 * heap does not grow past memory that is free already; the service thread usually has done it.
 *
 *   swept_epoch   the epoch for which a thread found nothing left to sweep; written and read by anybody, relaxed: a
 *                 stale value costs one look too many or too few
 */
#include "alloc/policy.h"

#include "alloc/sweep.h"

SGC_STATE static sgc_a32_t swept_epoch;

enum { SWEEP_FOR_PAGE = 16, SWEEP_FOR_SPAN = 256 };

static void sweep_first(uint32_t most, struct sgc_section *self)
{
    uint32_t epoch = sgc_heap.epoch;

    if (sgc_a32_load(&swept_epoch) != epoch && !sgc_sweep_ahead(most, self))
        sgc_a32_store(&swept_epoch, epoch);
}

uint32_t sgc_policy_take_page(struct sgc_section *self, bool *zero)
{
    sweep_first(SWEEP_FOR_PAGE, self);
    return sgc_policy_take_pages(1, self, zero);
}

/* If the heap may not grow, everything unswept is swept before that is accepted. */
uint32_t sgc_policy_take_pages(uint32_t count, struct sgc_section *self, bool *zero)
{
    uint32_t first;

    if (count > 1)
        sweep_first(SWEEP_FOR_SPAN, self);
    first = sgc_pool_take(count, self, zero);
    if (first != SGC_NO_PAGE)
        return first;
    while (sgc_sweep_ahead(SWEEP_FOR_SPAN, self))
        continue;
    sgc_pool_decay(sgc_clock_ns(), 0, UINT32_MAX, self);
    return sgc_pool_take(count, self, zero);
}

void sgc_policy_give_page(uint32_t page, struct sgc_section *self)
{
    sgc_pool_give(page, 1, self);
}
