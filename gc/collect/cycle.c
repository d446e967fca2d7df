/* SPDX-License-Identifier: MIT */
/*
 * Collection cycles: which sort, and those that stop the program once.  Everything runs on the collecting thread.
 */
#include "gc/collect/cycle.h"

#include "gc/collect/background.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/pause.h"
#include "gc/collect/start_state.h"
#include "gc/collect/torture.h"
#include "gc/config/options.h"
#include "gc/config/public_vars.h"
#include "gc/pacing/pacing.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

/* ---- in one pause ---- */

/* Under torture small heaps are marked by all, too. */
static uint32_t wanted_markers(void)
{
    int max = sgc_options.markers;

    return (uint32_t)(sgc_options.torture > 0 ? max : sgc_pacing_markers(max));
}

/* A thread that has disabled collections meanwhile will enable them: nothing is wrong with the next
 * cycle. */
static bool given_up(void)
{
    if (!sgc_collect_disabled())
        sgc_pacing_given_up();
    return false;
}

static void pause_stopped(struct sgc_cycle *c)
{
    sgc_cycle_run(c, sgc_phases_stopped);
}

static bool run(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    sgc_cycle_open(self, reason, stop, from);
    if (!sgc_cycle_stop(self, wanted_markers(), pause_stopped))
        return given_up();
    sgc_team_trim(&sgc_cycle.team);
    if (!sgc_cycle.complete) {
        SGC_UPPER(over, (false));
        return given_up();
    }
    sgc_cycle_close();
    return true;
}

/* A thread that runs out of memory, or of time, takes the marks that there are already; one that
 * wants to know which objects are garbage now begins anew. */
static bool may_finish(struct sgc_mutator *self, enum sgc_reason reason)
{
    if (reason == SGC_REASON_TORTURE)
        return sgc_torture_chance(self, 2);
    return reason == SGC_REASON_ALLOCATION || reason == SGC_REASON_LIMIT;
}

/* With the GC lock. */
static bool collect(struct sgc_mutator *self, enum sgc_reason reason, int (*stop)(void), uintptr_t from)
{
    if (stop != NULL && stop() != 0)
        return given_up();
    if (sgc_concurrent_marks()) {
        if (may_finish(self, reason))
            return sgc_concurrent_finish(self, reason, from) || given_up();
        if (!sgc_concurrent_cancel(self))
            return given_up();
    }
    return run(self, reason, stop, from);
}

/* ---- any ---- */

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
    done = collect(self, reason, stop, from);
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

/* ---- markers ---- */

void sgc_cycle_start_markers(struct sgc_mutator *self)
{
    sgc_assert(self == sgc_mutator_self());
    if (sgc_gc_lock_held())
        return;
    sgc_gc_lock_acquire(self);
    sgc_concurrent_hold();
    sgc_cycle_start_helpers((uint32_t)sgc_options.markers);
    sgc_concurrent_release();
    sgc_gc_lock_release();
}

void sgc_cycle_start_threads_ahead(struct sgc_mutator *self)
{
    static SGC_STATE sgc_a32_t begun;

    if (sgc_a32_load(&begun) != 0 || sgc_limit_address_space() == SIZE_MAX || sgc_gc_lock_held())
        return;
    sgc_assert(self == sgc_mutator_self());
    sgc_a32_store(&begun, 1);
    sgc_cycle_start_markers(self);
    sgc_gc_lock_acquire(self);
    sgc_service_start();
    sgc_gc_lock_release();
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
