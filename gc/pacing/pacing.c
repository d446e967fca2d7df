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

struct pacing {
    _Alignas(128) sgc_aw_t allocated, freed;    /* on lines of its own; since the last cycle */
    size_t allocated_at_stop;           /* of these, when the world stopped: what comes after is the next cycle's; */
    size_t freed_at_stop;               /* the collecting thread's */
    sgc_aw_t before, freed_before;      /* up to the last cycle */
    sgc_aw_t budget;                    /* collect when `allocated` reaches this */
    sgc_aw_t first;                     /* the same, before memory that is free and touched was added to it */
    sgc_aw_t worth;                     /* so much is added at most */
    sgc_aw_t look;                      /* before it reaches that, other threads' frees make up for it */
    sgc_aw_t trigger;                   /* ask for a concurrent cycle when `allocated` reaches that; "never": they do not pay */
    sgc_aw_t pause_ns;                  /* for which cycles may stop the program, and one more; 0: whatever it takes */
    sgc_aw_t live;
    sgc_aw_t minimum;
    sgc_aw_t non_gc_before;             /* GC_non_gc_bytes when the last cycle ended */
    size_t memory;                      /* that a heap may use on this machine; fixed at the start */
};

SGC_STATE static struct pacing pacing;
SGC_STATE struct sgc_unpublished sgc_unpublished;

/* A thread adds up what it has claimed by itself first: with all others not more than a small part of the budget. */
enum { UNPUBLISHED_SHARE = 32, UNPUBLISHED_MAX = 16 * SGC_PAGE };

/* O(1): what must hold whenever a function here begins, once pacing has started. */
__attribute__((unused)) static bool ok(void)
{
    return pacing.memory != 0 && sgc_aw_load(&pacing.budget) <= SGC_PACE_NEVER &&
           sgc_aw_load(&pacing.worth) <= SGC_PACE_NEVER && sgc_aw_load(&sgc_unpublished.bytes) <= UNPUBLISHED_MAX;
}

/* ---- how much before the next cycle ---- */

static bool use_limit(void)
{
    return sgc_options.pacing == SGC_PACING_LIMIT;
}

/* What the client or the cgroup allows, but no more than the machine can bear.  A user who wants to use the limit and sets
 * none gets a quarter of the machine. */
static size_t limit(void)
{
    size_t pages = sgc_aw_load(&sgc_pool.limit);

    if (pages < pacing.memory / SGC_PAGE)
        return pages * SGC_PAGE;
    return pages == SIZE_MAX && use_limit() ? pacing.memory / 3 : pacing.memory;
}

/* The limit, if the user has named one.  What a program sets for itself is to hold for whatever is done with it. */
static size_t named(void)
{
    bool is = sgc_option_origin(SGC_OPT_GC_MAXIMUM_HEAP_SIZE) == SGC_ORIGIN_ENVIRONMENT;

    return is ? sgc_pace_smaller(limit(), sgc_options.maximum_heap) : 0;
}

static void set_budget(size_t bytes)
{
    sgc_assert(bytes <= SGC_PACE_NEVER);
    sgc_aw_store(&pacing.look, 0);
    sgc_aw_store(&pacing.first, bytes);
    sgc_aw_store(&pacing.budget, bytes);
    sgc_aw_store(&sgc_unpublished.bytes, sgc_pace_smaller(bytes / UNPUBLISHED_SHARE, UNPUBLISHED_MAX));
}

/* Marking beside the program takes one thread, which it shares the processors with. */
static size_t trigger(const struct sgc_pace_costs *c, size_t budget)
{
    uint64_t pause_ns = sgc_aw_load(&pacing.pause_ns);
    uint64_t marking_ns = sgc_pacing_marking_ns(sgc_aw_load(&pacing.live), budget);

    if (pause_ns == 0 || marking_ns / (uint64_t)sgc_options.markers + 1 < pause_ns)
        return SGC_PACE_NEVER;
    return sgc_pace_trigger(budget, c, marking_ns, SGC_PACE_MARGIN);
}

static void reconsider(void)
{
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap = {
        .live = sgc_aw_load(&pacing.live),
        .size = sgc_heap_size(),
        .allocated = sgc_aw_load(&pacing.before),
    };
    const struct sgc_pace_bounds bounds = {
        .divisor = sgc_aw_load(&sgc_client_free_space_divisor),
        .minimum = sgc_aw_load(&pacing.minimum),
        .initial = sgc_options.initial_heap,
        .granted = sgc_heap_promised(),
        .named = named(),
        .limit = limit(),
        .use_limit = use_limit(),
        .use_entire_heap = sgc_a32_load(&sgc_client_use_entire_heap) != 0,
        .dont_expand = sgc_a32_load(&sgc_client_dont_expand) != 0,
    };

    sgc_assert(ok());
    sgc_pacing_costs(&costs, &heap);
    sgc_aw_store(&pacing.worth, sgc_pace_worth(&costs));
    set_budget(sgc_pace_budget(&costs, &heap, &bounds));
    sgc_aw_store(&pacing.trigger, trigger(&costs, sgc_aw_load(&pacing.budget)));
}

void sgc_pacing_concurrent(uint64_t target_ns)
{
    _Static_assert(SGC_PACING_STOPS + 1 == 0, "as before there were any");
    sgc_aw_store(&pacing.pause_ns, target_ns + 1);
    sgc_pacing_reconsider();
}

/* What a program sets before the start is looked at when pacing starts. */
void sgc_pacing_reconsider(void)
{
    if (pacing.memory != 0)
        reconsider();
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
    sgc_verify(sgc_listener_add(&listener));
    pacing.memory = sgc_limit_physical_memory() / 4 * 3;
    sgc_pacing_costs_start();
    sgc_pacing_reconsider();
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

    sgc_assert(allocated < SGC_PACE_NEVER);
    return growth < allocated - least ? allocated - growth : least;
}

/* The budget is used up: is there touched memory to be used first?  Asked once a cycle.  To know it, all has to be swept, which
 * is little beside a cycle.  If another thread has changed the budget meanwhile, that one holds. */
static bool use_touched(struct sgc_mutator *self, size_t budget)
{
    size_t worth = sgc_aw_load(&pacing.worth), more;

    sgc_assert(ok() && sgc_section_of(self)->held == 0);
    if (budget != sgc_aw_load(&pacing.first) || sgc_pace_more(budget, SIZE_MAX, worth) == 0)
        return false;
    more = sgc_pace_more(budget, sgc_policy_free_touched(sgc_section_of(self)), worth);
    if (more != 0)
        sgc_aw_cas(&pacing.budget, budget, budget + more);
    return more != 0;
}

/* Sums do not overflow: see SGC_PACE_NEVER. */
static bool is_due(struct sgc_mutator *self, size_t allocated)
{
    size_t budget = sgc_aw_load(&pacing.budget), needed = budget + sgc_aw_load(&pacing.freed);

    if (allocated < needed || allocated < sgc_aw_load(&pacing.look))
        return false;
    needed = budget + sgc_pacing_freed_since();
    sgc_aw_store(&pacing.look, needed);
    return allocated >= needed && !use_touched(self, budget);
}

static enum sgc_due due(struct sgc_mutator *self)
{
    size_t allocated = counted(sgc_aw_load(&pacing.allocated)), trigger = sgc_aw_load(&pacing.trigger);

    if (is_due(self, allocated))
        return SGC_DUE_NOW;
    return allocated >= trigger + sgc_aw_load(&pacing.freed) ? SGC_DUE_SOON : SGC_DUE_NOT;
}

bool sgc_pacing_overdue(void)
{
    size_t budget = sgc_aw_load(&pacing.budget);

    return counted(sgc_aw_load(&pacing.allocated)) >= budget + budget / SGC_PACE_OVERSHOOT + sgc_aw_load(&pacing.freed);
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
enum sgc_due sgc_pacing_poll(struct sgc_mutator *self)
{
    bool any = take_over_spans();

    sgc_assert(ok() && sgc_section_of(self)->held == 0);
    if (!sgc_pacing_below_batch(&self->cache)) {
        sgc_section_enter(sgc_section_of(self));
        take_over(&self->cache);
        sgc_section_leave(sgc_section_of(self));
        any = true;
    }
    return any ? due(self) : SGC_DUE_NOT;
}

/* Those of ended threads, too. */
void sgc_pacing_take_all(void)
{
    uint32_t caches = sgc_a32_load_acq(&sgc_cache_count);

    for (uint32_t id = 1; id < caches; id++)
        take_over(sgc_cache_of(id));
    sgc_aw_add_relaxed(&pacing.allocated, sgc_span_take_allocated());
    sgc_aw_add_relaxed(&pacing.freed, sgc_span_take_freed());
    pacing.allocated_at_stop = sgc_aw_load(&pacing.allocated);
    pacing.freed_at_stop = sgc_aw_load(&pacing.freed);
}

size_t sgc_pacing_cycle_done(size_t live)
{
    size_t allocated = pacing.allocated_at_stop;

    sgc_assert(ok() && allocated <= sgc_aw_load(&pacing.allocated) && pacing.freed_at_stop <= sgc_aw_load(&pacing.freed));
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
    sgc_assert(ok());
    set_budget(sgc_pace_smaller(sgc_pace_larger(sgc_aw_load(&pacing.budget), SGC_PACE_MIN) * 2, SGC_PACE_NEVER));
    sgc_aw_store(&pacing.trigger, SGC_PACE_NEVER);
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
    sgc_pacing_reconsider();
    set_budget(sgc_pace_smaller(sgc_aw_load(&pacing.budget) + sgc_pace_smaller(bytes, SGC_PACE_NEVER), SGC_PACE_NEVER));
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

/* What takes less than 9 ms is done by one marker: waking others, and what the processors' caches lose, costs more than it
 * saves.  Beyond that each is to have a millisecond's work. */
int sgc_pacing_markers(int most)
{
    enum { ALONE_NS = 9000000, EACH_NS = 1000000 };
    uint64_t ns = sgc_pacing_marking_ns(sgc_pacing_live(), sgc_pacing_allocated_since());

    sgc_assert(most >= 1);
    return ns < ALONE_NS ? 1 : ns / EACH_NS < (uint64_t)most ? (int)(ns / EACH_NS) + 1 : most;
}
