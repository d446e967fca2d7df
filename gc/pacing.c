/* SPDX-License-Identifier: MIT */
/* When to collect.  Who writes what: gc/pacing.h. */
#include "gc/pacing.h"

#include "alloc/span.h"
#include "gc/client_vars.h"
#include "gc/heap_size.h"
#include "gc/options.h"

struct pacing {
    sgc_aw_t allocated, freed;          /* since the last cycle */
    sgc_aw_t before, freed_before;      /* up to the last cycle */
    sgc_aw_t budget;                    /* collect when `allocated` reaches this */
    sgc_aw_t live;
    sgc_aw_t minimum;
    sgc_aw_t non_gc_before;             /* GC_non_gc_bytes when the last cycle ended */
};

SGC_STATE static struct pacing pacing;

static const size_t LEAST_BUDGET = (size_t)4 << 20;
static const size_t MOST_BUDGET = SIZE_MAX / 4;      /* "never": sums with it do not overflow */
static const uintptr_t DEFAULT_DIVISOR = 3;

/* A client may assign 0 to the variable. */
static size_t divisor(void)
{
    size_t value = sgc_aw_load(&sgc_client_free_space_divisor);

    return value != 0 ? value : 1;
}

/* With the default divisor of 3 the heap doubles between two cycles. */
static size_t budget_for(size_t live)
{
    size_t budget = live / divisor() * DEFAULT_DIVISOR;
    size_t minimum = sgc_aw_load(&pacing.minimum);
    size_t size = sgc_heap_size();
    size_t room = size > live ? size - live : 0;

    if (sgc_a32_load(&sgc_client_dont_expand) != 0 ||
        (sgc_a32_load(&sgc_client_use_entire_heap) != 0 && budget < room))
        budget = room;
    if (budget < LEAST_BUDGET)
        budget = LEAST_BUDGET;
    if (budget < minimum)
        budget = minimum;
    if (budget > MOST_BUDGET)
        budget = MOST_BUDGET;
    return live + budget > sgc_options.initial_heap ? budget : sgc_options.initial_heap - live;
}

void sgc_pacing_init(void)
{
    sgc_aw_store(&pacing.budget, budget_for(0));
}

static void take_over(struct sgc_cache *cache)
{
    sgc_aw_add_relaxed(&pacing.allocated, sgc_aw_load(&cache->claimed));
    sgc_aw_add_relaxed(&pacing.freed, sgc_aw_load(&cache->freed_bytes));
    sgc_aw_store(&cache->claimed, 0);
    sgc_aw_store(&cache->freed_bytes, 0);
}

/* What no collection can free does not call for one: but at least an eighth counts, whatever the client
 * says. */
static size_t counted(size_t allocated)
{
    size_t now = sgc_aw_load(&sgc_client_non_gc_bytes);
    size_t before = sgc_aw_load(&pacing.non_gc_before);
    size_t growth = now > before ? now - before : 0;
    size_t least = allocated / 8;

    return growth < allocated - least ? allocated - growth : least;
}

bool sgc_pacing_poll(struct sgc_mutator *self)
{
    size_t spans = sgc_span_take_allocated();
    size_t freed_spans = sgc_span_take_freed();

    if (spans != 0)
        sgc_aw_add_relaxed(&pacing.allocated, spans);
    if (freed_spans != 0)
        sgc_aw_add_relaxed(&pacing.freed, freed_spans);
    if (sgc_aw_load(&self->cache.claimed) >= SGC_PAGE / 4) {
        sgc_section_enter(sgc_section_of(self));
        take_over(&self->cache);
        sgc_section_leave(sgc_section_of(self));
    }
    return counted(sgc_aw_load(&pacing.allocated)) >=
           sgc_aw_load(&pacing.budget) + sgc_aw_load(&pacing.freed);      /* no overflow: see MOST_BUDGET */
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
    sgc_aw_store(&pacing.non_gc_before, sgc_aw_load(&sgc_client_non_gc_bytes));
    sgc_aw_store(&pacing.budget, budget_for(live));
    return allocated;
}

/* Trying again at once would cost every allocation the time until the next one gives up, too. */
void sgc_pacing_given_up(void)
{
    uintptr_t budget = sgc_aw_load(&pacing.budget);

    sgc_aw_store(&pacing.budget, budget < MOST_BUDGET / 2 ? budget * 2 : MOST_BUDGET);
}

void sgc_pacing_reconsider(void)
{
    sgc_aw_store(&pacing.budget, budget_for(sgc_aw_load(&pacing.live)));
}

void sgc_pacing_set_minimum(size_t bytes)
{
    sgc_aw_store(&pacing.minimum, bytes);
    sgc_pacing_reconsider();
}

size_t sgc_pacing_minimum(void)
{
    size_t minimum = sgc_aw_load(&pacing.minimum);

    return minimum != 0 ? minimum : 1;
}

void sgc_pacing_allow(size_t bytes)
{
    size_t budget = sgc_aw_load(&pacing.budget);

    sgc_aw_store(&pacing.budget, bytes < MOST_BUDGET - budget ? budget + bytes : MOST_BUDGET);
}

/* A thread's counts move from its cache to here: a reader may meet them twice, but never not at all. */
size_t sgc_pacing_allocated_since(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum = sgc_aw_load(&pacing.allocated) + sgc_span_allocated();

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load(&sgc_cache_of(id)->claimed);
    return sum;
}

size_t sgc_pacing_freed_since(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum = sgc_aw_load(&pacing.freed) + sgc_span_freed();

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load(&sgc_cache_of(id)->freed_bytes);
    return sum;
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
    return sgc_aw_load(&pacing.freed_before) + sgc_pacing_freed_since();
}
