/* SPDX-License-Identifier: MIT */
/* See gc/pacing/counts.h. */
#include "gc/pacing/counts.h"

#include "alloc/large/span.h"
#include "alloc/small/sampling.h"
#include "gc/threads/world.h"
#include "platform/report.h"

struct base {
    sgc_aw_t allocated, freed, live;    /* up to the stop of a cycle; what it found */
};

struct counts {
    size_t all_at_stop, all_freed_at_stop;      /* of all that threads have counted, then */
    sgc_aw_t cycles;                    /* the last bit is the number of the base */
    struct base base[2];
};

SGC_STATE struct sgc_counts_sums sgc_counts_sums;
SGC_STATE static struct counts counts;

/* ---- the sums that one load reads ---- */

static void publish(sgc_aw_t *sum, size_t now, size_t *published)
{
    if (now == *published)
        return;
    sgc_aw_add_relaxed(sum, now - *published);
    *published = now;
}

/* World stopped, or by its own thread in a section. */
void sgc_counts_take(struct sgc_cache *cache)
{
    sgc_cache_count_freed(cache);
    publish(&sgc_counts_sums.allocated, sgc_aw_load(&cache->claimed), &cache->claimed_counted);
    publish(&sgc_counts_sums.freed, sgc_aw_load(&cache->freed_bytes), &cache->freed_counted);
    if (cache->sampling.rate != 0)
        sgc_sampling_allow_short(cache);
}

bool sgc_counts_take_spans(void)
{
    struct sgc_span_bytes taken = sgc_span_take_bytes();

    if (taken.allocated != 0)
        sgc_aw_add_relaxed(&sgc_counts_sums.allocated, taken.allocated);
    if (taken.freed != 0)
        sgc_aw_add_relaxed(&sgc_counts_sums.freed, taken.freed);
    return taken.allocated != 0;
}

/* ---- all that threads have counted ---- */

/* Those of ended threads, too. */
size_t sgc_counts_allocated_total(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum = sgc_span_allocated();

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load_acq(&sgc_cache_of(id)->claimed);
    return sum;
}

static size_t all_freed(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum = sgc_span_freed();

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load_acq(&sgc_cache_of(id)->freed_bytes);
    return sum;
}

/* Counts the slots that the calling thread has freed and has at hand.  Other threads count theirs
 * themselves, now and then.  One that counts as stopped leaves it: its cache is the collecting
 * thread's. */
static void count_own_freed(void)
{
    struct sgc_mutator *self = sgc_mutator_self();

    if (self == NULL || sgc_world_is_blocked(self) || sgc_section_inside(sgc_section_of(self)))
        return;
    sgc_section_enter(&sgc_self->section);
    sgc_cache_count_freed(sgc_self);
    sgc_section_leave(&sgc_self->section);
}

/* ---- at a cycle ---- */

/* A thread that was stopped between taking the counts of spans and telling them tells them
 * afterwards, for the next cycle. */
void sgc_counts_take_all(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    for (uint32_t id = 1; id < caches; id++)
        sgc_counts_take(sgc_cache_of(id));
    sgc_counts_take_spans();
    sgc_counts_sums.at_stop.allocated = sgc_aw_load(&sgc_counts_sums.allocated);
    sgc_counts_sums.at_stop.freed = sgc_aw_load(&sgc_counts_sums.freed);
    counts.all_freed_at_stop = all_freed();
    counts.all_at_stop = sgc_counts_allocated_total();
}

size_t sgc_counts_retired(size_t unused)
{
    sgc_counts_sums.at_stop.unused = unused;
    return sgc_counts_live() + sgc_counts_allocated_since();
}

void sgc_counts_cycle_done(size_t live)
{
    size_t cycles = sgc_aw_load(&counts.cycles) + 1;
    struct base *next = &counts.base[cycles % 2];

    sgc_aw_add_relaxed(&sgc_counts_sums.allocated, -sgc_counts_sums.at_stop.allocated);
    sgc_aw_add_relaxed(&sgc_counts_sums.freed, -sgc_counts_sums.at_stop.freed);
    sgc_aw_store_rel(&next->allocated, counts.all_at_stop);
    sgc_aw_store_rel(&next->freed, counts.all_freed_at_stop);
    sgc_aw_store_rel(&next->live, live);
    sgc_aw_store_rel(&counts.cycles, cycles);
}

static struct base *last_base(void)
{
    return &counts.base[sgc_aw_load_acq(&counts.cycles) % 2];
}

/* The base of one cycle: another may end meanwhile, and one more would write to it. */
static void get_base(struct sgc_counts *c)
{
    size_t cycles;

    do {
        struct base *base;

        cycles = sgc_aw_load_acq(&counts.cycles);
        base = &counts.base[cycles % 2];
        c->allocated_before = sgc_aw_load_acq(&base->allocated);
        c->freed_before = sgc_aw_load_acq(&base->freed);
        c->live = sgc_aw_load_acq(&base->live);
    } while (sgc_aw_load(&counts.cycles) != cycles);
}

/* Freed first: what is freed after the look at that has not been missed. */
void sgc_counts_get(struct sgc_counts *c)
{
    count_own_freed();
    get_base(c);
    c->freed_since = all_freed() - c->freed_before;
    c->allocated_since = sgc_counts_allocated_total() - c->allocated_before;
}

size_t sgc_counts_allocated_before(void)
{
    return sgc_aw_load_acq(&last_base()->allocated);
}

size_t sgc_counts_allocated_since(void)
{
    size_t before = sgc_counts_allocated_before();

    return sgc_counts_allocated_total() - before;
}

size_t sgc_counts_freed_since(void)
{
    size_t before;

    count_own_freed();
    before = sgc_aw_load_acq(&last_base()->freed);
    return all_freed() - before;
}

size_t sgc_counts_freed_total(void)
{
    count_own_freed();
    return all_freed();
}

size_t sgc_counts_live(void)
{
    return sgc_aw_load(&last_base()->live);
}

/* A cycle whose end nobody has heard of yet puts its own figure there: then it is high until the
 * next one. */
bool sgc_counts_reclaimed(size_t bytes)
{
    sgc_aw_t *where = &last_base()->live;
    size_t live = sgc_aw_load(where);

    return sgc_aw_cas(where, live, live > bytes ? live - bytes : 0);
}

size_t sgc_counts_unused_since(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum = 0;

    for (uint32_t id = 1; id < caches; id++)
        sum += sgc_aw_load(&sgc_cache_of(id)->unused);
    return sum;
}
