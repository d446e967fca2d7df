/* SPDX-License-Identifier: MIT */
/* See gc/collect/attempt.h. */
#include "gc/collect/attempt.h"

#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/collect/pause.h"
#include "gc/collect/torture.h"
#include "gc/pacing/pacing.h"
#include "gc/threads/gc_lock.h"

/* Written by who has the GC lock; read by the lead, which has it now and then: relaxed. */
struct costs {
    sgc_aw_t fixed_ns, page_ns;
};

SGC_STATE static struct costs costs = { .fixed_ns = SGC_ATOMIC_INIT(100000), .page_ns = SGC_ATOMIC_INIT(2500) };

SGC_STATE sgc_a32_t sgc_attempts_max = SGC_ATOMIC_INIT(SGC_ATTEMPTS_MAX);
SGC_STATE sgc_aw_t sgc_time_limit_ns;

enum { UNLIMITED_MS = 999999 };         /* GC_TIME_UNLIMITED */

/* ---- what stops cost ---- */

uint64_t sgc_pause_target_ns(void)
{
    uintptr_t ms = sgc_aw_load(&sgc_client_time_limit);

    if (ms == UNLIMITED_MS)
        return (uint64_t)sgc_options.pause_target_ms * 1000000;
    return (uint64_t)ms * 1000000 + sgc_aw_load(&sgc_time_limit_ns);
}

struct sgc_pause_costs sgc_attempt_costs(void)
{
    return (struct sgc_pause_costs){ sgc_pause_target_ns(), sgc_aw_load(&costs.fixed_ns), sgc_aw_load(&costs.page_ns),
                                     sgc_a32_load(&sgc_attempts_max) };
}

enum { PAGES_MIN = 16 };        /* fewer say nothing about the cost of one */

static void learn(const struct sgc_cycle_record *r)
{
    uint64_t pages_ns = r->phase_ns[SGC_PHASE_MARK], fixed_ns = sgc_cycle_pause_ns(r) - pages_ns;

    sgc_aw_store(&costs.fixed_ns, sgc_pause_learn(sgc_aw_load(&costs.fixed_ns), fixed_ns));
    if (r->written_pages >= PAGES_MIN)
        sgc_aw_store(&costs.page_ns, sgc_pause_learn(sgc_aw_load(&costs.page_ns), pages_ns / r->written_pages));
}

/* ---- a stop ---- */

static void pause_to_attempt(struct sgc_cycle *c)
{
    if (sgc_cycle_run(c, sgc_phases_attempt))
        sgc_cycle_run(c, c->complete ? sgc_phases_commit : sgc_phases_go_on);
}

static void finish(void)
{
    sgc_team_trim(&sgc_cycle.team);
    sgc_cycle_close();
}

/* True if all was marked: then the cycle is finished.  Otherwise there may be another stop. */
static bool stop(struct sgc_mutator *self, uint32_t markers, uint64_t allowed_ns)
{
    struct sgc_cycle *c = &sgc_cycle;
    bool done;

    sgc_assert(sgc_gc_lock_held());
    c->deadline = allowed_ns == UINT64_MAX ? UINT64_MAX : sgc_clock_ns() + allowed_ns;
    done = sgc_cycle_stop(self, markers, pause_to_attempt) && c->complete;
    c->stops += c->stopped;
    if (c->stopped && c->stops > 1)
        learn(&c->record);
    if (done)
        finish();
    else if (c->stopped)
        sgc_cycle_stop_again(&c->record);
    else
        sgc_cycle_stop_failed(&c->record);
    return done;
}

bool sgc_attempt_first(struct sgc_mutator *self, uintptr_t from)
{
    sgc_cycle_open(self, SGC_REASON_ALLOCATION, NULL, from);
    sgc_assert(sgc_cycle.stops == 0);
    stop(self, 1, 0);
    sgc_assert(!sgc_cycle.complete);
    return sgc_cycle.stopped;
}

bool sgc_attempt(struct sgc_mutator *self, uint32_t attempts, uintptr_t from)
{
    struct sgc_pause_costs c = sgc_attempt_costs();
    uint64_t allowed = sgc_torture_deadline(self, sgc_pause_allowed(&c, attempts));

    sgc_cycle.self = self, sgc_cycle.from = from;
    return stop(self, allowed == UINT64_MAX ? (uint32_t)sgc_options.markers : 1, allowed);
}

bool sgc_attempt_finish(struct sgc_mutator *self, enum sgc_reason reason, uintptr_t from)
{
    sgc_cycle.self = self, sgc_cycle.from = from;
    sgc_cycle.record.reason = reason;
    return stop(self, (uint32_t)sgc_options.markers, UINT64_MAX);
}
