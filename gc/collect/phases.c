/* SPDX-License-Identifier: MIT */
/*
 * The phases of a cycle in one pause.  On the collecting thread; from the second on the world is stopped.
 */
#include "gc/collect/phases.h"

#include "alloc/marking.h"
#include "alloc/whole_heap.h"
#include "alloc/page_supply.h"
#include "alloc/pages/dangling.h"
#include "alloc/pages/marks.h"
#include "alloc/pages/pool.h"
#include "alloc/pages/survival.h"
#include "gc/collect/client_hooks.h"
#include "gc/collect/closure.h"
#include "gc/collect/torture.h"
#include "gc/collect/write_watch.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/finalize/disclaim.h"
#include "gc/finalize/finalize.h"
#include "gc/pacing/counts.h"
#include "gc/pacing/pacing.h"
#include "gc/roots/roots.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"
#include "platform/faults.h"

SGC_STATE struct sgc_cycle sgc_cycle;
SGC_STATE sgc_a32_t sgc_stop_each;

/* ---- stopping and resuming ---- */

/* With a stack that is not known nothing can be marked, and whoever has disabled collections since we asked may hide pointers
 * now: the world goes on at once.  A thread that disables them later does so when this stop is over. */
static bool phase_stop(struct sgc_cycle *c)
{
    sgc_assert(sgc_gc_lock_held() && c->markers > 0);
    if (!sgc_world_stop(c->self, c->markers, &c->record))
        return false;
    c->unknown = sgc_roots_unknown();
    c->stopped = c->unknown == 0 && sgc_a32_load(&sgc_client_dont_gc) == 0;
    if (c->stopped)
        return true;
    sgc_world_resume(c->self);
    sgc_cycle_phase(&c->record, SGC_PHASE_RESUME);
    return false;
}

static bool phase_resume(struct sgc_cycle *c)
{
    SGC_EVENT(flipped, &c->record);
    sgc_world_resume(c->self);
    return true;
}

/* ---- before the mark ---- */

/* All caches are given up, so that exactly the allocated objects look allocated; their counts are taken over first.  World
 * stopped. */
static void retire_caches(void)
{
    size_t unused = 0;

    sgc_assert(sgc_stopped_by_self());
    sgc_counts_take_all();
    for (struct sgc_mutator *m = sgc_registry.first; m != NULL; m = m->next)
        unused += sgc_cache_retire(&m->cache);
    sgc_counts_unused(unused);
}

static bool retire(struct sgc_cycle *c)
{
    sgc_assert(sgc_stopped_by_self() && sgc_mutator_mine(c->self));
    SGC_EVENT(stopped, &c->record);
    retire_caches();
    c->record.live_bytes_before = sgc_counts_live() + sgc_counts_allocated_since();
    sgc_torture_check();
    if (c->stops == 0) {
        sgc_dangling_end();
        sgc_survival_begin();
        SGC_UPPER(stopped, ());
    }
    return true;
}

/* Nothing changes from here to the mark, but by the program's hook that pushes roots. */
static bool phase_retire(struct sgc_cycle *c)
{
    bool retired = retire(c);

    SGC_EVENT(retired, &c->record);
    return retired;
}

/* ---- the mark ---- */

/* A listener to `pushed` may walk through the tables of finalization: these are shared out
 * afterwards. */
static bool phase_roots(struct sgc_cycle *c)
{
    struct sgc_marker *first = sgc_team_first(&c->team);

    sgc_team_begin(&c->team, 1);
    sgc_client_hooks.push_roots(first);
    SGC_EVENT(pushed, &c->record);
    sgc_finalization_share(&c->team);
    sgc_team_call(&c->team, c->markers);
    sgc_roots_mark(first);
    sgc_finalization_roots(first);
    c->record.root_bytes = first->root_bytes;
    return true;
}

static bool phase_mark(struct sgc_cycle *c)
{
    SGC_EVENT(roots_done, &c->record);
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
    if (!sgc_upper_marks())
        return;
    sgc_upper()->mark(team);
    sgc_team_rescan(team, NULL);
}

static bool phase_finalize(struct sgc_cycle *c)
{
    if (c->complete) {
        mark_for_upper(&c->team);
        sgc_disclaim_keep(&c->team);
        sgc_finalization_mark(&c->team, sgc_client_hooks.await());
        sgc_disclaim_mark(&c->team);
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

static bool verifies(void)
{
    return sgc_options.verify == SGC_VERIFY_MARKS || sgc_options.torture > 0;
}

static void fill_page_figures(struct sgc_cycle_record *r)
{
    struct sgc_page_figures f;

    sgc_policy_figures(&f);
    r->pages_consumed_max = f.max_consumed;
    for (int i = 0; i < SGC_SOURCES; i++)
        r->pages_taken += f.taken[i];
    r->pages_fresh = sgc_pages_fresh(&f);
    r->pages_remote = f.remote;
    r->pages_foreign = f.foreign;
    r->pages_far = f.far;
    r->pages_live_max = f.max_live;
}

static void fill_record(struct sgc_cycle *c)
{
    struct sgc_cycle_record *r = &c->record;
    const struct sgc_team_totals *m = &c->totals;
    size_t returned = sgc_aw_load(&sgc_pool.returned);

    r->marked_objects = m->objects;
    r->marked_bytes = r->live_bytes_after = m->bytes;
    r->pointer_free_bytes = m->pointer_free;
    sgc_finalization_fill(r);
    if (r->finalizable_bytes > r->marked_bytes)
        r->finalizable_bytes = r->marked_bytes;
    r->rescans = m->rescans;
    r->mark_stack_depth = m->deepest;
    r->markers = m->markers;
    r->steals = m->steals;
    r->stolen = m->stolen;
    r->steals_far = m->steals_far;
    r->heap_bytes = sgc_pool_heap_bytes();
    r->returned_bytes = returned - c->returned;
    c->returned = returned;
    r->free_bytes = r->heap_bytes > m->bytes ? r->heap_bytes - m->bytes : 0;
    fill_page_figures(r);
}

/* Objects that were freed after they were marked; whether they had pointers is not known. */
static void uncount_freed(struct sgc_team_totals *totals, size_t freed)
{
    sgc_assert(freed <= totals->bytes);
    totals->bytes -= freed;
    if (totals->pointer_free > totals->bytes)
        totals->pointer_free = totals->bytes;
}

static bool phase_flip(struct sgc_cycle *c)
{
    sgc_team_totals(&c->team, &c->totals);
    c->record.complete = c->complete;
    SGC_EVENT(marked, &c->record);
    if (c->complete) {
        if (c->concurrent) {
            sgc_survival_check_shapes();
            uncount_freed(&c->totals, sgc_marking_finish());
        }
        if (verifies())
            sgc_closure_check();
        sgc_survival_keep();
        SGC_UPPER(marked, ());
        flip();
        sgc_survival_flipped();
        sgc_torture_check();
    }
    fill_record(c);
    return true;
}

/* ---- the stops of a concurrent cycle ---- */

static bool is_over(void *arg)
{
    (void)arg;
    return sgc_cycle.deadline != UINT64_MAX && sgc_clock_ns() >= sgc_cycle.deadline;
}

/* In each of them.  Roots are scanned on the spot: when the program goes on, nothing of them may be left. */
static bool attempt_roots(struct sgc_cycle *c)
{
    struct sgc_marker *first = sgc_team_first(&c->team);
    size_t before = 0;

    if (c->stops == 0) {
        c->concurrent = true;
        if (verifies())
            sgc_closure_begin();
        sgc_team_begin_concurrent(&c->team);
        sgc_marking_begin();
    } else {
        sgc_team_program_stopped(&c->team);
        sgc_team_renew(&c->team);
        before = first->root_bytes;
        if (sgc_fault(SGC_FAULT_ROOTS_ONCE))
            return true;
    }
    sgc_client_hooks.push_roots(first);
    sgc_roots_mark(first);
    sgc_finalization_roots(first);
    c->record.root_bytes = first->root_bytes - before;
    return true;
}

/* The first stop is for roots only. */
static bool attempt_mark(struct sgc_cycle *c)
{
    size_t pages = 0;
    bool rescanned = c->stops != 0 && sgc_watch_rescan(&c->team, false, is_over, &pages);

    SGC_EVENT(roots_done, &c->record);
    c->record.written_pages = pages;
    c->complete = rescanned && (c->deadline == UINT64_MAX || sgc_team_go_on_flagged(&c->team, is_over, NULL));
    return true;
}

/* From here on as in a cycle that is one stop: nothing gives it up any more. */
static bool commit_mark(struct sgc_cycle *c)
{
    sgc_finalization_share(&c->team);
    sgc_team_finish_begin(&c->team);
    sgc_team_call(&c->team, c->markers);
    c->stop = NULL;
    c->complete = sgc_team_mark(&c->team, NULL);
    sgc_assert(c->complete);
    return true;
}

static bool go_on(struct sgc_cycle *c)
{
    SGC_EVENT(marked, &c->record);
    sgc_team_program_runs(&c->team);
    c->record.another_stop = true;
    return phase_resume(c);
}

/* ---- the tables ---- */

const struct sgc_phase_row sgc_phases_attempt[] = {
    { SGC_PHASE_STOP, phase_stop }, { SGC_PHASE_RETIRE, retire }, { SGC_PHASE_ROOTS, attempt_roots },
    { SGC_PHASE_MARK, attempt_mark }, { .run = NULL },
};

const struct sgc_phase_row sgc_phases_commit[] = {
    { SGC_PHASE_MARK, commit_mark }, { SGC_PHASE_RESCAN, phase_rescan }, { SGC_PHASE_FINALIZE, phase_finalize },
    { SGC_PHASE_FLIP, phase_flip }, { SGC_PHASE_RESUME, phase_resume }, { .run = NULL },
};

const struct sgc_phase_row sgc_phases_go_on[] = { { SGC_PHASE_RESUME, go_on }, { .run = NULL } };

const struct sgc_phase_row sgc_phases_stopped[] = {
#define SGC_PHASE(constant, name) { SGC_PHASE_##constant, phase_##name },
#define SGC_PHASE_WITHIN(constant, name)
#include "gc/events/phases.def"
#undef SGC_PHASE
    { .run = NULL },
};
