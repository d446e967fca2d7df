/* SPDX-License-Identifier: MIT */
/*
 * The parts of which cycles are made: the phases of a pause, their tables, the pause, and what
 * comes before and after it.  On the collecting thread; in a pause the world is stopped from the
 * second row on.
 */
#include "gc/collect/cycle.h"

#include "alloc/marking.h"
#include "alloc/page_supply.h"
#include "alloc/pages/marks.h"
#include "alloc/pages/pool.h"
#include "alloc/pages/survival.h"
#include "alloc/whole_heap.h"
#include "gc/collect/client_hooks.h"
#include "gc/collect/helpers.h"
#include "gc/collect/torture.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/rounds.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/pacing.h"
#include "gc/roots/roots.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"
#include "platform/registers.h"

SGC_STATE struct sgc_cycle sgc_cycle;
SGC_STATE sgc_aw_t sgc_cycle_snapshots;
SGC_STATE static bool reported;                 /* a thread whose stacks are unknown */

/* ---- stopping and resuming ---- */

/* With a stack that is not known nothing can be marked, and whoever has disabled collections since
 * we asked may hide pointers now: the world goes on at once.  A thread that disables them later
 * does so when this stop is over. */
static bool phase_stop(struct sgc_cycle *c)
{
    sgc_assert(sgc_gc_lock_held() && c->markers > 0);
    if (!sgc_world_stop(c->self, c->markers, &c->record)) {
        c->interrupted = sgc_world_interrupted();
        return false;
    }
    c->unknown = sgc_roots_unknown();
    c->stopped = c->unknown == 0 && sgc_a32_load(&sgc_client_dont_gc) == 0;
    if (c->stopped)
        return true;
    sgc_world_resume(c->self, &c->record);
    return false;
}

static bool phase_resume(struct sgc_cycle *c)
{
    sgc_cycle_event(&c->record, SGC_ON_FLIPPED);
    sgc_world_resume(c->self, &c->record);
    return true;
}

/* ---- before the mark ---- */

/* All caches are given up, so that exactly the allocated objects look allocated; their counts are
 * taken over first.  The bytes of these objects.  World stopped. */
static size_t retire_caches(void)
{
    size_t unused = 0;

    sgc_assert(sgc_stopped_by_self());
    sgc_counts_take_all();
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        unused += sgc_cache_retire(&m->cache);
    return sgc_counts_retired(unused);
}

/* Nothing changes from here to the mark, but by the program's hook that pushes roots. */
static bool phase_retire(struct sgc_cycle *c)
{
    sgc_assert(sgc_stopped_by_self() && sgc_mutator_mine(c->self));
    sgc_cycle_event(&c->record, SGC_ON_STOPPED);
    c->record.heap.live_bytes_before = retire_caches();
    sgc_torture_check();
    if (c->stops == 0) {
        sgc_survival_begin();
        SGC_UPPER(stopped, ());
    }
    return true;
}

/* ---- heap snapshots ---- */

static const struct sgc_cycle_snapshots *snapshots(void)
{
    return (const struct sgc_cycle_snapshots *)sgc_aw_load_acq(&sgc_cycle_snapshots);
}

static bool is_snapshot_wanted(const struct sgc_cycle *c)
{
    return snapshots() != NULL && snapshots()->wanted(c->record.cycle);
}

static bool is_snapshot_open(const struct sgc_cycle *c)
{
    (void)c;
    return snapshots() != NULL && snapshots()->is_open();
}

static bool phase_snapshot_begin(struct sgc_cycle *c)
{
    snapshots()->begin(c->record.cycle);
    return true;
}

static bool phase_snapshot_heap(struct sgc_cycle *c)
{
    (void)c;
    snapshots()->put_heap();
    return true;
}

static bool phase_snapshot_end(struct sgc_cycle *c)
{
    snapshots()->end(c->complete);
    return true;
}

/* ---- the mark ---- */

static bool phase_push(struct sgc_cycle *c)
{
    c->first = sgc_team_begin(&c->team, 1);
    sgc_client_hooks.push_roots(c->first);
    return true;
}

/* A snapshot has walked through the tables of finalization: these are shared out now. */
static bool phase_roots(struct sgc_cycle *c)
{
    sgc_finalization_share(&c->team);
    sgc_team_call(&c->team, c->markers);
    sgc_roots_mark(c->first);
    sgc_finalization_roots(c->first);
    c->record.marked.root_bytes = c->first->root_bytes;
    return true;
}

static bool phase_mark(struct sgc_cycle *c)
{
    sgc_cycle_event(&c->record, SGC_ON_ROOTS_DONE);
    c->complete = sgc_team_mark(&c->team, c->stop);
    return true;
}

static bool phase_rescan(struct sgc_cycle *c)
{
    c->complete = c->complete && sgc_team_rescan(&c->team, c->stop);
    return true;
}

/* All that is reachable without the layer on top is marked; now what it keeps. */
static void mark_for_upper(struct sgc_team *team)
{
    const struct sgc_upper *upper = sgc_upper();

    if (upper == NULL || upper->mark == NULL)
        return;
    upper->mark(team);
    sgc_team_rescan(team, NULL);
}

static bool phase_finalize(struct sgc_cycle *c)
{
    if (c->complete) {
        mark_for_upper(&c->team);
        c->record.marked.finalizable_bytes = sgc_finalization_mark(&c->team, sgc_client_hooks.mark_more);
    } else {
        sgc_team_abandon(&c->team);
        sgc_clear_again();
    }
    return true;
}

/* ---- after it ---- */

/* Marks become allocation bits.  The tags of caches follow, so that pages swept before the flip
 * are no longer taken for swept. */
static void flip(void)
{
    sgc_assert(sgc_stopped_by_self());
    sgc_heap_flip();
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        sgc_cache_set_tag(&m->cache, sgc_tag(m->cache.id, sgc_heap.epoch));
    sgc_clear_begin();
}

static void fill_page_figures(struct sgc_cycle_record *r)
{
    struct sgc_page_figures f;

    sgc_policy_figures(&f);
    r->heap.bytes = f.heap_bytes;
    r->pages.consumed_max = f.max_consumed;
    for (int i = 0; i < SGC_SOURCES; i++)
        r->pages.taken += f.taken[i];
    r->pages.fresh = f.fresh;
    r->pages.remote = f.remote;
    r->pages.foreign = f.foreign;
    r->pages.far = f.far;
    r->pages.live_max = f.max_live;
}

static void fill_record(struct sgc_cycle *c)
{
    struct sgc_cycle_record *r = &c->record;
    const struct sgc_team_totals *m = &c->totals;
    size_t returned = sgc_aw_load(&sgc_pool.returned);

    r->marked.objects = m->objects;
    r->marked.bytes = r->heap.live_bytes_after = m->bytes;
    r->marked.pointer_free_bytes = m->pointer_free;
    if (r->marked.finalizable_bytes > r->marked.bytes)
        r->marked.finalizable_bytes = r->marked.bytes;
    r->marked.rescans = m->rescans;
    r->marked.stack_depth = m->deepest;
    r->marked.markers = m->markers;
    r->marked.steals = m->steals;
    r->marked.stolen = m->stolen;
    r->marked.steals_far = m->steals_far;
    fill_page_figures(r);
    r->heap.returned_bytes = returned - c->returned;
    c->returned = returned;
    r->heap.free_bytes = r->heap.bytes > m->bytes ? r->heap.bytes - m->bytes : 0;
}

/* Objects that were freed after they were marked; whether they had pointers is not known. */
static void uncount_freed(struct sgc_team_totals *totals, size_t freed)
{
    sgc_assert(freed <= totals->bytes);
    totals->bytes -= freed;
    if (totals->pointer_free > totals->bytes)
        totals->pointer_free = totals->bytes;
}

static bool phase_marked(struct sgc_cycle *c)
{
    sgc_team_totals(&c->team, &c->totals);
    c->record.complete = c->complete;
    sgc_cycle_event(&c->record, SGC_ON_MARKED);
    return true;
}

static bool phase_flip(struct sgc_cycle *c)
{
    if (c->complete) {
        if (sgc_concurrent_marks())
            uncount_freed(&c->totals, sgc_marking_finish());
        if (sgc_closure_is_checked())
            sgc_closure_check();
        SGC_UPPER(marked, ());
        flip();
        sgc_torture_check();
    }
    fill_record(c);
    return true;
}

/* ---- the tables ---- */

const struct sgc_phase_row sgc_phases_resume[] = { SGC_PHASE_ROW(RESUME, phase_resume), { .next = NULL } };

const struct sgc_phase_row sgc_phases_finish[] = {
    SGC_PHASE_ROW(RESCAN, phase_rescan),
    SGC_PHASE_ROW(FINALIZE, phase_finalize),
    SGC_PHASE_ROW(FLIP, phase_marked),
    { .phase = SGC_PHASE_SNAPSHOT, .run = phase_snapshot_end, .wanted = is_snapshot_open },
    SGC_PHASE_ROW(FLIP, phase_flip),
    { .next = sgc_phases_resume },
};

const struct sgc_phase_row sgc_phases_stopped[] = {
    { .phase = SGC_PHASE_SNAPSHOT, .run = phase_snapshot_begin, .wanted = is_snapshot_wanted },
    SGC_PHASE_ROW(ROOTS, phase_push),
    { .phase = SGC_PHASE_SNAPSHOT, .run = phase_snapshot_heap, .wanted = is_snapshot_open },
    SGC_PHASE_ROW(ROOTS, phase_roots),
    SGC_PHASE_ROW(MARK, phase_mark),
    { .next = sgc_phases_finish },
};

static const struct sgc_phase_row *rows_of_caller(const struct sgc_cycle *c)
{
    return c->rows;
}

static const struct sgc_phase_row begin[] = {
    SGC_PHASE_ROW(STOP, phase_stop),
    SGC_PHASE_ROW(RETIRE, phase_retire),
    { .choose = rows_of_caller },
};

/* ---- the pause ---- */

/* NULL: that was the last. */
static const struct sgc_phase_row *next_row(const struct sgc_cycle *c, const struct sgc_phase_row *row)
{
    row++;
    if (row->run != NULL)
        return row;
    return row->choose != NULL ? row->choose(c) : row->next;
}

/* That of stopping is ended by the last thread that stands still, that of resuming when all have
 * been woken. */
static void end_phase(struct sgc_cycle *c, enum sgc_phase phase)
{
    if (phase != SGC_PHASE_STOP && phase != SGC_PHASE_RESUME)
        sgc_cycle_phase(&c->record, phase);
}

/* Inside the loader's lock to the end: threads in blocked regions, and those that nobody has
 * registered, unload modules meanwhile, and what is a root must stay mapped. */
static void run_rows(void *cycle)
{
    struct sgc_cycle *c = cycle;
    enum sgc_phase phase = SGC_PHASE_STOP;      /* the one that has begun */

    sgc_assert(sgc_gc_lock_held() && c->markers > 0);
    for (const struct sgc_phase_row *row = begin; row != NULL; row = next_row(c, row)) {
        if (row->wanted != NULL && !row->wanted(c))
            continue;
        if (row->phase != phase)
            end_phase(c, phase);
        phase = row->phase;
        sgc_assert(sgc_world_stopped() == (phase != SGC_PHASE_STOP));
        if (!row->run(c))
            return;
    }
    end_phase(c, phase);
}

/* The thread's registers and stack count from here on, as those of a stopped thread do; or those
 * of its caller, since our own frames hold words of calls that are over, and nothing that is a
 * root. */
__attribute__((noinline, no_sanitize("address")))
static void stop_and_run(struct sgc_cycle *c)
{
    struct sgc_registers own;
    uintptr_t sp = sgc_registers_store(&own);

    sgc_assert(sgc_mutator_mine(c->self) && sp != 0);
    sgc_world_publish_sp(c->self, c->from != 0 ? c->from : sp);
    sgc_roots_snapshot(run_rows, c);
    sgc_registers_keep(&own);
}

/* ---- around the pause ---- */

static void clear_before(void)
{
    uint64_t began = sgc_clock_ns();

    sgc_clear_finish();
    sgc_cycle.record.times.clear_ns = sgc_clock_ns() - began;
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
    sgc_cycle_begin(&c->record, sgc_cycles_finished() + 1, reason);
    sgc_cycle_event(&c->record, SGC_ON_CYCLE_START);
    clear_before();
}

/* Toggle references are asked about before each stop: what the program has answered before another
 * one may be true no more. */
bool sgc_cycle_stop(struct sgc_mutator *self, uint32_t markers, const struct sgc_phase_row *rows)
{
    struct sgc_cycle *c = &sgc_cycle;

    sgc_assert(sgc_mutator_mine(self) && sgc_gc_lock_held() && !sgc_world_stopped());
    c->stopped = c->interrupted = c->complete = false;
    c->unknown = 0;
    c->markers = markers;
    c->rows = rows;
    sgc_helpers_start(&c->team, markers);
    sgc_finalization_before(sgc_client_hooks.toggle);
    sgc_cycle_event(&c->record, SGC_ON_STOP_REQUESTED);
    sgc_client_hooks.before(self);      /* listeners may set a hook */
    stop_and_run(c);
    if (!c->stopped) {
        sgc_cycle_event(&c->record, SGC_ON_STOP_FAILED);
        report_unknown_stack();
        return false;
    }
    sgc_cycle_event(&c->record, SGC_ON_RESUMED);
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
    sgc_pacing_cycle_done(&c->record);
    sgc_cycle_finish(&c->record);
    sgc_aw_store(&sgc_client_gc_no, c->record.cycle);
    sgc_cycle_event(&c->record, SGC_ON_CYCLE_END);
}
