/* SPDX-License-Identifier: MIT */
/* When to collect.  Who writes what: gc/pacing.h. */
#include "gc/pacing.h"

#include "alloc/span.h"
#include "gc/options.h"

struct pacing {
    sgc_aw_t allocated, freed;          /* since the last cycle */
    sgc_aw_t before, freed_before;      /* up to the last cycle */
    sgc_aw_t budget;                    /* collect when `allocated` reaches this */
    sgc_aw_t live;
    sgc_aw_t divisor;
    sgc_aw_t minimum;
};

SGC_STATE static struct pacing pacing;

static const size_t LEAST_BUDGET = (size_t)4 << 20;
static const uintptr_t DEFAULT_DIVISOR = 3;

/* With the default divisor of 3 the heap doubles between two cycles. */
static size_t budget_for(size_t live)
{
    size_t budget = live / sgc_aw_load(&pacing.divisor) * DEFAULT_DIVISOR;
    size_t minimum = sgc_aw_load(&pacing.minimum);

    if (budget < LEAST_BUDGET)
        budget = LEAST_BUDGET;
    if (budget < minimum)
        budget = minimum;
    return live + budget > sgc_options.initial_heap ? budget : sgc_options.initial_heap - live;
}

void sgc_pacing_init(void)
{
    sgc_aw_store(&pacing.divisor, sgc_options.free_space_divisor > 0
                                      ? (uintptr_t)sgc_options.free_space_divisor
                                      : DEFAULT_DIVISOR);
    sgc_aw_store(&pacing.minimum, 1);
    sgc_aw_store(&pacing.budget, budget_for(0));
}

static void take_over(struct sgc_cache *cache)
{
    sgc_aw_add_relaxed(&pacing.allocated, cache->claimed);
    sgc_aw_add_relaxed(&pacing.freed, cache->freed_bytes);
    cache->claimed = cache->freed_bytes = 0;
}

bool sgc_pacing_poll(struct sgc_mutator *self)
{
    size_t spans = sgc_span_take_allocated();
    size_t freed_spans = sgc_span_take_freed();

    if (spans != 0)
        sgc_aw_add_relaxed(&pacing.allocated, spans);
    if (freed_spans != 0)
        sgc_aw_add_relaxed(&pacing.freed, freed_spans);
    if (self->cache.claimed >= SGC_PAGE / 4) {
        sgc_section_enter(sgc_section_of(self));
        take_over(&self->cache);
        sgc_section_leave(sgc_section_of(self));
    }
    return sgc_aw_load(&pacing.allocated) >= sgc_aw_load(&pacing.budget) + sgc_aw_load(&pacing.freed);
}

void sgc_pacing_take_all(void)
{
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        take_over(&m->cache);
    sgc_aw_add_relaxed(&pacing.allocated, sgc_span_take_allocated());
    sgc_aw_add_relaxed(&pacing.freed, sgc_span_take_freed());
}

size_t sgc_pacing_cycle_done(size_t live)
{
    size_t allocated = sgc_aw_swap(&pacing.allocated, 0);

    sgc_aw_add_relaxed(&pacing.before, allocated);
    sgc_aw_add_relaxed(&pacing.freed_before, sgc_aw_swap(&pacing.freed, 0));
    sgc_aw_store(&pacing.live, live);
    sgc_aw_store(&pacing.budget, budget_for(live));
    return allocated;
}

void sgc_pacing_set_divisor(size_t divisor)
{
    sgc_aw_store(&pacing.divisor, divisor);
    sgc_aw_store(&pacing.budget, budget_for(sgc_aw_load(&pacing.live)));
}

size_t sgc_pacing_divisor(void)
{
    return sgc_aw_load(&pacing.divisor);
}

void sgc_pacing_set_minimum(size_t bytes)
{
    sgc_aw_store(&pacing.minimum, bytes);
    sgc_aw_store(&pacing.budget, budget_for(sgc_aw_load(&pacing.live)));
}

size_t sgc_pacing_minimum(void)
{
    return sgc_aw_load(&pacing.minimum);
}

void sgc_pacing_allow(size_t bytes)
{
    sgc_aw_add_relaxed(&pacing.budget, bytes);
}

size_t sgc_pacing_allocated_since(void)
{
    return sgc_aw_load(&pacing.allocated);
}

size_t sgc_pacing_freed_since(void)
{
    return sgc_aw_load(&pacing.freed);
}

size_t sgc_pacing_allocated_before(void)
{
    return sgc_aw_load(&pacing.before);
}

size_t sgc_pacing_live(void)
{
    return sgc_aw_load(&pacing.live);
}

size_t sgc_pacing_freed_total(void)
{
    return sgc_aw_load(&pacing.freed_before) + sgc_aw_load(&pacing.freed);
}
