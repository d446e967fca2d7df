/* SPDX-License-Identifier: MIT */
/*
 * Collection cycles.  Everything runs on the collecting thread, which has the GC lock; what a pause consists of is said by a
 * table of phases (gc/collect/phases.h).
 */
#include "gc/collect/cycle.h"

#include "alloc/pages/marks.h"
#include "gc/collect/client_hooks.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/finalize.h"
#include "gc/collect/phases.h"
#include "gc/collect/start_state.h"
#include "gc/config/options.h"
#include "gc/pacing/pacing.h"
#include "gc/roots/roots.h"
#include "gc/collect/background.h"
#include "gc/threads/world.h"
#include "mark/team.h"

SGC_STATE static struct sgc_cycle cycle;
SGC_STATE static bool told;                     /* of a thread whose stacks are unknown */

/* ---- the helper markers' threads: they sleep between marks, and are no mutators, as they touch the heap only while the world
 * is stopped ---- */

/* What a helper has to know, handed over in one word: the argument's memory must outlive the call. */
struct helper {
    uint32_t number;
    sgc_a32_t taken;
};

static void help(void *argument)
{
    struct helper *helper = argument;
    uint32_t number = helper->number;

    sgc_assert(number > 0 && number < cycle.team.made);
    sgc_a32_store_rel(&helper->taken, 1);
    sgc_wake(&helper->taken, 1);
    sgc_team_serve(&cycle.team, number);
}

static bool start_one(void)
{
    struct sgc_section *self = sgc_section_self();
    struct helper helper = { .number = sgc_team_add(&cycle.team) };
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
    if (!started)
        sgc_team_drop(&cycle.team);
    return started;
}

/* Sees to it that helpers for `want` markers exist, as far as the system has threads; what it refuses is said once and not
 * asked for again.  World running, outside sections; with the GC lock, for the reason that sgc_service_start gives. */
static void start_helpers(uint32_t want)
{
    struct sgc_team *team = &cycle.team;

    sgc_assert(sgc_gc_lock_held() && !sgc_stopped_by_self());
    sgc_assert(team->made > 0 && want > 0);
    if (want > team->config.most)
        want = team->config.most;
    while (team->made < want)
        if (!start_one()) {
            sgc_warn("the system refuses marker thread %u of %u; the collector marks with %u. Raise the limit on threads "
                     "(ulimit -u, the cgroup's pids.max) or lower GC_MARKERS",
                     team->made, team->config.most - 1, team->made);
            team->config.most = team->made;
            return;
        }
}

/* ---- the pause ---- */

/* Inside the loader's lock to the end: threads in blocked regions, and those that nobody has registered, unload modules
 * meanwhile, and what is a root must stay mapped. */
static void pause_at_snapshot(void *phases)
{
    const struct sgc_phase_row *row = *(const struct sgc_phase_row *const *)phases;

    sgc_assert(sgc_gc_lock_held() && cycle.markers > 0);
    for (; row->run != NULL; row++) {
        sgc_assert(sgc_world_stopped() == (row->phase != SGC_PHASE_STOP));
        if (!row->run(&cycle))
            return;
        if (row->phase != SGC_PHASE_STOP)       /* the last thread that stands still ends it */
            sgc_cycle_phase(&cycle.record, row->phase);
    }
}

/* Its own registers and stack count from here on, as those of a stopped thread do; or those of who called us, since our
 * own frames hold words of calls that are over, and nothing that is a root. */
static void pause_from(void *phases, uintptr_t sp)
{
    sgc_assert(sgc_mutator_mine(cycle.self) && sp != 0);
    sgc_world_publish_sp(cycle.self, cycle.from != 0 ? cycle.from : sp);
    sgc_roots_snapshot(pause_at_snapshot, phases);
}

/* ---- around the pause ---- */

static void clear_before(void)
{
    uint64_t began = sgc_clock_ns();

    sgc_clear_finish();
    cycle.record.clear_ns = sgc_clock_ns() - began;
}

/* Under torture small heaps are marked by all, too. */
static uint32_t wanted_markers(void)
{
    int most = sgc_options.markers;

    return (uint32_t)(sgc_options.torture > 0 ? most : sgc_pacing_markers(most));
}

static bool given_up(void)
{
    sgc_pacing_given_up();
    return false;
}

/* Objects that only its frames hold would be lost. */
static void report_unknown_stack(void)
{
    if (cycle.unknown <= 0 || told)
        return;
    told = true;
    sgc_warn("nothing is collected: thread %d is not scanned, since the system does not say where its stack lies or what of "
             "it can be read. Let a filter of system calls allow rt_sigprocmask and mincore", (int)cycle.unknown);
}

static bool run(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    const struct sgc_phase_row *phases = sgc_phases_stopped;

    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held() && !sgc_world_stopped());
    cycle.self = self, cycle.stop = stop, cycle.from = from;
    cycle.stopped = cycle.complete = false;
    cycle.unknown = 0;
    sgc_cycle_begin(&cycle.record, sgc_cycles_finished() + 1, reason);
    SGC_EVENT(cycle_start, &cycle.record);
    sgc_finalization_before(sgc_client_toggle_fn());
    clear_before();
    cycle.markers = wanted_markers();
    start_helpers(cycle.markers);
    SGC_EVENT(stop_requested, &cycle.record);
    sgc_client_before(self);            /* listeners may set a hook */
    sgc_with_registers(pause_from, &phases);
    if (!cycle.stopped) {
        SGC_EVENT(stop_failed, &cycle.record);
        report_unknown_stack();
        return given_up();
    }
    SGC_EVENT(resumed, &cycle.record);
    sgc_client_after();
    sgc_roots_look_for_other_collector();
    sgc_report_faults();
    sgc_team_trim(&cycle.team);
    if (!cycle.complete)
        return given_up();
    sgc_finalization_after();
    cycle.record.allocated_bytes = sgc_pacing_cycle_done(cycle.totals.bytes);
    sgc_cycle_finish(&cycle.record);
    sgc_aw_store(&sgc_client_gc_no, cycle.record.cycle);
    SGC_EVENT(cycle_end, &cycle.record);
    return true;
}

enum sgc_collect_result sgc_collect_from(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void),
                                         uintptr_t from)
{
    uint64_t before = sgc_cycles_finished();
    bool done;

    sgc_assert(sgc_mutator_mine(self) && (unsigned)reason < SGC_REASONS);
    if (sgc_collect_disabled() || sgc_init_ended())
        return SGC_COLLECT_DISABLED;
    if (sgc_gc_lock_held()) {
        if (reason == SGC_REASON_EXPLICIT)
            sgc_warn("a collection was asked for by a callback of a collection, or by a thread that holds the "
                     "allocation lock; it is not made. Ask for it afterwards");
        return SGC_COLLECT_NESTED;
    }
    sgc_gc_lock_acquire(self);
    if (reason != SGC_REASON_EXPLICIT && sgc_cycles_finished() != before) {
        sgc_gc_lock_release();
        return SGC_COLLECTED;
    }
    done = stop != NULL && stop() != 0 ? given_up() : run(self, reason, stop, from);
    if (done)
        sgc_service_start_if_worth_it();
    sgc_gc_lock_release();
    if (done)
        sgc_service_wake();
    return done ? SGC_COLLECTED : SGC_COLLECT_GIVEN_UP;
}

enum sgc_collect_result sgc_collect(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void))
{
    return sgc_collect_from(self, reason, stop, 0);
}

/* ---- disabling ---- */

void sgc_collect_disable(void)
{
    sgc_a32_add(&sgc_client_dont_gc, 1);
}

bool sgc_collect_enable(void)
{
    for (;;) {
        uint32_t depth = sgc_a32_load(&sgc_client_dont_gc);

        if (depth == 0)
            return false;
        if (sgc_a32_cas(&sgc_client_dont_gc, depth, depth - 1))
            return true;
    }
}

int sgc_collect_disabled(void)
{
    return (int)sgc_a32_load(&sgc_client_dont_gc);
}

/* ---- start and fork ---- */

bool sgc_cycle_init(void)
{
    struct sgc_team_config config = {
        .mark = {
            .interior_pointers = sgc_options.all_interior_pointers,
            .end_word = sgc_options.end_byte == SGC_END_BYTE_ROOTS,
            .split_bytes = sgc_options.split_bytes,
            .edges = (uint32_t)sgc_options.prefetch,
            .stack_bytes = sgc_options.mark_stack_limit,
            .stack_form = (enum sgc_stack_form)sgc_options.stack_form,
        },
        .most = (uint32_t)sgc_options.markers,
        .balance = sgc_options.balance,
        .steal = (enum sgc_steal)sgc_options.steal,
        .termination = (enum sgc_termination_form)sgc_options.termination,
        .markbit = (enum sgc_markbit)sgc_options.markbit,
    };

    if (sgc_team_init(&cycle.team, &config))
        return true;
    sgc_error("the system refuses address space for a mark stack; raise the limit (ulimit -v)");
    return false;
}

void sgc_cycle_start_markers(struct sgc_mutator *self)
{
    sgc_assert(self == sgc_mutator_self());
    if (sgc_gc_lock_held())
        return;
    sgc_gc_lock_acquire(self);
    start_helpers((uint32_t)sgc_options.markers);
    sgc_gc_lock_release();
}

size_t sgc_cycle_stack_resident(void)
{
    return sgc_team_stacks_resident(&cycle.team);
}

void sgc_cycle_after_fork(void)
{
    sgc_clear_again();
    sgc_team_after_fork(&cycle.team);
    sgc_gc_lock_after_fork();
}
