/* SPDX-License-Identifier: MIT */
/* The budget.  gc/pacing/budget.h says which thread writes each field. */
#include "gc/pacing/pacing.h"

#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "alloc/small/sampling.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/pacing/budget.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/costs.h"
#include "gc/pacing/endo_rules.h"

SGC_STATE struct sgc_budget sgc_budget;
SGC_STATE struct sgc_unpublished sgc_unpublished;

/* A thread adds up what it has claimed by itself first: with all others not more than a small part
 * of the budget. */
enum { UNPUBLISHED_SHARE = 32, UNPUBLISHED_MAX = 16 * SGC_PAGE };

/* ---- how much before the next cycle ---- */

static bool use_limit(void)
{
    return sgc_options.pacing == SGC_PACING_LIMIT;
}

/* The heap's size that the client or the cgroup allows, but no more than the machine can bear.  A
 * user who wants to use the limit and sets none gets a quarter of the machine. */
size_t sgc_budget_limit(void)
{
    size_t pages = sgc_aw_load(&sgc_pool.limit);

    if (pages < sgc_budget.memory / SGC_PAGE)
        return pages * SGC_PAGE;
    return pages == SIZE_MAX && use_limit() ? sgc_budget.memory / 3 : sgc_budget.memory;
}

/* The limit, if the user has named one, otherwise 0.  A limit that a program sets for itself has to
 * hold for each use of the program, so it does not count. */
static size_t named(void)
{
    bool is = sgc_option_origin(SGC_OPT_GC_MAXIMUM_HEAP_SIZE) == SGC_ORIGIN_ENVIRONMENT;

    return is ? sgc_pace_smaller(sgc_budget_limit(), sgc_options.maximum_heap) : 0;
}

static void set_budget(size_t bytes)
{
    sgc_assert(bytes <= SGC_PACE_NEVER);
    sgc_aw_store(&sgc_budget.recheck_at, 0);
    sgc_aw_store(&sgc_budget.first, bytes);
    sgc_aw_store(&sgc_budget.bytes, bytes);
    sgc_pacing_allow_unpublished();
}

/* None while samples of what is allocated are taken: each thread polls when one is near. */
void sgc_pacing_allow_unpublished(void)
{
    size_t bytes = sgc_aw_load(&sgc_budget.bytes);

    sgc_aw_store(&sgc_unpublished.bytes,
                 sgc_sampling.rate != 0 ? 0 : sgc_pace_smaller(bytes / UNPUBLISHED_SHARE, UNPUBLISHED_MAX));
}

static size_t endo_trigger(size_t budget)
{
    return sgc_pace_less(budget, sgc_pace_scale(sgc_counts_live() + budget, SGC_ENDO_THRESHOLD, 100));
}

bool sgc_budget_stops_long(size_t since)
{
    size_t bytes = sgc_pacing_may_mark(sgc_counts_live(), since);
    uint64_t pause_ns = sgc_aw_load(&sgc_budget.pause_ns), marking_ns = sgc_pacing_marking_ns(bytes);

    return pause_ns != 0 && marking_ns / (uint64_t)sgc_marker_choice(marking_ns, bytes, sgc_options.markers) + 1 >= pause_ns;
}

/* Marking beside the program takes one thread, which it shares the processors with. */
static size_t trigger(const struct sgc_pace_costs *c, size_t budget)
{
    uint64_t marking_ns = sgc_pacing_marking_ns(sgc_pacing_to_mark(sgc_counts_live(), budget));
    size_t room = sgc_pace_less(sgc_budget_limit(), sgc_counts_live());

    if (!sgc_budget_stops_long(budget))
        return SGC_PACE_NEVER;
    return sgc_budget_endo() ? endo_trigger(budget) : sgc_pace_trigger(budget, room, c, marking_ns, SGC_PACE_MARGIN);
}

static void reconsider(void)
{
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap = {
        .live = sgc_counts_live(),
        .early = sgc_aw_load(&sgc_budget.early),
        .own = sgc_aw_load(&sgc_budget.own),
        .size = sgc_pace_larger(sgc_pool_heap_bytes(), sgc_aw_load(&sgc_budget.granted)),
        .allocated = sgc_counts_allocated_before(),
    };
    const struct sgc_pace_bounds bounds = {
        .divisor = sgc_aw_load(&sgc_client_free_space_divisor),
        .minimum = sgc_aw_load(&sgc_budget.minimum),
        .initial = sgc_options.initial_heap,
        .granted = sgc_aw_load(&sgc_budget.granted),
        .named = named(),
        .limit = sgc_budget_limit(),
        .use_limit = use_limit(),
        .use_entire_heap = sgc_a32_load(&sgc_client_use_entire_heap) != 0,
        .dont_expand = sgc_a32_load(&sgc_client_dont_expand) != 0,
    };

    sgc_assert(sgc_budget_ok());
    sgc_pacing_costs(&costs, &heap);
    sgc_aw_store(&sgc_budget.worth, sgc_pace_worth(&costs));
    set_budget(sgc_pace_budget(&costs, &heap, &bounds));
    sgc_aw_store(&sgc_budget.step, sgc_aw_load(&sgc_budget.bytes));
    sgc_aw_store(&sgc_budget.trigger, trigger(&costs, sgc_aw_load(&sgc_budget.bytes)));
}

void sgc_pacing_concurrent(uint64_t target_ns)
{
    _Static_assert(SGC_PACING_STOPS + 1 == 0, "as before there were any");
    sgc_aw_store(&sgc_budget.pause_ns, target_ns + 1);
    sgc_pacing_reconsider();
}

/* Before pacing starts nothing is done: sgc_pacing_init looks at the settings. */
void sgc_pacing_reconsider(void)
{
    if (sgc_budget.memory != 0)
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
    sgc_budget.processors = (uint32_t)(sgc_options.processors != 0 ? sgc_options.processors : sgc_limit_cpus());
    sgc_budget.memory = sgc_limit_physical_memory() / 4 * 3;
    sgc_pacing_costs_start();
    sgc_pacing_reconsider();
}

/* ---- a cycle is over ---- */

/* How far does the program free by itself?  A few bytes do not say it.  Slots claimed and not
 * handed out are not dead. */
static void learn_own(const struct sgc_counts_stop *stop, size_t live, size_t early)
{
    size_t freed = stop->freed + early;
    size_t there = sgc_pace_less(sgc_counts_live() + stop->allocated, freed + stop->unused);

    if (stop->allocated >= SGC_PACE_MIN)
        sgc_aw_store(&sgc_budget.own, sgc_pace_own(stop->allocated, freed, sgc_pace_less(there, live)));
}

/* Bytes that the cycle freed in the program's place count only as far as the program freed as much
 * itself: otherwise a heap that only cycles free would grow. */
void sgc_pacing_cycle_done(struct sgc_cycle_record *record)
{
    const struct sgc_counts_stop *stop = sgc_counts_at_stop();
    size_t live = record->marked.bytes, early = sgc_aw_swap(&sgc_budget.early_now, 0);

    sgc_assert(sgc_budget_ok());
    learn_own(stop, live, early);
    early = sgc_pace_smaller(early, stop->freed);
    sgc_counts_cycle_done(live);
    sgc_aw_store(&sgc_budget.used_up, 0);
    sgc_a32_store(&sgc_budget.helpers, 0);
    sgc_aw_store(&sgc_budget.early, early);
    sgc_aw_store(&sgc_budget.non_gc_before, sgc_aw_load(&sgc_client_non_gc_bytes));
    record->heap.allocated_bytes = stop->allocated;
    sgc_concurrent_pace_fill(record);
}

void sgc_pacing_after_fork(void)
{
    struct sgc_cycle_record parents = { .cycle = 0 };

    sgc_a32_store(&sgc_budget.helpers, 0);
    sgc_concurrent_pace_fill(&parents);
}

/* Trying again at once, or after the first few kilobytes, would cost every allocation the time
 * until the next one gives up.  A stop function says so at once; how often it has done so changes
 * nothing, since a cycle is to come soon when it can be made.  A stop that fails takes seconds, so
 * there are fewer and fewer. */
void sgc_pacing_given_up(bool can_stop)
{
    size_t allocated = sgc_budget_net_allocated(), step = sgc_pace_larger(sgc_aw_load(&sgc_budget.step), SGC_PACE_MIN);
    size_t from = sgc_pace_larger(sgc_aw_load(&sgc_budget.bytes), allocated);

    sgc_assert(sgc_budget_ok());
    if (!can_stop)
        step = sgc_pace_larger(step, from);
    set_budget(sgc_pace_smaller(from + step, SGC_PACE_NEVER));
    sgc_aw_store(&sgc_budget.trigger, SGC_PACE_NEVER);
    if (sgc_aw_load(&sgc_concurrent_room) < SGC_PACE_NEVER)
        sgc_concurrent_pace_room_from(can_stop ? allocated : SGC_PACE_NEVER);
}

void sgc_pacing_reclaimed(size_t bytes)
{
    if (bytes == 0)
        return;
    sgc_pacing_limit_paid();
    if (sgc_counts_reclaimed(bytes))
        sgc_pacing_reconsider();
}

/* Bytes freed by a cycle that was given up count for the next one. */
void sgc_pacing_freed_early(size_t bytes)
{
    sgc_assert(sgc_budget_ok());
    sgc_count_add(&sgc_budget.early_now, bytes);
}

void sgc_pacing_set_minimum(size_t bytes)
{
    sgc_aw_store(&sgc_budget.minimum, bytes);
    sgc_pacing_reconsider();
}

size_t sgc_pacing_minimum(void)
{
    size_t minimum = sgc_aw_load(&sgc_budget.minimum);

    return minimum != 0 ? minimum : 1;
}

/* The next cycle, and the mark beside the program with which it begins. */
static void postpone(size_t more)
{
    size_t begin = sgc_aw_load(&sgc_budget.trigger);

    set_budget(sgc_pace_smaller(sgc_aw_load(&sgc_budget.bytes) + more, SGC_PACE_NEVER));
    sgc_aw_store(&sgc_budget.trigger, sgc_pace_smaller(begin + more, SGC_PACE_NEVER));
}

void sgc_pacing_grant(size_t heap, size_t more)
{
    sgc_aw_store(&sgc_budget.granted, heap);
    sgc_pacing_reconsider();
    if (more != 0)
        postpone(sgc_pace_smaller(more, SGC_PACE_NEVER));
}

size_t sgc_pacing_granted(void)
{
    return sgc_aw_load(&sgc_budget.granted);
}

int sgc_pacing_markers(int max)
{
    size_t bytes = sgc_pacing_to_mark(sgc_counts_live(), sgc_counts_allocated_since());

    sgc_assert(max >= 1);
    return sgc_marker_choice(sgc_pacing_marking_ns(bytes), bytes, max);
}
