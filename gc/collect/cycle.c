/* SPDX-License-Identifier: MIT */
/*
 * Collection cycles, stop-parallel mode.  Everything runs on the collecting thread, which has the
 * gate; what runs while the world is stopped says so.
 */
#include "gc/collect/cycle.h"

#include "alloc/page_supply.h"
#include "alloc/pages/pool.h"
#include "alloc/pages/marks.h"
#include "alloc/check.h"
#include "gc/collect/client_hooks.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/finalize.h"
#include "gc/collect/helpers.h"
#include "gc/collect/start_state.h"
#include "gc/config/options.h"
#include "gc/pacing/pacing.h"
#include "gc/roots/roots.h"
#include "gc/collect/background.h"
#include "gc/collect/torture.h"
#include "gc/threads/world.h"
#include "mark/team.h"

struct cycle {
    struct sgc_team team;
    struct sgc_team_totals totals;      /* of the last mark */
    uint32_t markers;                   /* that this cycle is expected to need */
    struct sgc_cycle_record record;
    bool stopped;
    sgc_tid_t unknown;                  /* a thread whose stacks are unknown, so that nothing was marked; 0: none */
    bool told;                          /* of one */
    bool keep_gate;                     /* after an external stop */
    uint32_t nested;                    /* external stops in a world that stood still already */
    size_t returned;                    /* bytes given back up to the last cycle */
};

SGC_STATE static struct cycle cycle;

/* What the collecting thread hands down into the pause. */
struct pause {
    struct sgc_mutator *self;
    int (*stop)(void);
    uintptr_t from;                     /* its stack is scanned from here; 0: from where the pause begins */
    bool complete;
};

/* ---- the parts of a pause: world stopped ---- */

/* Claimed slots are unallocated for the marker.  Counts must be taken over before. */
static void retire_caches(void)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_pacing_take_all();
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        sgc_cache_retire(&m->cache);
}

/* Marks become allocation bits.  The tags of caches follow, so that pages swept before the flip
 * are no longer taken for swept. */
static void flip(void)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_heap_flip();
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        m->cache.tag = sgc_tag(m->cache.id, sgc_heap.epoch);
    sgc_clear_begin();
}

static bool mark(struct pause *p)
{
    struct sgc_team *team = &cycle.team;
    struct sgc_cycle_record *record = &cycle.record;
    bool done;

    sgc_finalization_share(team);
    sgc_team_begin(team, 1);
    sgc_client_push_roots(sgc_team_first(team));
    sgc_team_call(team, cycle.markers);
    sgc_roots_mark(sgc_team_first(team), p->self);
    sgc_finalization_roots(sgc_team_first(team));
    record->root_bytes = sgc_team_first(team)->root_bytes;
    sgc_cycle_phase(record, SGC_PHASE_ROOTS);
    SGC_EVENT(roots_done, record);
    done = sgc_team_mark(team, p->stop);
    sgc_cycle_phase(record, SGC_PHASE_MARK);
    done = done && sgc_team_rescan(team, p->stop);
    sgc_cycle_phase(record, SGC_PHASE_RESCAN);
    if (done) {
        sgc_disclaim_keep(team);
        sgc_finalization_mark(team, sgc_client_await_fn());
        sgc_disclaim_mark(team);
    } else {
        sgc_team_abandon(team);
        sgc_clear_again();
    }
    sgc_cycle_phase(record, SGC_PHASE_FINALIZE);
    sgc_team_totals(team, &cycle.totals);
    record->complete = done;
    SGC_EVENT(marked, record);
    return done;
}

static void fill_page_figures(struct sgc_cycle_record *r)
{
    struct sgc_page_figures f;

    sgc_policy_figures(&f);
    r->pages_consumed_most = f.consumed_most;
    for (int i = 0; i < SGC_SOURCES; i++)
        r->pages_taken += f.taken[i];
    r->pages_remote = f.remote;
    r->pages_live_most = f.live_most;
}

static void fill_record(void)
{
    struct sgc_cycle_record *r = &cycle.record;
    const struct sgc_team_totals *m = &cycle.totals;
    size_t returned = sgc_aw_load(&sgc_pool.returned);

    r->marked_objects = m->objects;
    r->marked_bytes = r->live_bytes_after = m->bytes;
    r->pointer_free_bytes = m->pointer_free;
    sgc_finalization_fill(r);
    r->rescans = m->rescans;
    r->mark_stack_depth = m->deepest;
    r->markers = m->markers;
    r->steals = m->steals;
    r->stolen = m->stolen;
    r->heap_bytes = sgc_pool_heap_bytes();
    r->returned_bytes = returned - cycle.returned;
    cycle.returned = returned;
    r->free_bytes = r->heap_bytes > m->bytes ? r->heap_bytes - m->bytes : 0;
    fill_page_figures(r);
}

static void stopped_world(struct pause *p)
{
    struct sgc_cycle_record *record = &cycle.record;

    sgc_assert(sgc_stopped_by_self() && sgc_mutator_mine(p->self));
    SGC_EVENT(stopped, record);
    retire_caches();
    record->live_bytes_before = sgc_pacing_live() + sgc_pacing_allocated_since();
    sgc_torture_check();
    sgc_cycle_phase(record, SGC_PHASE_RETIRE);
    p->complete = mark(p);
    if (p->complete) {
        flip();
        sgc_torture_check();
    }
    fill_record();
    sgc_cycle_phase(record, SGC_PHASE_FLIP);
    SGC_EVENT(flipped, record);
}

/* Inside the loader's lock to the end: threads in blocked regions, and those that nobody has registered, unload modules
 * meanwhile, and what is a root must stay mapped. */
static void pause_at_snapshot(void *arg)
{
    struct pause *p = arg;

    sgc_assert(sgc_gate_mine() && cycle.markers > 0);
    cycle.stopped = sgc_world_stop(p->self, cycle.markers, &cycle.record);
    if (!cycle.stopped)
        return;
    cycle.unknown = sgc_roots_unknown();
    cycle.stopped = cycle.unknown == 0;
    if (cycle.stopped)
        stopped_world(p);
    sgc_world_resume(p->self);
    sgc_cycle_phase(&cycle.record, SGC_PHASE_RESUME);
}

/* Its own registers and stack count from here on, as those of a stopped thread do; or those of who called us, since our
 * own frames hold words of calls that are over, and nothing that is a root. */
static void pause_from(void *arg, uintptr_t sp)
{
    struct pause *p = arg;

    sgc_assert(sgc_mutator_mine(p->self) && sp != 0);
    sgc_world_stand_at(p->self, p->from != 0 ? p->from : sp);
    cycle.stopped = false;
    cycle.unknown = 0;
    sgc_roots_snapshot(pause_at_snapshot, p);
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
static void tell_of_unknown_stack(void)
{
    if (cycle.unknown <= 0 || cycle.told)
        return;
    cycle.told = true;
    sgc_warn("nothing is collected: thread %d is not scanned, since the system does not say where its stack lies or what of "
             "it can be read. Let a filter of system calls allow rt_sigprocmask and mincore", (int)cycle.unknown);
}

static bool run(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    struct pause p = { .self = self, .stop = stop, .from = from };

    sgc_assert(sgc_mutator_mine(self) && sgc_gate_mine() && !sgc_world_stopped());
    sgc_cycle_begin(&cycle.record, sgc_cycles_finished() + 1, reason);
    SGC_EVENT(cycle_start, &cycle.record);
    sgc_finalization_before(sgc_client_toggle_fn());
    clear_before();
    cycle.markers = wanted_markers();
    sgc_helpers_start(&cycle.team, cycle.markers, self != NULL ? sgc_section_of(self) : NULL);
    SGC_EVENT(stop_requested, &cycle.record);
    sgc_client_before(self);            /* listeners may set a hook */
    sgc_with_registers(pause_from, &p);
    if (!cycle.stopped) {
        SGC_EVENT(stop_failed, &cycle.record);
        tell_of_unknown_stack();
        return given_up();
    }
    SGC_EVENT(resumed, &cycle.record);
    sgc_client_after();
    sgc_roots_look_for_other_collector();
    sgc_complaints_tell();
    sgc_team_trim(&cycle.team);
    if (!p.complete)
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
    if (sgc_gate_mine()) {
        if (reason == SGC_REASON_EXPLICIT)
            sgc_warn("a collection was asked for by a callback of a collection, or by a thread that holds the "
                     "allocation lock; it is not made. Ask for it afterwards");
        return SGC_COLLECT_NESTED;
    }
    sgc_gate_close(self);
    if (reason != SGC_REASON_EXPLICIT && sgc_cycles_finished() != before) {
        sgc_gate_open();
        return SGC_COLLECTED;
    }
    done = stop != NULL && stop() != 0 ? given_up() : run(self, reason, stop, from);
    if (done)
        sgc_service_start_if_worth_it();
    sgc_gate_open();
    if (done)
        sgc_service_wake();
    return done ? SGC_COLLECTED : SGC_COLLECT_GIVEN_UP;
}

enum sgc_collect_result sgc_collect(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void))
{
    return sgc_collect_from(self, reason, stop, 0);
}

/* ---- stops without a cycle ---- */

struct external {
    struct sgc_mutator *self;
    void (*look)(void *arg);            /* NULL: the world stays as it is */
    void *arg;
    bool again;                         /* the stop has been given up for a signal, which is taken before the next try */
};

static void external_stop_at_snapshot(void *arg)
{
    struct external *e = arg;
    struct sgc_cycle_record record;

    sgc_assert(sgc_gate_mine());
    sgc_cycle_begin(&record, 0, SGC_REASON_EXPLICIT);
    cycle.stopped = sgc_world_stop(e->self, 1, &record);
    e->again = !cycle.stopped && sgc_world_interrupted();
    if (!cycle.stopped || e->look == NULL)
        return;
    e->look(e->arg);
    sgc_world_resume(e->self);
}

/* Inside the loader's lock, as a cycle's: so no thread that stands still has that lock. */
static void external_stop_from(void *arg, uintptr_t sp)
{
    struct external *e = arg;

    sgc_world_stand_at(e->self, sp);
    cycle.stopped = e->again = false;
    sgc_roots_snapshot(external_stop_at_snapshot, e);
}

/* True with the gate, which *closed is about. */
static bool external_stop(struct external *e, bool *closed)
{
    bool stopped;

    sgc_assert(sgc_mutator_mine(e->self));
    do {
        *closed = sgc_gate_enter(e->self);
        sgc_with_registers(external_stop_from, e);
        stopped = cycle.stopped;
        if (!stopped)
            sgc_gate_leave(*closed);
    } while (e->again);
    return stopped;
}

/* Who holds the gate for other reasons keeps it. */
bool sgc_external_stop(struct sgc_mutator *self)
{
    struct external e = { .self = self };
    bool closed;

    if (sgc_stopped_by_self()) {
        cycle.nested++;
        return true;
    }
    if (!external_stop(&e, &closed))
        return false;
    cycle.keep_gate = !closed;
    return true;
}

/* In a world that stands still already modules may have gone since. */
bool sgc_external_look(struct sgc_mutator *self, void (*look)(void *arg), void *arg)
{
    struct external e = { .self = self, .look = look, .arg = arg };
    bool closed;

    if (sgc_stopped_by_self())
        return sgc_roots_snapshot(look, arg);
    if (!external_stop(&e, &closed))
        return false;
    sgc_gate_leave(closed);
    return true;
}

void sgc_external_resume(struct sgc_mutator *self)
{
    sgc_assert(sgc_mutator_mine(self) && sgc_stopped_by_self());
    if (cycle.nested > 0) {
        cycle.nested--;
        return;
    }
    sgc_world_resume(self);
    sgc_gate_leave(!cycle.keep_gate);
}

void sgc_check_everything(struct sgc_mutator *self)
{
    if (!sgc_external_stop(self))
        return;
    sgc_heap_check();
    sgc_registry_check();
    sgc_roots_check();
    sgc_external_resume(self);
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
    if (sgc_gate_mine())
        return;
    sgc_gate_close(self);
    sgc_helpers_start(&cycle.team, (uint32_t)sgc_options.markers, self != NULL ? sgc_section_of(self) : NULL);
    sgc_gate_open();
}

size_t sgc_cycle_stack_resident(void)
{
    return sgc_team_stacks_resident(&cycle.team);
}

void sgc_cycle_after_fork(void)
{
    sgc_clear_again();
    sgc_team_after_fork(&cycle.team);
    sgc_gate_after_fork();
}
