/* SPDX-License-Identifier: MIT */
/* When to collect.  gc/pacing/pacing.h says which thread writes each field. */
#include "gc/pacing/pacing.h"

#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "gc/config/public_vars.h"
#include "gc/events/events.h"
#include "gc/config/option_set.h"
#include "gc/config/options.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/costs.h"
#include "gc/pacing/endo_rules.h"

struct pacing {
    _Alignas(128)
    sgc_aw_t budget;                    /* collect when so much was allocated since the last
                                         * cycle */
    sgc_aw_t first;                     /* the same, before memory that is free and touched was
                                         * added to it */
    sgc_aw_t worth;                     /* so much is added at most */
    sgc_aw_t recheck_at;                /* before it reaches that, other threads' frees make up for
                                         * it */
    sgc_aw_t trigger;                   /* ask for a concurrent cycle when `allocated` reaches that;
                                         * "never": they do not pay */
    sgc_aw_t pause_ns;                  /* for which cycles may stop the program, and one more; 0:
                                         * whatever it takes */
    sgc_aw_t used_up, freed_then;       /* allocated when the budget was first used up, 0: not yet;
                                         * and freed */
    sgc_aw_t early, own;                /* see struct sgc_pace_heap; */
    sgc_aw_t early_now;                 /* of the cycle that has begun */
    sgc_aw_t minimum;
    sgc_aw_t granted;                   /* the client has been promised a heap of so many bytes; 0:
                                         * none */
    sgc_aw_t non_gc_before;             /* GC_non_gc_bytes when the last cycle ended */
    size_t memory;                      /* that a heap may use on this machine; fixed at the
                                         * start */
};

SGC_STATE static struct pacing pacing;
SGC_STATE struct sgc_unpublished sgc_unpublished;

/* A thread adds up what it has claimed by itself first: with all others not more than a small part
 * of the budget. */
enum { UNPUBLISHED_SHARE = 32, UNPUBLISHED_MAX = 16 * SGC_PAGE };

/* A mark beside the program that begins late has this part of the budget all the same; threads look
 * so often meanwhile. */
enum { ROOM_SHARE = 4, POLLS = 1024 };

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

/* The heap's size that the client or the cgroup allows, but no more than the machine can bear.  A
 * user who wants to use the limit and sets none gets a quarter of the machine. */
static size_t limit(void)
{
    size_t pages = sgc_aw_load(&sgc_pool.limit);

    if (pages < pacing.memory / SGC_PAGE)
        return pages * SGC_PAGE;
    return pages == SIZE_MAX && use_limit() ? pacing.memory / 3 : pacing.memory;
}

/* The limit, if the user has named one, otherwise 0.  A limit that a program sets for itself has to
 * hold for each use of the program, so it does not count. */
static size_t named(void)
{
    bool is = sgc_option_origin(SGC_OPT_GC_MAXIMUM_HEAP_SIZE) == SGC_ORIGIN_ENVIRONMENT;

    return is ? sgc_pace_smaller(limit(), sgc_options.maximum_heap) : 0;
}

static void set_budget(size_t bytes)
{
    sgc_assert(bytes <= SGC_PACE_NEVER);
    sgc_aw_store(&pacing.recheck_at, 0);
    sgc_aw_store(&pacing.first, bytes);
    sgc_aw_store(&pacing.budget, bytes);
    sgc_aw_store(&sgc_unpublished.bytes, sgc_pace_smaller(bytes / UNPUBLISHED_SHARE, UNPUBLISHED_MAX));
}

/* [Endo]'s heap has a fixed size; here that is what lives and the budget. */
static bool use_endo(void)
{
    return sgc_options.pacing == SGC_PACING_ENDO;
}

static size_t endo_trigger(size_t budget)
{
    return sgc_pace_less(budget, sgc_pace_scale(sgc_counts_live() + budget, SGC_ENDO_THRESHOLD, 100));
}

/* Marking beside the program takes one thread, which it shares the processors with. */
static size_t trigger(const struct sgc_pace_costs *c, size_t budget)
{
    uint64_t pause_ns = sgc_aw_load(&pacing.pause_ns);
    uint64_t marking_ns = sgc_pacing_marking_ns(sgc_counts_live(), budget);
    size_t bytes = sgc_pacing_to_mark(sgc_counts_live(), budget);

    if (pause_ns == 0 || marking_ns / (uint64_t)sgc_marker_choice(marking_ns, bytes, sgc_options.markers) + 1 < pause_ns)
        return SGC_PACE_NEVER;
    return use_endo() ? endo_trigger(budget) : sgc_pace_trigger(budget, c, marking_ns, SGC_PACE_MARGIN);
}

static void reconsider(void)
{
    struct sgc_pace_costs costs;
    struct sgc_pace_heap heap = {
        .live = sgc_counts_live(),
        .early = sgc_aw_load(&pacing.early),
        .own = sgc_aw_load(&pacing.own),
        .size = sgc_pace_larger(sgc_pool_heap_bytes(), sgc_aw_load(&pacing.granted)),
        .allocated = sgc_counts_allocated_before(),
    };
    const struct sgc_pace_bounds bounds = {
        .divisor = sgc_aw_load(&sgc_client_free_space_divisor),
        .minimum = sgc_aw_load(&pacing.minimum),
        .initial = sgc_options.initial_heap,
        .granted = sgc_aw_load(&pacing.granted),
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

/* Before pacing starts nothing is done: sgc_pacing_init looks at the settings. */
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

/* The allocated bytes that call for a collection: without the growth of GC_non_gc_bytes, which no
 * collection can free, but at least an eighth, whatever the client says. */
static size_t counted(size_t allocated)
{
    size_t now = sgc_aw_load(&sgc_client_non_gc_bytes);
    size_t before = sgc_aw_load(&pacing.non_gc_before);
    size_t growth = now > before ? now - before : 0;
    size_t min = allocated / 8;

    sgc_assert(allocated < SGC_PACE_NEVER);
    return growth < allocated - min ? allocated - growth : min;
}

/* The budget is used up: is there touched memory to be used first?  Asked once a cycle.  To know
 * it, all has to be swept, which is little beside a cycle.  If another thread has changed the
 * budget meanwhile, that one holds. */
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

/* Are cycles concurrent?  Then what was used beyond the budget is free and touched afterwards: if
 * it were used first the next time, the heap would grow with each cycle. */
static bool is_concurrent(void)
{
    return sgc_aw_load(&pacing.trigger) != SGC_PACE_NEVER;
}

/* For the first time since the last cycle.  `freed_then` is published by `used_up`. */
static void note_used_up(size_t allocated, size_t freed)
{
    if (sgc_aw_load(&pacing.used_up) != 0)
        return;
    sgc_aw_store(&pacing.freed_then, freed);
    sgc_aw_store_rel(&pacing.used_up, allocated);
}

/* Since then, when it has allocated as much again: what it has allocated before may all live. */
static size_t own_since_used_up(size_t allocated, size_t freed, size_t budget)
{
    size_t more = sgc_pace_less(allocated, sgc_aw_load_acq(&pacing.used_up));
    size_t more_freed = sgc_pace_less(freed, sgc_aw_load(&pacing.freed_then));

    return more < budget ? 0 : sgc_pace_own(more, more_freed, sgc_pace_less(more, more_freed));
}

/* Has the program freed so much by itself since the last cycle, or since the budget was used up,
 * that this counts, even if all else that it has allocated since then is dead?  Then it has the
 * budget of one that does so. */
static bool has_freed_more(size_t allocated, size_t freed, size_t budget)
{
    size_t own = sgc_pace_own(allocated, freed, sgc_pace_less(allocated, freed + sgc_counts_unused_since()));

    own = sgc_pace_larger(own, own_since_used_up(allocated, freed, budget));
    if (own <= sgc_aw_load(&pacing.own))
        return false;
    sgc_aw_store(&pacing.own, own);
    reconsider();
    return true;
}

/* Slots that threads have claimed and not handed out count as allocated, so that a program with
 * many sizes has a small heap, too.  But as far as the program frees by itself it would only claim
 * the same slots anew after a cycle. */
static size_t needed(size_t budget, size_t freed)
{
    return budget + freed + sgc_pace_scale(sgc_counts_unused_since(), sgc_aw_load(&pacing.own), SGC_PACE_OWN);
}

/* Sums do not overflow: see SGC_PACE_NEVER. */
static bool is_due(struct sgc_mutator *self, size_t allocated)
{
    size_t budget = sgc_aw_load(&pacing.budget), freed;

    if (allocated < budget + sgc_counts_freed() || allocated < sgc_aw_load(&pacing.recheck_at))
        return false;
    freed = sgc_counts_freed_since();
    note_used_up(allocated, freed);
    if (allocated >= needed(budget, freed) && has_freed_more(allocated, freed, budget))
        budget = sgc_aw_load(&pacing.budget);
    sgc_aw_store(&pacing.recheck_at, needed(budget, freed));
    return allocated >= needed(budget, freed) && (is_concurrent() || !use_touched(self, budget));
}

/* The allocated bytes that call for a collection, less the freed ones. */
static size_t net_allocated(void)
{
    return sgc_pace_less(counted(sgc_counts_allocated()), sgc_counts_freed());
}

/* Beyond the budget, before the mark has begun and in all. */
static size_t overdue_at(void)
{
    size_t budget = sgc_aw_load(&pacing.budget);

    return budget + sgc_pace_scale(budget, SGC_PACE_BEYOND, 100);
}

bool sgc_pacing_overdue(void)
{
    size_t allocated = sgc_pace_less(counted(sgc_counts_allocated()), sgc_counts_freed_since());

    return sgc_concurrent_pace_on() ? sgc_concurrent_pace_overdue(allocated) : allocated >= overdue_at();
}

static void plan_endo(struct sgc_concurrent_pace_plan *plan, size_t budget)
{
    plan->endo = true;
    plan->room = sgc_pace_larger(sgc_pace_less(budget, plan->from), SGC_PACE_MIN);
    plan->expected = sgc_endo_pace(plan->live + budget, sgc_pace_smaller(plan->room, plan->live + budget)).used;
}

static void plan_ours(struct sgc_concurrent_pace_plan *plan, size_t budget)
{
    size_t min_room = sgc_pace_larger(budget / ROOM_SHARE, SGC_PACE_MIN);

    plan->room = sgc_pace_larger(sgc_pace_less(overdue_at(), plan->from), min_room);
    plan->expected = sgc_pacing_to_mark(plan->live, plan->from + plan->room / 2);
}

/* Each thread looks the more often the less room there is. */
void sgc_pacing_mark_begins(void)
{
    struct sgc_concurrent_pace_plan plan = { .from = net_allocated(), .live = sgc_counts_live() };
    size_t batch;

    sgc_assert(ok());
    sgc_pacing_costs_learn_mutator(sgc_counts_at_stop()->allocated);
    (use_endo() ? plan_endo : plan_ours)(&plan, sgc_aw_load(&pacing.budget));
    sgc_concurrent_pace_begin(&plan);
    batch = sgc_pace_larger(plan.room / POLLS, SGC_UNPUBLISHED_MIN);
    sgc_aw_store(&sgc_unpublished.bytes, sgc_pace_smaller(sgc_aw_load(&sgc_unpublished.bytes), batch));
}

static enum sgc_due due_while_marking(void)
{
    size_t allocated = net_allocated();

    if (sgc_concurrent_pace_overdue(allocated))
        return SGC_DUE_NOW;
    return sgc_concurrent_pace_behind(allocated) ? SGC_DUE_ASSIST : SGC_DUE_NOT;
}

static enum sgc_due due(struct sgc_mutator *self)
{
    size_t allocated = counted(sgc_counts_allocated()), trigger = sgc_aw_load(&pacing.trigger);

    if (sgc_concurrent_pace_on())
        return due_while_marking();
    if (is_due(self, allocated))
        return SGC_DUE_NOW;
    return allocated >= trigger + sgc_counts_freed() ? SGC_DUE_SOON : SGC_DUE_NOT;
}

/* Only who has something to add looks at what all have added: that, too, is shared. */
enum sgc_due sgc_pacing_poll(struct sgc_mutator *self)
{
    bool any = sgc_counts_take_spans();

    sgc_assert(ok() && sgc_section_of(self)->held == 0);
    if (!sgc_pacing_below_batch(&self->cache)) {
        sgc_section_enter(sgc_section_of(self));
        sgc_counts_take(&self->cache);
        sgc_section_leave(sgc_section_of(self));
        any = true;
    }
    return any ? due(self) : SGC_DUE_NOT;
}

/* How far does the program free by itself?  A few bytes do not say it.  Slots claimed and not
 * handed out are not dead. */
static void learn_own(const struct sgc_counts_stop *stop, size_t live, size_t early)
{
    size_t freed = stop->freed + early;
    size_t there = sgc_pace_less(sgc_counts_live() + stop->allocated, freed + stop->unused);

    if (stop->allocated >= SGC_PACE_MIN)
        sgc_aw_store(&pacing.own, sgc_pace_own(stop->allocated, freed, sgc_pace_less(there, live)));
}

/* Bytes that the cycle freed in the program's place count only as far as the program freed as much
 * itself: otherwise a heap that only cycles free would grow. */
void sgc_pacing_cycle_done(struct sgc_cycle_record *record)
{
    const struct sgc_counts_stop *stop = sgc_counts_at_stop();
    size_t live = record->marked.bytes, early = sgc_aw_swap(&pacing.early_now, 0);

    sgc_assert(ok());
    learn_own(stop, live, early);
    early = sgc_pace_smaller(early, stop->freed);
    sgc_counts_cycle_done(live);
    sgc_aw_store(&pacing.used_up, 0);
    sgc_aw_store(&pacing.early, early);
    sgc_aw_store(&pacing.non_gc_before, sgc_aw_load(&sgc_client_non_gc_bytes));
    record->heap.allocated_bytes = stop->allocated;
    sgc_concurrent_pace_fill(record);
}

/* Trying again at once, or after the first few kilobytes, would cost every allocation the time
 * until the next one gives up. */
void sgc_pacing_given_up(void)
{
    sgc_assert(ok());
    set_budget(sgc_pace_smaller(sgc_pace_larger(sgc_aw_load(&pacing.budget), SGC_PACE_MIN) * 2, SGC_PACE_NEVER));
    sgc_aw_store(&pacing.trigger, SGC_PACE_NEVER);
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
    sgc_assert(ok());
    sgc_count_add(&pacing.early_now, bytes);
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

void sgc_pacing_grant(size_t heap, size_t more)
{
    sgc_aw_store(&pacing.granted, heap);
    sgc_pacing_reconsider();
    if (more != 0)
        set_budget(sgc_pace_smaller(sgc_aw_load(&pacing.budget) + sgc_pace_smaller(more, SGC_PACE_NEVER), SGC_PACE_NEVER));
}

size_t sgc_pacing_granted(void)
{
    return sgc_aw_load(&pacing.granted);
}

int sgc_pacing_markers(int max)
{
    size_t live = sgc_counts_live(), since = sgc_counts_allocated_since();

    sgc_assert(max >= 1);
    return sgc_marker_choice(sgc_pacing_marking_ns(live, since), sgc_pacing_to_mark(live, since), max);
}
