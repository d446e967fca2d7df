/* SPDX-License-Identifier: MIT */
/* When to collect.  Who writes what: gc/pacing/pacing.h. */
#include "gc/pacing/pacing.h"

#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "alloc/large/span.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/pacing/heap_size.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/pacing/costs.h"
#include "platform/caches.h"

struct pacing {
    _Alignas(128) sgc_aw_t allocated, freed;    /* on lines of its own; since the last cycle */
    size_t allocated_at_stop;           /* of these, when the world stopped: what comes after is the next cycle's; */
    size_t freed_at_stop;               /* the collecting thread's */
    sgc_aw_t before, freed_before;      /* up to the last cycle */
    sgc_aw_t budget;                    /* collect when `allocated` reaches this */
    sgc_aw_t most_reused;               /* or this, while the heap does not grow ... */
    sgc_aw_t ceiling;                   /* ... beyond what it was when the budget was used up; 0: it is not yet */
    sgc_aw_t look;                      /* before it reaches that, other threads' frees make up for it */
    sgc_aw_t live;
    sgc_aw_t threads;                   /* that allocated before the last cycle */
    sgc_aw_t minimum;
    sgc_aw_t non_gc_before;             /* GC_non_gc_bytes when the last cycle ended */
    size_t cache;                       /* of a processor, bytes worth staying in; fixed at the start */
    size_t near;                        /* of it, the second level */
    size_t memory;                      /* that a heap may use on this machine; fixed at the start */
    size_t undeclared;                  /* the limit in pages where the client names none; fixed at the start */
    int processors;
};

SGC_STATE static struct pacing pacing;
SGC_STATE struct sgc_unseen sgc_unseen;

/* A few times the second-level cache: what does not fit comes from the next level in time, since
 * objects are handed out in ascending order. */
enum { CACHES = 4 };

/* A thread adds up what it has claimed by itself first: at least so much, and with all others not more than a small part of
 * the budget; while touched memory is used up, well below SGC_PACE_LEFT, or what is to be left would be gone before
 * anybody looks. */
enum { UNSEEN_SHARE = 32, UNSEEN_MOST = 16 * SGC_PAGE, UNSEEN_REUSING = 2 * SGC_PAGE };

static const size_t NO_ROOM = 1;        /* a ceiling that every heap is above */

static const size_t CACHE_LEAST = (size_t)2 << 20;
static const size_t CACHE_MOST = (size_t)8 << 20;
static const size_t NEAR_LEAST = (size_t)2 << 20;       /* so little memory is not worth many cycles */
static const size_t CACHE_UNKNOWN = (size_t)4 << 20;

/* ---- how much before the next cycle ---- */

/* Has the user named the limit?  What a cgroup allows is not all for us, and what a program sets for itself is to hold for
 * whatever is done with it. */
static bool declared(void)
{
    return sgc_aw_load(&sgc_pool.limit) < pacing.undeclared &&
           sgc_option_origin(SGC_OPT_GC_MAXIMUM_HEAP_SIZE) == SGC_ORIGIN_ENVIRONMENT;
}

/* Each thread that allocates does so in the cache of its own processor.  Who has named a limit does not mind that all of these
 * are filled; for others several threads share what one may have at most. */
static size_t all_caches(size_t one)
{
    size_t threads = sgc_pace_between(sgc_aw_load(&pacing.threads), 1, (size_t)pacing.processors);

    return declared() ? one * threads : sgc_pace_smaller(one * threads, sgc_pace_larger(one, CACHE_MOST));
}

static bool use_limit(void)
{
    return sgc_options.pacing == SGC_PACING_LIMIT;
}

/* What the client or the cgroup allows, but no more than the machine can bear.  Who wants to use the limit and sets
 * none gets a quarter of the machine. */
static size_t limit(void)
{
    size_t pages = sgc_aw_load(&sgc_pool.limit);

    if (pages < pacing.memory / SGC_PAGE)
        return pages * SGC_PAGE;
    return pages == SIZE_MAX && use_limit() ? pacing.memory / 3 : pacing.memory;
}

static void set_budget(size_t bytes)
{
    sgc_aw_store(&pacing.look, 0);
    sgc_aw_store(&pacing.ceiling, 0);
    sgc_pool_leave(0);
    sgc_aw_store(&pacing.budget, bytes);
    sgc_aw_store(&sgc_unseen.bytes, sgc_pace_smaller(bytes / UNSEEN_SHARE, UNSEEN_MOST));
}

static void set_budget_for(size_t live)
{
    const struct sgc_pace_heap heap = {
        .live = live,
        .finalizable = sgc_pacing_finalizable(),
        .pointer_free = sgc_pacing_pointer_free(),
        .roots = sgc_pacing_roots(),
        .size = sgc_heap_size(),
        .allocated = sgc_aw_load(&pacing.before),
    };
    const struct sgc_pace_bounds bounds = {
        .cache = all_caches(pacing.cache),
        .near = all_caches(pacing.near),
        .divisor = sgc_aw_load(&sgc_client_free_space_divisor),
        .minimum = sgc_aw_load(&pacing.minimum),
        .initial = sgc_options.initial_heap,
        .limit = limit(),
        .declared = declared(),
        .use_limit = use_limit(),
        .use_entire_heap = sgc_a32_load(&sgc_client_use_entire_heap) != 0,
        .dont_expand = sgc_a32_load(&sgc_client_dont_expand) != 0,
    };
    struct sgc_pace_costs costs;

    sgc_pacing_costs(&costs);
    sgc_aw_store(&pacing.most_reused, sgc_pace_most_reused(&costs, &heap, &bounds));
    set_budget(sgc_pace_budget(&costs, &heap, &bounds));
}

static void on_cycle_end(void *context, const struct sgc_cycle_record *record)
{
    (void)context;
    sgc_pacing_costs_learn(record);
    sgc_pacing_reconsider();
}

static const struct sgc_listener listener = { .cycle_end = on_cycle_end };

void sgc_pacing_init(void)
{
    size_t cache = sgc_cache_bytes("/sys", 2);

    pacing.cache = cache != 0 ? sgc_pace_between(cache * CACHES, CACHE_LEAST, CACHE_MOST) : CACHE_UNKNOWN;
    pacing.near = sgc_pace_larger(pacing.cache / CACHES, NEAR_LEAST);
    pacing.processors = sgc_limit_cpus();
    pacing.memory = sgc_limit_physical_memory() / 4 * 3;
    pacing.undeclared = sgc_pace_smaller(pacing.memory, sgc_heap_limit(SIZE_MAX)) / SGC_PAGE;
    sgc_pacing_costs_start();
    if (!sgc_listener_add(&listener))
        sgc_assert(false);
    set_budget_for(0);
}

/* ---- counting ---- */

/* World stopped, or by its own thread in a section. */
static void take_over(struct sgc_cache *cache)
{
    size_t freed;

    sgc_cache_count_freed(cache);
    sgc_aw_add_relaxed(&pacing.allocated, sgc_aw_load(&cache->claimed));
    sgc_aw_store(&cache->claimed, 0);
    freed = sgc_aw_load(&cache->freed_bytes);
    if (freed == 0)
        return;
    sgc_aw_add_relaxed(&pacing.freed, freed);
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

/* The budget is used up, but not the memory that costs nothing more. */
static bool reuses(size_t allocated)
{
    size_t ceiling = sgc_aw_load(&pacing.ceiling);

    return ceiling != 0 &&
           sgc_pace_reuses(sgc_pool_dirty_bytes(), sgc_pace_left(sgc_pacing_kept()), sgc_pool_heap_bytes(), ceiling) &&
           allocated < sgc_aw_load(&pacing.most_reused) + sgc_aw_load(&pacing.freed);
}

/* From here on until the next budget. */
static void reuse_but_for(size_t left)
{
    sgc_pool_leave(left);
    sgc_aw_store(&sgc_unseen.bytes, sgc_pace_smaller(sgc_aw_load(&sgc_unseen.bytes), UNSEEN_REUSING));
}

/* The budget is used up: is there such memory?  Asked once a cycle.  To know it, all has to be swept, which is little beside
 * a cycle. */
static bool begin_reuse(struct sgc_mutator *self, size_t allocated)
{
    size_t budget = sgc_aw_load(&pacing.budget), most = sgc_aw_load(&pacing.most_reused);
    bool worth;

    if (sgc_aw_load(&pacing.ceiling) != 0)
        return reuses(allocated);           /* another thread has just asked */
    if (!sgc_pace_may_reuse(budget, most, SIZE_MAX))
        return false;
    worth = sgc_pace_may_reuse(budget, most, sgc_policy_free_touched(sgc_section_of(self)));
    sgc_aw_store(&pacing.ceiling, worth ? sgc_pool_heap_bytes() : NO_ROOM);
    if (worth)
        reuse_but_for(sgc_pace_left(sgc_pacing_kept()));
    return worth;
}

/* Sums do not overflow: see SGC_PACE_NEVER. */
static bool is_due(struct sgc_mutator *self)
{
    size_t allocated = counted(sgc_aw_load(&pacing.allocated));
    size_t needed = sgc_aw_load(&pacing.budget) + sgc_aw_load(&pacing.freed);

    if (allocated < needed || allocated < sgc_aw_load(&pacing.look) || reuses(allocated))
        return false;
    needed = sgc_aw_load(&pacing.budget) + sgc_pacing_freed_since();
    sgc_aw_store(&pacing.look, needed);
    return allocated >= needed && !begin_reuse(self, allocated);
}

/* Spans are counted where they are made.  Loads first: the words are shared, and exchanging zeros would make every
 * thread wait for every other one. */
static bool take_over_spans(void)
{
    bool any = false;

    if (sgc_span_allocated() != 0) {
        sgc_aw_add_relaxed(&pacing.allocated, sgc_span_take_allocated());
        any = true;
    }
    if (sgc_span_freed() != 0)
        sgc_aw_add_relaxed(&pacing.freed, sgc_span_take_freed());
    return any;
}

/* Only who has something to add looks at what all have added: that, too, is shared. */
bool sgc_pacing_poll(struct sgc_mutator *self)
{
    bool any = take_over_spans();

    if (!sgc_pacing_too_little(&self->cache)) {
        sgc_section_enter(sgc_section_of(self));
        take_over(&self->cache);
        sgc_a32_store(&self->allocates, 1);
        sgc_section_leave(sgc_section_of(self));
        any = true;
    }
    return any && is_due(self);
}

/* How many threads allocated since the last cycle.  Little enough to be still in its cache does not count. */
static size_t count_threads(void)
{
    size_t threads = 0;

    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next) {
        threads += sgc_a32_load(&m->allocates);
        sgc_a32_store(&m->allocates, 0);
    }
    return threads;
}

/* Those of ended threads, too. */
void sgc_pacing_take_all(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    for (uint32_t id = 1; id < caches; id++)
        take_over(sgc_cache_of(id));
    sgc_aw_store(&pacing.threads, count_threads());
    sgc_aw_add_relaxed(&pacing.allocated, sgc_span_take_allocated());
    sgc_aw_add_relaxed(&pacing.freed, sgc_span_take_freed());
    pacing.allocated_at_stop = sgc_aw_load(&pacing.allocated);
    pacing.freed_at_stop = sgc_aw_load(&pacing.freed);
}

size_t sgc_pacing_cycle_done(size_t live)
{
    size_t allocated = pacing.allocated_at_stop;

    sgc_aw_add_relaxed(&pacing.allocated, -allocated);
    sgc_aw_add_relaxed(&pacing.freed, -pacing.freed_at_stop);
    sgc_aw_add_relaxed(&pacing.before, allocated);
    sgc_aw_add_relaxed(&pacing.freed_before, pacing.freed_at_stop);
    sgc_aw_store(&pacing.live, live);
    sgc_aw_store(&pacing.non_gc_before, sgc_aw_load(&sgc_client_non_gc_bytes));
    return allocated;
}

/* Trying again at once, or after the first few kilobytes, would cost every allocation the time until the next one gives up. */
void sgc_pacing_given_up(void)
{
    set_budget(sgc_pace_smaller(sgc_pace_larger(sgc_aw_load(&pacing.budget), SGC_PACE_LITTLE) * 2, SGC_PACE_NEVER));
}

void sgc_pacing_reconsider(void)
{
    set_budget_for(sgc_aw_load(&pacing.live));
}

/* A cycle whose end nobody has heard of yet puts its own figure there: then it is high until the next one. */
void sgc_pacing_reclaimed(size_t bytes)
{
    size_t live = sgc_aw_load(&pacing.live);

    if (bytes == 0)
        return;
    sgc_pacing_limit_paid();
    if (sgc_aw_cas(&pacing.live, live, live > bytes ? live - bytes : 0))
        sgc_pacing_reconsider();
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

    set_budget(bytes < SGC_PACE_NEVER - budget ? budget + bytes : SGC_PACE_NEVER);
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

/* What other threads have freed lately they count themselves, now and then. */
static void count_own_freed(void)
{
    if (sgc_self == NULL || sgc_section_inside(&sgc_self->section))
        return;
    sgc_section_enter(&sgc_self->section);
    sgc_cache_count_freed(sgc_self);
    sgc_section_leave(&sgc_self->section);
}

size_t sgc_pacing_freed_since(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);
    size_t sum;

    count_own_freed();
    sum = sgc_aw_load(&pacing.freed) + sgc_span_freed();

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

int sgc_pacing_markers(int most)
{
    double bytes = (double)sgc_pacing_live() +
                   (double)sgc_pacing_allocated_since() * (double)sgc_pacing_kept() / 256;

    return sgc_pace_markers(sgc_pacing_marking_ns(bytes), most);
}
