/* SPDX-License-Identifier: MIT */
/* See gc/collect/stops.h. */
#include "gc/collect/stops.h"

#include "alloc/marking.h"
#include "gc/collect/client_hooks.h"
#include "gc/collect/cycle.h"
#include "gc/collect/torture.h"
#include "gc/collect/write_watch.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/rounds.h"
#include "gc/roots/roots.h"
#include "gc/threads/gc_lock.h"
#include "platform/faults.h"

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

struct sgc_pause_costs sgc_stops_costs(void)
{
    return (struct sgc_pause_costs){ sgc_pause_target_ns(), sgc_aw_load(&costs.fixed_ns), sgc_aw_load(&costs.page_ns),
                                     sgc_a32_load(&sgc_attempts_max) };
}

enum { PAGES_MIN = 16 };        /* fewer say nothing about the cost of one */

static void learn(const struct sgc_cycle_record *r)
{
    uint64_t pages_ns = r->times.phase_ns[SGC_PHASE_MARK], fixed_ns = sgc_cycle_pause_ns(r) - pages_ns;

    sgc_aw_store(&costs.fixed_ns, sgc_pause_learn(sgc_aw_load(&costs.fixed_ns), fixed_ns));
    if (r->concurrent.written_pages >= PAGES_MIN)
        sgc_aw_store(&costs.page_ns, sgc_pause_learn(sgc_aw_load(&costs.page_ns), pages_ns / r->concurrent.written_pages));
}

/* ---- rows: on the collecting thread, world stopped ---- */

static bool is_over(void *arg)
{
    (void)arg;
    if (sgc_cycle.stop != NULL && sgc_cycle.stop() != 0)
        return true;
    return sgc_cycle.deadline != UINT64_MAX && sgc_clock_ns() >= sgc_cycle.deadline;
}

/* The stop may last so long from its first signal on; the program's functions that are called
 * before do not count.  Roots are scanned on the spot: when the program goes on, nothing of them
 * may be left. */
static bool attempt_roots(struct sgc_cycle *c)
{
    size_t before = 0;

    sgc_assert(sgc_concurrent_marks());
    c->deadline = c->allowed_ns == UINT64_MAX ? UINT64_MAX : c->record.times.stop_begin_ns + c->allowed_ns;
    if (c->stops == 0) {
        if (sgc_closure_is_checked())
            sgc_closure_begin();
        c->first = sgc_team_begin_concurrent(&c->team);
        sgc_marking_begin();
    } else {
        sgc_a32_store_rel(&c->state, SGC_CYCLE_STANDS);
        sgc_team_program_stopped(&c->team);
        before = c->first->root_bytes;
        if (sgc_fault(SGC_FAULT_ROOTS_ONCE))
            return true;
    }
    sgc_client_hooks.push_roots(c->first);
    sgc_roots_mark(c->first);
    sgc_finalization_roots(c->first);
    c->record.marked.root_bytes = c->first->root_bytes - before;
    return true;
}

/* The first stop is for roots only. */
static bool attempt_mark(struct sgc_cycle *c)
{
    size_t pages = 0;
    bool unlimited = c->deadline == UINT64_MAX && c->stop == NULL;
    bool rescanned = c->stops != 0 && sgc_watch_rescan(c->self, c->first, false, is_over, &pages);

    sgc_cycle_event(&c->record, SGC_ON_ROOTS_DONE);
    c->record.concurrent.written_pages = pages;
    c->complete = rescanned && (unlimited || sgc_team_go_on_flagged(&c->team, is_over, NULL));
    return true;
}

/* From here on as in a cycle that is one stop: nothing gives it up any more. */
static bool commit_mark(struct sgc_cycle *c)
{
    sgc_finalization_share(&c->team);
    sgc_team_finish_begin(&c->team, c->markers);
    c->stop = NULL;
    c->complete = sgc_team_mark(&c->team, NULL);
    sgc_assert(c->complete);
    return true;
}

static bool release_program(struct sgc_cycle *c)
{
    sgc_cycle_event(&c->record, SGC_ON_MARKED);
    sgc_team_program_runs(&c->team);
    sgc_a32_store_rel(&c->state, SGC_CYCLE_RUNS);
    c->record.concurrent.another_stop = true;
    return true;
}

/* Of an attempt, if all is marked. */
static const struct sgc_phase_row commit[] = { SGC_PHASE_ROW(MARK, commit_mark), { .next = sgc_phases_finish } };

/* If not. */
static const struct sgc_phase_row go_on[] = { SGC_PHASE_ROW(RESUME, release_program), { .next = sgc_phases_resume } };

static const struct sgc_phase_row *commit_or_go_on(const struct sgc_cycle *c)
{
    return c->complete ? commit : go_on;
}

static const struct sgc_phase_row attempt[] = {
    SGC_PHASE_ROW(ROOTS, attempt_roots),
    SGC_PHASE_ROW(MARK, attempt_mark),
    { .choose = commit_or_go_on },
};

/* ---- a stop ---- */

static void finish(void)
{
    sgc_team_trim(&sgc_cycle.team);
    sgc_cycle_close();
}

/* True if all was marked: then the cycle is finished.  Otherwise there may be another stop. */
static bool stop(struct sgc_mutator *self, uint64_t allowed_ns)
{
    struct sgc_cycle *c = &sgc_cycle;
    uint32_t markers = allowed_ns == UINT64_MAX ? (uint32_t)sgc_options.markers : 1;
    bool done;

    sgc_assert(sgc_gc_lock_held());
    c->allowed_ns = allowed_ns;
    done = sgc_cycle_stop(self, markers, attempt) && c->complete;
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

bool sgc_stops_first(struct sgc_mutator *self, uintptr_t from)
{
    sgc_cycle_open(self, SGC_REASON_ALLOCATION, NULL, from);
    sgc_assert(sgc_cycle.stops == 0);
    stop(self, 0);
    sgc_assert(!sgc_cycle.complete);
    return sgc_cycle.stopped;
}

bool sgc_stops_attempt(struct sgc_mutator *self, uintptr_t from, uint32_t attempts)
{
    struct sgc_pause_costs now = sgc_stops_costs();
    uint64_t allowed_ns = sgc_pause_allowed(&now, attempts);

    sgc_cycle.self = self, sgc_cycle.from = from;
    sgc_cycle.record.stopped_for = allowed_ns != UINT64_MAX ? SGC_FOR_NOTHING : SGC_FOR_ATTEMPTS;
    return stop(self, sgc_torture_deadline(self, allowed_ns));
}

bool sgc_stops_finish(struct sgc_mutator *self, int (*asks)(void), uintptr_t from)
{
    bool done;

    sgc_cycle.self = self, sgc_cycle.from = from;
    sgc_cycle.stop = asks;
    done = stop(self, UINT64_MAX);
    sgc_cycle.stop = NULL;
    return done;
}
