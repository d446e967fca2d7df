/* SPDX-License-Identifier: MIT */
/*
 * The parts of which cycles are made, and the helper markers' threads.  Everything runs on the collecting thread, which has the
 * GC lock; what a pause consists of is said by a table of phases (gc/collect/phases.h).
 */
#include "gc/collect/pause.h"

#include "alloc/pages/marks.h"
#include "gc/collect/client_hooks.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/finalize.h"
#include "gc/pacing/concurrent_pace.h"
#include "gc/pacing/pacing.h"
#include "gc/roots/roots.h"
#include "gc/threads/binding.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

SGC_STATE static bool reported;                 /* of a thread whose stacks are unknown */

/* ---- the helper markers' threads: they sleep between marks, and are no mutators: they write nothing into the heap, and no
 * stop waits for them, since the thread whose mark it is has them out first ---- */

enum { HELPER_SERVES = 1, HELPER_GOES };

/* The argument of a helper's thread, and its answer.  The memory must last until `taken` is set. */
struct helper {
    uint32_t number;
    int error;                  /* it was to be bound, and the system refused */
    sgc_a32_t taken;            /* 0, or HELPER_SERVES, or HELPER_GOES: there is no memory for its marker */
};

/* Bound first, so that the memory of its marker comes from where it is going to run. */
static void help(void *argument)
{
    struct helper *helper = argument;
    uint32_t number = helper->number;
    struct sgc_bound bound = sgc_binding_apply(number);
    bool made = sgc_team_make(&sgc_cycle.team, number, bound.core, bound.beyond);

    sgc_assert(number > 0 && number < sgc_cycle.team.made);
    helper->error = bound.error;
    sgc_a32_store_rel(&helper->taken, made ? HELPER_SERVES : HELPER_GOES);
    sgc_wake(&helper->taken, 1);
    if (made)
        sgc_team_serve(&sgc_cycle.team, number);
}

static bool start_one(void)
{
    struct sgc_section *self = sgc_section_self();
    struct helper helper = { .number = sgc_team_add(&sgc_cycle.team) };
    bool started;

    if (helper.number == 0)
        return false;
    if (self != NULL)
        sgc_guard_enter(self);
    started = sgc_thread_start_service(help, &helper, "sgc-marker");
    while (started && sgc_a32_load_acq(&helper.taken) == 0)
        sgc_wait(&helper.taken, 0, -1);
    if (self != NULL)
        sgc_guard_leave(self);
    if (helper.error != 0)
        sgc_binding_refused(helper.error);
    started = started && sgc_a32_load(&helper.taken) == HELPER_SERVES;
    if (!started)
        sgc_team_drop(&sgc_cycle.team);
    return started;
}

/* Where each marker is to have a core there is a helper more than marks: whichever shares the collecting thread's stays
 * out.  With fewer cores than markers that one is not needed. */
static void settle_cores(struct sgc_team *team)
{
    uint32_t together = team->config.max_markers - team->config.stay_out;

    sgc_binding_prepare((uint32_t)sgc_options.markers);
    if (sgc_binding_cores() >= together || team->made > together)
        return;
    team->config.max_markers = together;
    team->config.stay_out = 0;
}

static void keep_off(struct sgc_team *team, uint32_t want)
{
    bool may_keep = want <= sgc_binding_cores() && team->config.balance;

    sgc_team_keep_off(team, may_keep ? sgc_binding_core_here() : SGC_NO_CORE);
}

/* With the GC lock for the reason that sgc_service_start gives. */
void sgc_cycle_start_helpers(uint32_t want)
{
    struct sgc_team *team = &sgc_cycle.team;

    sgc_assert(sgc_gc_lock_held() && !sgc_stopped_by_self());
    sgc_assert(team->made > 0 && want > 0);
    if (want > 1)
        settle_cores(team);
    keep_off(team, want);
    if (want > 1)
        want += team->config.stay_out;
    if (want > team->config.max_markers)
        want = team->config.max_markers;
    while (team->made < want)
        if (!start_one()) {
            sgc_warn("the system refuses marker thread %u of %u; the collector marks with %u. Raise the limit on threads "
                     "(ulimit -u, the cgroup's pids.max) or lower GC_MARKERS",
                     team->made, team->config.max_markers - 1, team->made);
            team->config.max_markers = team->made;
            team->config.stay_out = 0;
            return;
        }
}

/* ---- the pause ---- */

bool sgc_cycle_run(struct sgc_cycle *c, const struct sgc_phase_row *row)
{
    sgc_assert(sgc_gc_lock_held() && c->markers > 0);
    for (; row->run != NULL; row++) {
        sgc_assert(sgc_world_stopped() == (row->phase != SGC_PHASE_STOP));
        if (!row->run(c))
            return false;
        if (row->phase != SGC_PHASE_STOP)       /* the last thread that stands still ends it */
            sgc_cycle_phase(&c->record, row->phase);
    }
    return true;
}

typedef void pause_fn(struct sgc_cycle *c);

/* Inside the loader's lock to the end: threads in blocked regions, and those that nobody has registered, unload modules
 * meanwhile, and what is a root must stay mapped. */
static void pause_at_snapshot(void *pause)
{
    (*(pause_fn *const *)pause)(&sgc_cycle);
}

/* Its own registers and stack count from here on, as those of a stopped thread do; or those of who called us, since our
 * own frames hold words of calls that are over, and nothing that is a root. */
static void pause_from(void *pause, uintptr_t sp)
{
    sgc_assert(sgc_mutator_mine(sgc_cycle.self) && sp != 0);
    sgc_world_publish_sp(sgc_cycle.self, sgc_cycle.from != 0 ? sgc_cycle.from : sp);
    sgc_roots_snapshot(pause_at_snapshot, pause);
}

/* ---- around the pause ---- */

static void clear_before(void)
{
    uint64_t began = sgc_clock_ns();

    sgc_clear_finish();
    sgc_cycle.record.clear_ns = sgc_clock_ns() - began;
}

/* Objects that only its frames hold would be lost. */
static void report_unknown_stack(void)
{
    if (sgc_cycle.unknown <= 0 || reported)
        return;
    reported = true;
    sgc_warn("nothing is collected: thread %d is not scanned, since the system does not say where its stack lies or what of "
             "it can be read. Let a filter of system calls allow rt_sigprocmask and mincore", (int)sgc_cycle.unknown);
}

void sgc_cycle_open(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    struct sgc_cycle *c = &sgc_cycle;

    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held() && !sgc_world_stopped());
    c->self = self, c->stop = stop, c->from = from;
    c->stops = 0;
    c->concurrent = false;
    sgc_cycle_begin(&c->record, sgc_cycles_finished() + 1, reason);
    SGC_EVENT(cycle_start, &c->record);
    sgc_finalization_before(sgc_client_hooks.toggle());
    clear_before();
}

bool sgc_cycle_stop(struct sgc_mutator *self, uint32_t markers, void (*pause)(struct sgc_cycle *c))
{
    struct sgc_cycle *c = &sgc_cycle;

    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held() && !sgc_world_stopped());
    c->stopped = c->complete = false;
    c->unknown = 0;
    c->markers = markers;
    sgc_cycle_start_helpers(markers);
    SGC_EVENT(stop_requested, &c->record);
    sgc_client_hooks.before(self);      /* listeners may set a hook */
    sgc_with_registers(pause_from, &pause);
    if (!c->stopped) {
        SGC_EVENT(stop_failed, &c->record);
        report_unknown_stack();
        return false;
    }
    SGC_EVENT(resumed, &c->record);
    sgc_client_hooks.after();
    sgc_roots_find_other_collector();
    sgc_report_faults();
    return true;
}

void sgc_cycle_close(void)
{
    struct sgc_cycle *c = &sgc_cycle;

    sgc_assert(sgc_gc_lock_held() && c->complete);
    sgc_finalization_after();
    SGC_UPPER(over, (true));
    c->record.allocated_bytes = sgc_pacing_cycle_done(c->totals.bytes);
    sgc_concurrent_pace_fill(&c->record);
    sgc_cycle_finish(&c->record);
    sgc_aw_store(&sgc_client_gc_no, c->record.cycle);
    SGC_EVENT(cycle_end, &c->record);
}

/* ---- start and fork ---- */

bool sgc_cycle_init(void)
{
    uint32_t stay_out = sgc_binding_one_more();
    struct sgc_team_config config = {
        .mark = {
            .interior_pointers = sgc_options.all_interior_pointers,
            .end_word = sgc_options.end_byte == SGC_END_BYTE_ROOTS,
            .split_bytes = sgc_options.split_bytes,
            .edges = (uint32_t)sgc_options.prefetch,
            .stack_bytes = sgc_options.mark_stack_limit,
            .stack_form = (enum sgc_stack_form)sgc_options.stack_form,
        },
        .max_markers = (uint32_t)sgc_options.markers + stay_out,
        .stay_out = stay_out,
        .balance = sgc_options.balance,
        .steal = (enum sgc_steal)sgc_options.steal,
        .termination = (enum sgc_termination_form)sgc_options.termination,
        .markbit = (enum sgc_markbit)sgc_options.markbit,
        .concurrent_markers = (uint32_t)sgc_options.concurrent_markers,
    };

    if (sgc_team_init(&sgc_cycle.team, &config))
        return true;
    sgc_error("the system refuses address space for a mark stack; raise the limit (ulimit -v)");
    return false;
}

void sgc_cycle_after_fork(void)
{
    sgc_clear_again();
    sgc_team_after_fork(&sgc_cycle.team);
    sgc_gc_lock_after_fork();
}
