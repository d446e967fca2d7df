/* SPDX-License-Identifier: MIT */
/* Is a cycle due?  gc/pacing/budget.h says which thread writes what. */
#include "alloc/page_supply.h"
#include "gc/config/public_vars.h"
#include "gc/pacing/budget.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/costs.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/endo_rules.h"
#include "gc/pacing/help_rules.h"
#include "gc/pacing/pacing.h"
#include "platform/faults.h"

/* A mark beside the program that begins late has this part of the budget all the same; threads look
 * so often meanwhile. */
enum { ROOM_SHARE = 4, POLLS = 1024 };

/* The budget is used up: is there touched memory to be used first?  Asked once a cycle.  To know
 * it, all has to be swept, which is little beside a cycle.  If another thread has changed the
 * budget meanwhile, that one holds. */
static bool use_touched(struct sgc_mutator *self, size_t budget)
{
    size_t worth = sgc_aw_load(&sgc_budget.worth), more;

    sgc_assert(sgc_budget_ok() && sgc_section_of(self)->held == 0);
    if (budget != sgc_aw_load(&sgc_budget.first) || sgc_pace_more(budget, SIZE_MAX, worth) == 0)
        return false;
    more = sgc_pace_more(budget, sgc_policy_free_touched(sgc_section_of(self)), worth);
    if (more != 0)
        sgc_aw_cas(&sgc_budget.bytes, budget, budget + more);
    return more != 0;
}

/* Are cycles concurrent?  Then what was used beyond the budget is free and touched afterwards: if
 * it were used first the next time, the heap would grow with each cycle. */
static bool is_concurrent(void)
{
    return sgc_aw_load(&sgc_budget.trigger) != SGC_PACE_NEVER;
}

/* For the first time since the last cycle.  `freed_then` is published by `used_up`. */
static void note_used_up(size_t allocated, size_t freed)
{
    if (sgc_aw_load(&sgc_budget.used_up) != 0)
        return;
    sgc_aw_store(&sgc_budget.freed_then, freed);
    sgc_aw_store_rel(&sgc_budget.used_up, allocated);
}

/* Since then, when it has allocated as much again: what it has allocated before may all live. */
static size_t own_since_used_up(size_t allocated, size_t freed, size_t budget)
{
    size_t more = sgc_pace_less(allocated, sgc_aw_load_acq(&sgc_budget.used_up));
    size_t more_freed = sgc_pace_less(freed, sgc_aw_load(&sgc_budget.freed_then));

    return more < budget ? 0 : sgc_pace_own(more, more_freed, sgc_pace_less(more, more_freed));
}

/* Has the program freed so much by itself since the last cycle, or since the budget was used up,
 * that this counts, even if all else that it has allocated since then is dead?  Then it has the
 * budget of one that does so. */
static bool has_freed_more(size_t allocated, size_t freed, size_t budget)
{
    size_t own = sgc_pace_own(allocated, freed, sgc_pace_less(allocated, freed + sgc_counts_unused_since()));

    own = sgc_pace_larger(own, own_since_used_up(allocated, freed, budget));
    if (own <= sgc_aw_load(&sgc_budget.own))
        return false;
    sgc_aw_store(&sgc_budget.own, own);
    sgc_pacing_reconsider();
    return true;
}

/* Slots that threads have claimed and not handed out count as allocated, so that a program with
 * many sizes has a small heap, too.  But as far as the program frees by itself it would only claim
 * the same slots anew after a cycle. */
static size_t needed(size_t budget, size_t freed)
{
    return budget + freed + sgc_pace_scale(sgc_counts_unused_since(), sgc_aw_load(&sgc_budget.own), SGC_PACE_OWN);
}

/* Sums do not overflow: see SGC_PACE_NEVER. */
static bool is_due(struct sgc_mutator *self, size_t allocated)
{
    size_t budget = sgc_aw_load(&sgc_budget.bytes), freed;

    if (allocated < budget + sgc_counts_freed() || allocated < sgc_aw_load(&sgc_budget.recheck_at))
        return false;
    freed = sgc_counts_freed_since();
    note_used_up(allocated, freed);
    if (allocated >= needed(budget, freed) && has_freed_more(allocated, freed, budget))
        budget = sgc_aw_load(&sgc_budget.bytes);
    sgc_aw_store(&sgc_budget.recheck_at, needed(budget, freed));
    return allocated >= needed(budget, freed) && (is_concurrent() || !use_touched(self, budget));
}

/* ---- a mark beside the program ---- */

static void plan_endo(struct sgc_concurrent_pace_plan *plan)
{
    size_t budget = sgc_aw_load(&sgc_budget.bytes);

    plan->endo = true;
    plan->room = sgc_pace_larger(sgc_pace_less(budget, plan->from), SGC_PACE_MIN);
    plan->expected = sgc_endo_pace(plan->live + budget, sgc_pace_smaller(plan->room, plan->live + budget)).used;
}

/* The program may allocate so much beyond the budget; a mark that begins late has a part of the
 * budget, or of what there is to mark, all the same. */
static size_t room_from(size_t from)
{
    size_t budget = sgc_aw_load(&sgc_budget.bytes), to_mark = sgc_pacing_may_mark(sgc_counts_live(), from);
    size_t min_room = sgc_pace_larger(sgc_pace_larger(budget, to_mark) / ROOM_SHARE, SGC_PACE_MIN);
    size_t overdue_at = budget + sgc_pace_scale(budget, SGC_PACE_BEYOND, 100);

    return sgc_pace_larger(sgc_pace_less(overdue_at, from), min_room);
}

static void plan_ours(struct sgc_concurrent_pace_plan *plan)
{
    plan->room = room_from(plan->from);
    plan->expected = sgc_pacing_may_mark(plan->live, plan->from + plan->room / 2);
}

/* Each thread looks the more often the less room there is. */
void sgc_pacing_mark_begins(void)
{
    struct sgc_concurrent_pace_plan plan = { .from = sgc_budget_net_allocated(), .live = sgc_counts_live() };
    size_t batch;

    sgc_assert(sgc_budget_ok());
    sgc_pacing_costs_learn_mutator(sgc_counts_at_stop()->allocated);
    (sgc_budget_endo() ? plan_endo : plan_ours)(&plan);
    plan.mark_ns = sgc_pacing_marking_ns(sgc_pacing_may_mark(plan.live, plan.from));
    sgc_concurrent_pace_begin(&plan);
    batch = sgc_pace_larger(plan.room / POLLS, SGC_UNPUBLISHED_MIN);
    sgc_aw_store(&sgc_unpublished.bytes, sgc_pace_smaller(sgc_aw_load(&sgc_unpublished.bytes), batch));
}

/* ---- is one due? ---- */

/* Is there no memory for a heap that goes on growing until the cycle is over? */
static bool out_of_memory(size_t allocated)
{
    return sgc_counts_live() + allocated >= sgc_budget_limit() || sgc_fault(SGC_FAULT_ONE_STOP);
}

static enum sgc_due due_while_marking(size_t allocated, size_t next)
{
    switch (sgc_concurrent_pace_is(allocated + next)) {
    case SGC_PACE_HOPELESS:
    case SGC_PACE_OVERDUE:
        if (sgc_budget_endo() || out_of_memory(allocated) || sgc_concurrent_pace_is(allocated) == SGC_PACE_HOPELESS)
            return SGC_DUE_NOW;
        return SGC_DUE_LATE;
    case SGC_PACE_BEHIND:
        return SGC_DUE_ASSIST;
    default:
        return SGC_DUE_NOT;
    }
}

/* The budget is used up. */
static enum sgc_due due_now_or_late(void)
{
    size_t allocated = sgc_budget_net_allocated();

    return !sgc_budget_stops_long(allocated) || out_of_memory(allocated) ? SGC_DUE_NOW : SGC_DUE_LATE;
}

bool sgc_pacing_hopeless(void)
{
    size_t allocated = sgc_budget_net_allocated();

    if (allocated == 0 || sgc_concurrent_pace_on())
        return false;
    return sgc_concurrent_pace_late(allocated) / SGC_PACE_ROOMS >= room_from(allocated);
}

enum sgc_stopped_for sgc_pacing_stopped_for(void)
{
    size_t allocated = sgc_budget_net_allocated();

    if (out_of_memory(allocated))
        return SGC_FOR_MEMORY;
    if (sgc_concurrent_pace_on())
        return sgc_budget_endo() ? SGC_FOR_MEMORY : SGC_FOR_LATE;
    return sgc_budget_stops_long(allocated) ? SGC_FOR_LATE : SGC_FOR_SHORT;
}

static enum sgc_due due(struct sgc_mutator *self, size_t next)
{
    size_t allocated = sgc_budget_counted(sgc_counts_allocated());
    bool soon = allocated >= sgc_aw_load(&sgc_budget.trigger) + sgc_counts_freed();

    if (sgc_concurrent_pace_on())
        return due_while_marking(sgc_budget_net_allocated(), next);
    if (is_due(self, soon ? allocated + next : allocated))
        return due_now_or_late();
    return soon ? SGC_DUE_SOON : SGC_DUE_NOT;
}

/* The large object that comes counts here: a cycle is wanted already.  For one that is not wanted
 * yet it does not count by itself (due): a program that frees each before it makes the next needs
 * none. */
enum sgc_due sgc_pacing_poll_again(const struct sgc_mutator *self)
{
    sgc_counts_take_spans();
    if (sgc_concurrent_pace_on())
        return due_while_marking(sgc_budget_net_allocated(), self->coming);
    return sgc_budget_net_allocated() + self->coming >= sgc_aw_load(&sgc_budget.bytes) ? due_now_or_late() : SGC_DUE_NOT;
}

static uint64_t worth_ns(size_t bytes)
{
    size_t from = sgc_budget_net_allocated();
    uint64_t worth = sgc_concurrent_pace_worth_ns(bytes, from);

    if (worth != UINT64_MAX)
        return worth;
    return sgc_help_worth_ns(sgc_pacing_marking_ns(sgc_pacing_may_mark(sgc_counts_live(), from)), bytes, room_from(from));
}

/* The threads that help the cycle; the calling one does now. */
static uint32_t helpers(struct sgc_mutator *self)
{
    uint32_t epoch = sgc_heap.epoch, before;

    if (self->helped_in == epoch)
        return sgc_a32_load(&sgc_budget.helpers);
    self->helped_in = epoch;
    before = sgc_a32_add(&sgc_budget.helpers, 1);
    return before + 1;
}

struct sgc_help sgc_pacing_help(struct sgc_mutator *self)
{
    uint32_t threads = helpers(self);

    sgc_assert(sgc_budget_ok());
    return (struct sgc_help){ worth_ns(self->owed), sgc_help_rests(threads != 0 ? threads : 1, sgc_budget.processors) };
}

/* Only who has something to add looks at what all have added: that, too, is shared. */
enum sgc_due sgc_pacing_poll(struct sgc_mutator *self, size_t next)
{
    bool any = sgc_counts_take_spans() || next != 0;
    size_t claimed = 0;
    enum sgc_due is;

    sgc_assert(sgc_budget_ok() && sgc_section_of(self)->held == 0 && next < SGC_PACE_NEVER);
    if (!sgc_pacing_below_batch(&self->cache)) {
        claimed = self->cache.claimed_counted;
        sgc_section_enter(sgc_section_of(self));
        sgc_counts_take(&self->cache);
        claimed = self->cache.claimed_counted - claimed;
        sgc_section_leave(sgc_section_of(self));
        any = true;
    }
    if (!any)
        return SGC_DUE_NOT;
    is = due(self, next);
    self->coming = next;
    self->owed = is == SGC_DUE_ASSIST || is == SGC_DUE_LATE ? self->owed + claimed + next : 0;
    return is;
}
