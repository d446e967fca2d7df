/* SPDX-License-Identifier: MIT */
/* See gc/pacing/counts.h. */
#include "gc/pacing/counts.h"

#include "alloc/large/span.h"
#include "platform/report.h"

struct counts {
    _Alignas(128) sgc_aw_t allocated, freed;    /* on lines of its own; since the last cycle */
    size_t allocated_at_stop;           /* of these, when the world stopped: what comes after is the next cycle's; */
    size_t freed_at_stop, unused_at_stop;       /* the collecting thread's */
    sgc_aw_t before, freed_before;      /* up to the last cycle */
};

SGC_STATE static struct counts counts;

size_t sgc_counts_allocated(void)
{
    return sgc_aw_load(&counts.allocated);
}

size_t sgc_counts_freed(void)
{
    return sgc_aw_load(&counts.freed);
}

/* World stopped, or by its own thread in a section. */
void sgc_counts_take(struct sgc_cache *cache)
{
    size_t freed;

    sgc_cache_count_freed(cache);
    sgc_aw_add_relaxed(&counts.allocated, sgc_aw_load(&cache->claimed));
    sgc_aw_store(&cache->claimed, 0);
    freed = sgc_aw_load(&cache->freed_bytes);
    if (freed == 0)
        return;
    sgc_aw_add_relaxed(&counts.freed, freed);
    sgc_aw_store(&cache->freed_bytes, 0);
}

/* Spans are counted where they are made.  Loads first: the words are shared, and exchanging zeros would make every
 * thread wait for every other one. */
bool sgc_counts_take_spans(void)
{
    bool any = false;

    if (sgc_span_allocated() != 0) {
        sgc_aw_add_relaxed(&counts.allocated, sgc_span_take_allocated());
        any = true;
    }
    if (sgc_span_freed() != 0)
        sgc_aw_add_relaxed(&counts.freed, sgc_span_take_freed());
    return any;
}

/* Those of ended threads, too. */
void sgc_counts_take_all(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    for (uint32_t id = 1; id < caches; id++)
        sgc_counts_take(sgc_cache_of(id));
    sgc_aw_add_relaxed(&counts.allocated, sgc_span_take_allocated());
    sgc_aw_add_relaxed(&counts.freed, sgc_span_take_freed());
    counts.allocated_at_stop = sgc_aw_load(&counts.allocated);
    counts.freed_at_stop = sgc_aw_load(&counts.freed);
}

size_t sgc_counts_at_stop(void)
{
    return counts.allocated_at_stop;
}

size_t sgc_counts_freed_at_stop(void)
{
    return counts.freed_at_stop;
}

void sgc_counts_unused(size_t bytes)
{
    counts.unused_at_stop = bytes;
}

size_t sgc_counts_unused_at_stop(void)
{
    return counts.unused_at_stop;
}

void sgc_counts_cycle_done(void)
{
    size_t allocated = counts.allocated_at_stop;

    sgc_assert(allocated <= sgc_counts_allocated() && counts.freed_at_stop <= sgc_counts_freed());
    sgc_aw_add_relaxed(&counts.allocated, -allocated);
    sgc_aw_add_relaxed(&counts.freed, -counts.freed_at_stop);
    sgc_aw_add_relaxed(&counts.before, allocated);
    sgc_aw_add_relaxed(&counts.freed_before, counts.freed_at_stop);
}

/* A thread's counts move from its cache to here: a reader may meet them twice, but never not at all. */
size_t sgc_counts_allocated_since(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum = sgc_aw_load(&counts.allocated) + sgc_span_allocated();

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load(&sgc_cache_of(id)->claimed);
    return sum;
}

/* What other threads have freed lately they count themselves, now and then. */
static void count_own_freed(void)
{
    if (sgc_self == NULL || sgc_section_inside(&sgc_self->section))
        return;
    sgc_section_enter(&sgc_self->section);
    sgc_cache_count_freed(sgc_self);
    sgc_section_leave(&sgc_self->section);
}

size_t sgc_counts_freed_since(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum;

    count_own_freed();
    sum = sgc_aw_load(&counts.freed) + sgc_span_freed();

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load(&sgc_cache_of(id)->freed_bytes);
    return sum;
}

size_t sgc_counts_unused_since(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum = 0;

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load(&sgc_cache_of(id)->unused);
    return sum;
}

size_t sgc_counts_allocated_before(void)
{
    return sgc_aw_load(&counts.before);
}

size_t sgc_counts_freed_total(void)
{
    return sgc_aw_load(&counts.freed_before) + sgc_counts_freed_since();
}
