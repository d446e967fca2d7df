/* SPDX-License-Identifier: MIT */
/*
 * Fork handlers.  prepare and parent run on the forking thread; child on the only thread there is.
 */
#include "gc/collect/start.h"

#include <pthread.h>
#include <unistd.h>

#include "alloc/new_objects.h"
#include "alloc/small/orphan.h"
#include "alloc/small/sampling.h"
#include "alloc/pages/marks.h"
#include "alloc/pages/pool.h"
#include "alloc/large/span.h"
#include "alloc/page_supply.h"
#include "gc/collect/concurrent.h"
#include "gc/collect/cycle.h"
#include "gc/collect/lead.h"
#include "gc/events/trace.h"
#include "gc/finalize/disclaim.h"
#include "gc/collect/start_state.h"
#include "gc/profile/sites.h"
#include "gc/roots/roots.h"
#include "gc/collect/background.h"
#include "gc/threads/gc_lock.h"
#include "gc/threads/node_pool.h"
#include "gc/threads/upper.h"
#include "gc/threads/world.h"

struct fork_state {
    sgc_a32_t installed;
    bool prepared;              /* this thread is between prepare and parent or child */
    bool had_lock;              /* a handler forks that has interrupted GC_call_with_alloc_lock on
                                   its thread */
    bool blocked;               /* it forks from within a blocked region, */
    uintptr_t blocked_sp;       /* which is entered again with this */
};

SGC_STATE static struct fork_state fork_state;
SGC_STATE int sgc_fork_mode = 1;

/* A thread that is not registered may fork, too: it has no section.  In rank order; caches are
 * opened under the registry's lock, so that as many are unlocked later. */
static void lock_all(struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self) && sgc_gc_lock_held());
    sgc_lock(&sgc_registry.lock, self);
    sgc_lock(&sgc_nodes_lock, self);
    sgc_caches_lock();
    sgc_lock(&sgc_spans.lock, self);
    sgc_lock(&sgc_orphans.lock, self);
    sgc_pool_lock_settled(self);
}

static void unlock_all(struct sgc_section *self)
{
    sgc_assert(sgc_section_mine(self) && sgc_registry_locked());
    sgc_unlock(&sgc_pool.lock, self);
    sgc_unlock(&sgc_orphans.lock, self);
    sgc_unlock(&sgc_spans.lock, self);
    sgc_caches_unlock();
    sgc_unlock(&sgc_nodes_lock, self);
    sgc_unlock(&sgc_registry.lock, self);
}

/* A thread may fork inside GC_do_blocking: it counts as stopped there and may take no lock. */
static bool leave_blocked(struct sgc_mutator *self, uintptr_t *sp)
{
    sgc_assert(self == sgc_mutator_self());
    if (self == NULL || !sgc_world_is_blocked(self))
        return false;
    *sp = self->sp;
    sgc_world_leave_blocked(self);
    return true;
}

static void enter_blocked_again(const struct fork_state *was)
{
    sgc_assert(!was->blocked || was->blocked_sp != 0);
    if (was->blocked)
        sgc_world_enter_blocked(sgc_mutator_self(), was->blocked_sp);
}

void sgc_fork_prepare(void)
{
    struct sgc_mutator *self = sgc_mutator_self();
    uintptr_t sp = 0;
    bool blocked, had_lock;

    sgc_init_hold();
    if (!sgc_init_done())
        return;
    had_lock = sgc_gc_lock_recover(self, sgc_stack_pointer());
    if (had_lock && !sgc_gc_lock_is_fast()) {
        sgc_error("fork from within a collection (by a callback) cannot work: the heap is half "
                  "marked; fork when the callback has returned");
        return;
    }
    blocked = leave_blocked(self, &sp);
    if (had_lock)
        sgc_guard_enter(sgc_section_self());
    else
        sgc_gc_lock_acquire(self);
    sgc_assert(!fork_state.prepared);
    sgc_lead_hold();
    lock_all(sgc_section_self());
    SGC_UPPER(before_fork, ());
    sgc_lock(&sgc_sites_lock, sgc_section_self());
    sgc_assert(!sgc_world_stopped());
    fork_state.prepared = true;
    fork_state.had_lock = had_lock;
    fork_state.blocked = blocked;
    fork_state.blocked_sp = sp;
}

/* `fork_state` belongs to the thread that has the GC lock, so it is copied before the lock is
 * released. */
void sgc_fork_parent(void)
{
    struct fork_state was = fork_state;

    sgc_init_release();
    if (!sgc_init_done() || !was.prepared || !sgc_gc_lock_held())
        return;
    fork_state.prepared = false;
    sgc_unlock(&sgc_sites_lock, sgc_section_self());
    SGC_UPPER(after_fork_parent, ());
    unlock_all(sgc_section_self());
    sgc_lead_release();
    if (was.had_lock)
        sgc_guard_leave(sgc_section_self());
    else
        sgc_gc_lock_release();
    enter_blocked_again(&was);
}

/* Locks other than our own thread's section are simply free again here, the GC lock, too, if it is
 * held by what a handler has interrupted: nobody else is there.  The others' caches are closed, as
 * if their threads had ended. */
static void forget_others(void)
{
    struct sgc_section *self = sgc_section_self();
    sigset_t signals;

    sgc_assert(!sgc_world_stopped());
    if (self != NULL) {
        signals = self->signals;
        self->held = self->guards = 0;
        self->sp = 0;
        sgc_aw_store(&self->brief, 0);
    }
    sgc_world_after_fork();
    sgc_pool_after_fork();
    sgc_lock_reset(&sgc_spans.lock);
    sgc_lock_reset(&sgc_orphans.lock);
    sgc_lock_reset(&sgc_nodes_lock);
    sgc_lock_reset(&sgc_sites_lock);
    if (sgc_self != NULL)
        sgc_sampling_after_fork(sgc_self, (uint64_t)getpid());
    sgc_concurrent_after_fork();
    sgc_clear_again();
    sgc_team_after_fork(&sgc_cycle.team);
    sgc_gc_lock_after_fork();
    sgc_service_after_fork();
    sgc_disclaim_after_fork(sgc_mutator_self());
    sgc_trace_after_fork();
    SGC_UPPER(after_fork_child, (sgc_mutator_self()));
    sgc_registry_after_fork(sgc_mutator_self());
    sgc_stopped_after_fork();
    sgc_pool_take_back_lost();
    if (self != NULL)
        sgc_signals_restore(&signals);
}

void sgc_fork_child(void)
{
    sgc_init_after_fork();
    if (!sgc_init_done() || !fork_state.prepared)
        return;
    fork_state.prepared = false;
    forget_others();
    sgc_assert(sgc_self == NULL || sgc_mutator_mine(sgc_mutator_self()));
    enter_blocked_again(&fork_state);
}

static void prepare(void)
{
    if (sgc_fork_mode == 1)
        sgc_fork_prepare();
}

static void parent(void)
{
    if (sgc_fork_mode == 1)
        sgc_fork_parent();
}

static void child(void)
{
    if (sgc_fork_mode == 1)
        sgc_fork_child();
}

/* When the library is loaded, since another thread may be forking while the collector is started,
 * or before that where a constructor of the program comes first. */
__attribute__((constructor))
void sgc_fork_init(void)
{
    if (sgc_a32_swap(&fork_state.installed, 1) == 0)
        pthread_atfork(prepare, parent, child);
}
